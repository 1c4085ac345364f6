"""What is done with an attribute where it stands: read, called, stored, gone over, or handed on."""

from ...facts.values.attribute_names import PARAMETERS, WALKS
from ...facts.values.lattice import Module, is_anything
from ...model.effects import Read, Tie
from ...model.expressions import Attribute, Call, Name
from ...model.node import Expression, Node
from ...model.program import Class
from ...model.statements import Assign

_GOING_OVER = {*WALKS, *PARAMETERS, "apply", "state_dict"}


def is_asked(node: Node) -> bool:
    """Whether an attribute of something is read, and not called: `emb.embedding_dim`."""
    around = node.parent
    if not isinstance(around, Attribute) or around.object is not node or isinstance(around, Read):
        return False
    called = isinstance(around.parent, Call) and around.parent.function is around
    return not called and not is_stored(around)


def is_stored(node: Expression) -> bool:
    return isinstance(node.parent, Assign) and node in node.parent.targets


def is_walk(call: Call) -> bool:
    """Whether a call goes over what a module has, or gives all of it."""
    return isinstance(call.function, Attribute) and call.function.name in _GOING_OVER


def is_handed_on(node: Expression) -> bool:
    """Whether a module is a value, or asked for what it holds: not called, nor a method of it."""
    around = node.parent
    if isinstance(around, Attribute):
        return around.name in _GOING_OVER
    return not (isinstance(around, Call) and around.function is node)


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
