"""What the text of an expression tells by itself: its constant, whether it may go or be twice."""

from typing import Any

from ...facts.values.joins import sequence
from ...facts.values.lattice import NONE, UNKNOWN, Static, Value
from ...model.effects import Key
from ...model.expressions import (
    Attribute,
    Call,
    Constant,
    Display,
    Name,
    NamedExpression,
    OpaqueExpression,
    Subscript,
)
from ...model.node import Node
from ...model.operators import Unary


class Undecided:
    """What only the run tells."""

    def __repr__(self) -> str:
        return "UNDECIDED"


UNDECIDED = Undecided()


def literal(node: Node) -> Any:
    """The Python value of a literal, or UNDECIDED."""
    if isinstance(node, Constant):
        return node.constant
    if isinstance(node, Unary) and node.operator == "-":
        inner = literal(node.operand)
        number = isinstance(inner, (int, float)) and not isinstance(inner, bool)
        return -inner if number else UNDECIDED
    if isinstance(node, Display) and node.kind != "set":
        items = [literal(e) for e in node.elements]
        if any(item is UNDECIDED for item in items):
            return UNDECIDED
        return tuple(items) if node.kind == "tuple" else items
    return UNDECIDED


def known(node: Node) -> Value:
    """What is known of an expression; of a literal, what it says itself."""
    value = getattr(node, "value", None)
    if isinstance(value, Value):
        return value
    constant = literal(node)
    if isinstance(node, Display) and node.kind != "set":
        return sequence([known(e) for e in node.elements], node.kind == "tuple")
    if constant is None:
        return NONE
    plain = isinstance(constant, (bool, int, float, complex, str))
    return Static(constant, type(constant).__name__) if plain else UNKNOWN


def simple(node: Node) -> bool:
    """Whether an expression may be written twice: a name, attribute, literal or constant index."""
    if isinstance(node, (Name, Constant)):
        return True
    if isinstance(node, Unary):
        return literal(node) is not UNDECIDED
    if isinstance(node, Attribute):
        return simple(node.object)
    if isinstance(node, Subscript):
        return simple(node.object) and isinstance(literal(node.index), (int, str))
    if isinstance(node, Display):
        return all(simple(element) for element in node.elements)
    return False


_ACTIVE = (Call, OpaqueExpression, NamedExpression, Key)


def harmless(node: Node) -> bool:
    """Whether an expression may be left unevaluated: it calls and binds nothing."""
    return not any(isinstance(n, _ACTIVE) for n in node.walk())
