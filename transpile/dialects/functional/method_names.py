"""Methods of the user's that are called as what makes a model's arrays here have another name.

def init(self, x):            →    def init_(self, x):
    return x * 2                       return x * 2
"""

from __future__ import annotations

from ...facts.values import lattice
from ...model.effects import BoundMethod
from ...model.expressions import Attribute
from ...model.names import everywhere
from ...model.program import Function
from ...model.project import Project
from ..fresh import attributes, fresh

MAKING = ("init", "init_state")


def rename_methods(project: Project) -> None:
    """Rename them, with what refers to them."""
    classes = [c for c in project.classes() if project.is_module(c)]
    own = [(c, f) for c in classes for f in project.methods(c).values() if f.name in MAKING]
    if not own:
        return
    known = {name for file in project.ordered for name in attributes(file)}
    names = {name: fresh(f"{name}_", known) for name in MAKING}
    renamed = {function for _, function in own}
    nodes = (n for file in project.ordered for n in everywhere(file, Attribute, BoundMethod))
    for node in list(nodes):
        if node.name in names and _refers(node, renamed):
            node.rename(names[node.name])
    for cls, function in own:
        project.rename_method(cls, function, names[function.name])


def _refers(node: Attribute, methods: set[Function]) -> bool:
    """Whether an attribute is one of these methods, or one of a module's."""
    if isinstance(node.value, lattice.Function):
        return node.value.function in methods
    return isinstance(node.object.value, lattice.Module)
