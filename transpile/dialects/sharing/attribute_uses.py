"""What is done with attributes where they stand: stored, read, called, gone over, handed on."""

from ...facts.values.attribute_names import PARAMETERS, WALKS
from ...facts.values.lattice import Module, is_anything
from ...model.effects import Read, Tie
from ...model.expressions import Attribute, Call, Name
from ...model.names import is_called, is_own, is_target
from ...model.node import Expression, Node
from ...model.program import Class
from ...model.project import Project
from ...model.statements import Assign

_GOING_OVER = {*WALKS, *PARAMETERS, "apply", "state_dict"}


def stores(project: Project, family: set[Class]) -> dict[str, list[Assign]]:
    """The statements of classes that give an attribute of self, by its name."""
    found: dict[str, list[Assign]] = {}
    for method in (m for cls in family for m in project.methods(cls).values()):
        for node in (n for n in method.body.walk() if isinstance(n, Assign)):
            for target in (t for t in node.targets if is_own(t, method.receiver)):
                found.setdefault(target.name, []).append(node)
    return found


def is_asked(node: Node) -> bool:
    """Whether an attribute of something is read, and not called: `emb.embedding_dim`."""
    around = node.parent
    if not isinstance(around, Attribute) or around.object is not node or isinstance(around, Read):
        return False
    return not is_called(around) and not is_target(around)


def is_walk(call: Call) -> bool:
    """Whether a call goes over what a module has, or gives all of it."""
    return isinstance(call.function, Attribute) and call.function.name in _GOING_OVER


def is_handed_on(node: Expression) -> bool:
    """Whether a module is a value, or asked for what it holds: not called, nor a method of it."""
    around = node.parent
    if isinstance(around, Attribute):
        return around.name in _GOING_OVER
    return not is_called(node)


def may_be_of(node: Attribute, classes: set[Class]) -> bool:
    """Whether something else than its own self may read what an object of these classes has."""
    value = node.object.value
    if value is None or is_anything(value):
        return True
    if not isinstance(value, Module) or isinstance(node.parent, Tie):
        return False
    if value.is_self and isinstance(node.object, Name):
        return False
    return value.open or not classes.isdisjoint(value.classes)


def is_in(node: Attribute, classes: set[Class]) -> bool:
    """Whether it is an attribute of an object of these classes."""
    value = node.object.value
    return isinstance(value, Module) and not classes.isdisjoint(value.classes)


def is_of(node: Expression, holder: str, classes: set[Class]) -> bool:
    """Whether it is what an object of these classes has under a name."""
    return isinstance(node, Attribute) and node.name == holder and is_in(node, classes)
