"""What the functional output and Equinox write class by class: the layers of the support file, and
its names in the user's files."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ...facts.modules import Modules
from ...facts.program import ProgramFacts
from ...model.effects import Support
from ...model.expressions import Attribute, Name
from ...model.node import Expression
from ...model.program import Class, File, Function
from ...source.splice import Writer
from ...source.splice import write as text_of
from .. import float64_constants
from ..faults import Faults
from ..imports import Words, fit
from ..output import Output
from ..reports import Reports
from .definitions import Written
from .receivers import asked_of_others

Named = Callable[[Support], Expression | None]


def written(
    plan: Any,
    facts: ProgramFacts,
    reports: Reports,
    writer: Any,
    outside: Callable[[File, Any, Reports], None],
    words: Words,
    support: Callable[[set[str], list[str], Counter[str]], str],
    named: Named = lambda node: None,
) -> Output:
    """The files of a project class by class, and what `support` gives of the names that are used,
    the texts that use them, and what these ask of others."""
    output, wanted = Output(diagnostics=reports.diagnostics), set[str]()
    files = plan.project.ordered
    for file in files:
        for cls in [c for c in file.classes() if plan.modules.is_module(c)]:
            writer.write(cls)
        for function in _beside_modules(file, plan.modules):
            writer.function(function)
    float64_constants.mark(files, facts)
    for file in files:
        outside(file, plan, reports)
        wanted |= spell(file, named=named)
        if reports.faults.settle([file], lambda name: Attribute(Name("nn"), name)):
            wanted.add("unconverted")
        fit(plan.project, file, words)
        output.files[file] = text_of(file)
    if wanted:
        texts = [output.files[file] for file in files]
        output.support = support(wanted, texts, asked_of_others(files))
    output.diagnostics += reports.faults.diagnostics
    return output


def _beside_modules(file: File, modules: Modules) -> Iterator[Function]:
    """The functions of a file that are no methods of modules, outer ones."""
    for function in file.functions():
        if isinstance(function.scope, (File, Class)):
            owner = function.owner
            if owner is None or not modules.is_module(owner):
                yield function


def spell(file: File | Class, within: bool = False, named: Named = lambda node: None) -> set[str]:
    """Write the names of the support file out; which they are. `within` it they are plain; `named`:
    what is the library's own."""
    found = set()
    for node in list(file.walk()):
        if isinstance(node, Support) and (own := named(node)) is not None:
            node.replace(own)
        elif isinstance(node, Support):
            found.add(node.name)
            node.replace(Name(node.name) if within else Attribute(Name("nn"), node.name))
        elif isinstance(node, Attribute) and node.start < 0 and isinstance(node.object, Name):
            if node.object.id == "nn":
                found.add(node.name)
    return found


def definition_text(node: Class | Function) -> str:
    """The text of a definition, where what rules refuse raises."""
    return Writer().text(node).replace("raise Unsupported(", "raise NotImplementedError(")


def layers(
    modules: Modules,
    write: Callable[[Class], None],
    faults: Faults,
    words: Mapping[str, str],
    named: Named = lambda node: None,
) -> Written:
    """The layers and functions of the library as a dialect has them: `write` edits a class."""

    def text(node: Class | Function) -> str:
        if isinstance(node, Class):
            write(node)
            spell(node, within=True, named=named)
            faults.settle([node], Name)
        return definition_text(node)

    return Written(modules.library.definition, text, words, "zz/")
