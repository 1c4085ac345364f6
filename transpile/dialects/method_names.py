"""Methods and fields that are called as what a dialect's modules have have another name.

def init(self, x):            →    def init_(self, x):
    return x * 2                       return x * 2
self.init = init              →    self.init_ = init

A submodule has to keep its own, which the names of its params begin with.
"""

from collections.abc import Collection, Sequence, Set

from ..facts.values import lattice
from ..model.effects import BUFFER, MIXED, PARAM, BoundMethod, Declare, Read
from ..model.expressions import Attribute, Call, Constant
from ..model.names import dotted, everywhere, is_target
from ..model.program import Function
from ..model.project import Project
from .fresh_names import attributes, fresh
from .reports import Reports


def rename_methods(
    project: Project, reports: Reports, words: Sequence[str], methods: Collection[str] = ()
) -> None:
    """Rename those called by one of these words, with what refers to them. `methods`: other methods
    of all modules."""
    _refuse_submodules(project, reports, {*words, *methods})
    classes = [c for c in project.classes() if project.is_module(c)]
    own = [(c, f) for c in classes for f in project.methods(c).values() if f.name in words]
    nodes = [n for file in project.ordered for n in everywhere(file, Attribute, BoundMethod)]
    if not own and not any(_is_field(n, words) for n in nodes):
        return
    known = {name for file in project.ordered for name in attributes(file)}
    names = {name: fresh(f"{name}_", known) for name in words}
    renamed = {function for _, function in own}
    for node in nodes:
        if node.name in names and _refers(node, renamed):
            _rename(node, names[node.name])
    for call in [c for file in project.ordered for c in everywhere(file, Call)]:
        _rename_asked(call, names)
    for cls, function in own:
        project.rename_method(cls, function, names[function.name])


def _refuse_submodules(project: Project, reports: Reports, taken: Set[str]) -> None:
    for declared in [d for file in project.ordered for d in everywhere(file, Declare)]:
        hidden = declared.kind == "submodule" and declared.name in taken
        if hidden and declared.expression is not None:
            why = f"a submodule is called {declared.name}, as a method of all modules is here"
            reports.unconverted("unsupported", declared.expression, f"{why}: give it another name")


def _is_field(node: Attribute, words: Sequence[str]) -> bool:
    own = node.name in words and is_target(node) and not _is_entry(node)
    return own and isinstance(node.object.value, lattice.Module)


def _is_entry(node: Attribute) -> bool:
    """Whether this is an array that stands in params or state under its name."""
    around = node.parent
    if isinstance(around, Declare) and is_target(node):
        return around.kind in (PARAM, BUFFER, MIXED)
    return isinstance(node, Read) and node.kind != "constant"


def _refers(node: Attribute, methods: set[Function]) -> bool:
    """Whether an attribute is one of these methods, or of a module's."""
    if isinstance(node.value, lattice.Function) and node.value.function in methods:
        return True
    return isinstance(node.object.value, lattice.Module) and not _is_entry(node)


def _rename(node: Attribute, name: str) -> None:
    node.rename(name)
    if isinstance(node.parent, Declare) and is_target(node):
        node.parent.name = name


def _rename_asked(call: Call, names: dict[str, str]) -> None:
    """`getattr(self.layer, "init")`."""
    if dotted(call.function) not in ("getattr", "hasattr", "setattr") or len(call.arguments) < 2:
        return
    subject, name = call.arguments[:2]
    if isinstance(name, Constant) and isinstance(subject.value, lattice.Module):
        if name.constant in names:
            name.replace(Constant(names[name.constant]))
