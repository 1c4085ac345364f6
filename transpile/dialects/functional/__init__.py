"""JAX with self as pure functions of explicit params."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from ...model.effects import Apply, Key, New, Support, Unconverted
from ...model.expressions import Attribute, Call, Lambda, Name
from ...model.node import Node
from ...model.program import Class, File, Function
from ...model.project import Project
from ...model.rule_files import directory, imports_of
from ...model.statements import Block
from ...source.formatting import format_all
from ...source.lower_ast import expression
from ...source.splice import Writer
from ...source.splice import write as text_of
from .. import second_names, support
from ..definitions import Prelude, Rules, Written
from ..faults import Faults, raising
from ..imports import Words, fit
from ..output import Output
from .classes import ClassWriter
from .plan import Facts, Plan
from .report import Reports
from .shared import report_shared
from .unrolled import unroll

WORDS = Words()
HEADER = (
    "The part of torch.nn that this code uses, as pure functions of explicit params. "
    "Made by torch-to-jax."
)


def write(project: Project, facts: Facts, existing: str | None = None) -> Output:
    """The files of a project as functions of params; the model is edited. `existing`: the text of
    the support file that stands there."""
    unroll(project)
    second_names.spell_out(project, facts.modules)
    there = Prelude(existing or "", "~")
    plan, reports = Plan(project, facts, there.names()), Reports(Faults("the functional dialect"))
    report_shared(plan, reports)
    output, wanted = Output(diagnostics=reports.diagnostics), set[str]()
    writer = ClassWriter(plan, reports)
    files = project.ordered
    for file in files:
        for cls in [c for c in file.classes() if plan.modules.is_module(c)]:
            writer.write(cls)
        for function in _others(file, plan):
            writer.function(function)
    for file in files:
        _outside(file, reports)
        wanted |= _spelled(file)
        if reports.faults.settle([file], lambda name: Attribute(Name("nn"), name)):
            wanted.add("unconverted")
        fit(project, file, WORDS)
        output.files[file] = text_of(file)
    if wanted:
        output.support = _support(plan, reports, facts, wanted, there)
    output.diagnostics += reports.faults.diagnostics
    return output


def _others(file: File, plan: Plan) -> Iterator[Function]:
    """The functions of a file that are no methods of modules, outer ones."""
    for function in file.functions():
        if isinstance(function.scope, (File, Class)):
            owner = function.owner
            if owner is None or not plan.modules.is_module(owner):
                yield function


def _outside(file: File, reports: Reports) -> None:
    """What runs when a file is imported: draws have keys of their own."""
    for call in [n for n in file.walk() if isinstance(n, (New, Apply))]:
        if not _is_inside(call):
            call.become(Call(call.function, call.arguments, call.keywords))
    keys = [n for n in file.walk() if isinstance(n, Key) and not _is_inside(n)]
    for number, key in enumerate(keys):
        if any(isinstance(n, Lambda) for n in key.ancestors()):
            reports.report("draw-in-value", key, "a function that draws is handed on without a key")
            key.replace(Unconverted("draw-in-value", "a draw that has no key"))
        else:
            key.replace(expression(f"jax.random.key({number})"))
    for node in [n for n in file.walk() if isinstance(n, Unconverted)]:
        if not _is_inside(node):
            node.replace(raising(node, lambda name: Attribute(Name("nn"), name)))


def _is_inside(node: Node) -> bool:
    """Whether a node runs when a function does: defaults of parameters do not."""
    return any(isinstance(n, Block) and isinstance(n.parent, Function) for n in node.ancestors())


def _spelled(file: File | Class, within: bool = False) -> set[str]:
    """Write the names of the support file out; which they are. `within` it they are plain."""
    found = set()
    for node in list(file.walk()):
        if isinstance(node, Support):
            found.add(node.name)
            node.replace(Name(node.name) if within else Attribute(Name("nn"), node.name))
        elif isinstance(node, Attribute) and node.start < 0 and isinstance(node.object, Name):
            if node.object.id == "nn":
                found.add(node.name)
    return found


def _support(
    plan: Plan, reports: Reports, facts: Facts, wanted: set[str], existing: Prelude
) -> str:
    library = plan.modules.library.project
    layers = {c.name: c for c in library.classes()}
    functions = {f.name: f for f in library.functions() if isinstance(f.scope, File)}
    writer = ClassWriter(plan, reports)

    def text(name: str) -> str | None:
        node = layers.get(name) or functions.get(name)
        if isinstance(node, Class):
            writer.write(node)
            _spelled(node, within=True)
            reports.faults.settle([node], Name)
        if node is None:
            return None
        return Writer().text(node).replace("raise Unsupported(", "raise NotImplementedError(")

    def place(name: str) -> tuple[str, int]:
        node = layers.get(name) or functions[name]
        return f"zz/{node.file.path if node.file else ''}", node.start

    def imports(name: str) -> dict[str, str]:
        node = layers.get(name) or functions[name]
        own = imports_of(ast.parse(node.file.text)) if node.file else {}
        return {**WORDS.statements, **own}

    sources = [_prelude(), Written(text, place, imports), Rules(facts.rulebook), existing]
    return support.write({*wanted, *existing.names()}, sources, HEADER, format_all)


def _prelude() -> Prelude:
    """Modules and containers, which the rules of the functional output have."""
    files = [directory() / name for name in ("module.py", "stacking_layers.py")]
    files.append(Path(__file__).with_name("prelude.py"))
    lines = [line for file in files for line in file.read_text("utf-8").splitlines()]
    return Prelude("\n".join(line for line in lines if not line.startswith("@layer(")))
