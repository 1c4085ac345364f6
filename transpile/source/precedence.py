"""How tightly expressions bind, and how tightly each place asks for."""

from ..model.expressions import (
    Attribute,
    Call,
    Comprehension,
    Constant,
    Dictionary,
    Display,
    ForClause,
    FormattedString,
    Lambda,
    NamedExpression,
    OpaqueExpression,
    Slice,
    Starred,
    Subscript,
)
from ..model.node import Expression, Node
from ..model.operators import Binary, Boolean, Compare, Conditional, Unary
from ..model.program import Class, Function, Parameter
from ..model.statements import Assert, Assign, Delete, For, Handler, Raise, Return, With

ANY, TUPLE, CONDITIONAL, OR, AND, NOT, COMPARE = range(7)
FACTOR, POWER, AWAIT, ATOM = 13, 14, 15, 16
BINARY = {
    "|": 7,
    "^": 8,
    "&": 9,
    "<<": 10,
    ">>": 10,
    "+": 11,
    "-": 11,
    "*": 12,
    "/": 12,
    "//": 12,
    "%": 12,
    "@": 12,
    "**": POWER,
}
_BOOLEAN = {"or": OR, "and": AND}


def precedence(node: Node) -> int:
    """How tightly an expression binds, without parentheses around it."""
    kind = node.__class__
    if kind is Binary:
        return BINARY[node.operator]  # type: ignore[attr-defined]
    if kind is Boolean:
        return _BOOLEAN[node.operator]  # type: ignore[attr-defined]
    if kind is Unary:
        return NOT if node.operator == "not" else FACTOR  # type: ignore[attr-defined]
    if kind is Compare:
        return COMPARE
    if kind is Conditional or kind is Lambda:
        return CONDITIONAL
    if kind is NamedExpression:
        return ANY
    if kind is OpaqueExpression:
        return AWAIT if node.word == "await" else ANY  # type: ignore[attr-defined]
    if kind is Display and node.kind == "tuple":  # type: ignore[attr-defined]
        return TUPLE
    if kind is Comprehension and node.kind == "generator":  # type: ignore[attr-defined]
        return ANY
    if isinstance(node, Constant):
        return _of_constant(node)
    return ATOM


def _of_constant(node: Constant) -> int:
    value = node.constant
    if isinstance(value, (int, float, complex)) and not isinstance(value, bool):
        negative = isinstance(value, complex) or value < 0
        return FACTOR if negative and node.text is None else ATOM
    parts = (
        node.text is not None and node.text.count(node.text[-1]) > 2 and not isinstance(value, bool)
    )
    return (
        FACTOR if parts and isinstance(value, (str, bytes)) and "\n" in (node.text or "") else ATOM
    )


def asked(parent: Node, child: Node) -> int:
    """How tightly what stands at the place of `child` must bind."""
    kind = parent.__class__
    found = _PLAIN.get(kind)
    if found is not None:
        return found
    if isinstance(parent, Subscript):
        return ATOM if parent.object is child else TUPLE
    if isinstance(parent, Call):
        return ATOM if parent.function is child else CONDITIONAL
    if isinstance(parent, Binary):
        own = BINARY[parent.operator]
        if parent.operator == "**":
            return AWAIT if parent.left is child else FACTOR
        return own if parent.left is child else own + 1
    if isinstance(parent, Boolean):
        own = _BOOLEAN[parent.operator]
        return own if parent.left is child else own + 1
    if isinstance(parent, Unary):
        return NOT if parent.operator == "not" else FACTOR
    if isinstance(parent, Conditional):
        return CONDITIONAL if parent.orelse is child else OR
    if isinstance(parent, ForClause):
        return TUPLE if parent.target is child else OR
    if isinstance(parent, Dictionary):
        unpacked = any(value is child and key is None for key, value in parent.pairs)
        return BINARY["|"] if unpacked else CONDITIONAL
    if isinstance(parent, OpaqueExpression):
        return ATOM if parent.word == "await" else TUPLE
    if isinstance(parent, Assign):
        return CONDITIONAL if parent.annotation is child else TUPLE
    return ANY


_PLAIN: dict[type[Node], int] = {
    Attribute: ATOM,
    Slice: CONDITIONAL,
    Starred: BINARY["|"],
    Compare: BINARY["|"],
    Display: CONDITIONAL,
    Comprehension: CONDITIONAL,
    Lambda: CONDITIONAL,
    NamedExpression: CONDITIONAL,
    FormattedString: OR,
    For: TUPLE,
    Return: TUPLE,
    With: CONDITIONAL,
    Raise: CONDITIONAL,
    Assert: CONDITIONAL,
    Delete: CONDITIONAL,
    Parameter: CONDITIONAL,
    Function: CONDITIONAL,
    Class: CONDITIONAL,
    Handler: CONDITIONAL,
}


def needs_parentheses(parent: Node, child: Expression) -> bool:
    """Whether an expression must stand in parentheses at its place."""
    if isinstance(child, Comprehension) and child.kind == "generator":
        return not (
            isinstance(parent, Call) and len(parent.arguments) == 1 and parent.function is not child
        )
    if isinstance(child, Display) and child.kind == "tuple" and len(child.elements) < 2:
        return True
    if (
        isinstance(parent, Attribute)
        and isinstance(child, Constant)
        and isinstance(child.constant, int)
    ):
        return child.constant is not True and child.constant is not False
    return precedence(child) < asked(parent, child)
