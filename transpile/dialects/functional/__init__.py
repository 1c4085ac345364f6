"""JAX with self as pure functions of explicit params."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from ...model.effects import Support
from ...model.expressions import Attribute, Name
from ...model.program import Class, File, Function
from ...model.project import Project
from ...model.rule_files import imports_of
from ...source.formatting import format_all
from ...source.splice import Writer
from ...source.splice import write as text_of
from .. import second_names, support, wide
from ..definitions import Prelude, Rules, Written
from ..faults import Faults
from ..imports import Words, fit
from ..output import Output
from ..repeated import repeated
from ..reports import Reports
from ..shared import report_repeated, report_shared
from ..threading.properties import as_methods
from ..threading.reserved import refuse_taken
from . import outside
from .classes import ClassWriter
from .conventions import Conventions
from .method_names import rename_methods
from .plan import WORDS as TAKEN
from .plan import Facts, Plan
from .unrolled import unroll
from .unwritten import report_unwritten

WORDS = Words()
HEADER = (
    "The part of torch.nn that this code uses, as pure functions of explicit params. "
    "Made by torch-to-jax."
)


def write(project: Project, facts: Facts, existing: str | None = None) -> Output:
    """The files of a project as functions of params; the model is edited. `existing`: the text of
    the support file that stands there."""
    reports = Reports(Faults("the functional dialect"))
    rename_methods(project, reports)
    unroll(project)
    second_names.spell_out(project, facts.modules)
    there = Prelude(existing or "", "~")
    solve = lambda: Conventions(project, facts, there.names())
    threaded = lambda t: t.takes or t.draws or t.params or t.mode
    plan = Plan(project, facts, as_methods(project, solve, threaded, reports))
    plan.repeated.update(name for name, _ in repeated(plan))
    refuse_taken(plan.conventions, TAKEN, reports)
    report_shared(plan, reports)
    report_repeated(plan, reports, modules=False)
    report_unwritten(project, facts.modules, reports)
    output, wanted = Output(diagnostics=reports.diagnostics), set[str]()
    writer = ClassWriter(plan, reports)
    files = project.ordered
    for file in files:
        for cls in [c for c in file.classes() if plan.modules.is_module(c)]:
            writer.write(cls)
        for function in _others(file, plan):
            writer.function(function)
    wide.mark(files, facts)
    for file in files:
        outside.write(file, plan, reports)
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
    """What the output uses beside layers and rules: Module and its containers, layers around
    others, equal layers in one scan, keys, precision."""
    here = Path(__file__).parent
    names = ("module", "stacking", "reparametrized", "precision")
    files = [*(here / f"{name}_prelude.py" for name in names), here / "prelude.py", wide.PRELUDE]
    return Prelude("\n".join(file.read_text("utf-8") for file in files))
