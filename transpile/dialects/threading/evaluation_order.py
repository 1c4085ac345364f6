"""The order in which the parts of an expression are evaluated, and what may not be put off."""

from collections.abc import Callable, Iterator

from ...model.effects import Apply, New, Support
from ...model.expressions import (
    Attribute,
    Call,
    Comprehension,
    Lambda,
    Name,
    NamedExpression,
    OpaqueExpression,
)
from ...model.names import dotted
from ...model.node import Expression, Node
from ...model.operators import Conditional
from ...model.program import Class, Function

# Methods of Python's objects that change them, or what comes next: they are not put off.
CHANGING = frozenset(
    "append extend insert remove pop popitem clear update setdefault add discard sort reverse "
    "next send read readline write close seek __next__ __setitem__".split()
)
PURE = ("jnp.", "lax.", "jax.", "math.", "np.", "numpy.", "functools.", "itertools.")
PURE_NAMES = frozenset(
    "len range zip enumerate reversed list tuple dict set int float bool str min max sum abs any "
    "all isinstance hasattr getattr sorted map type round slice super".split()
)


def parts(node: Node) -> list[Expression]:
    """The expressions right below one, in the order of evaluation."""
    if isinstance(node, Conditional):
        return [node.test, node.body, node.orelse]
    return [child for child in node.children() if isinstance(child, Expression)]


def holds(node: Node | None, wanted: Callable[[Node], bool]) -> bool:
    """Whether something at or below a node is wanted; what functions inside do is theirs."""
    return node is not None and any(wanted(inner) for inner in running(node))


def running(node: Node) -> Iterator[Node]:
    """The nodes at or below one that run when it is evaluated, functions inside left out."""
    return node.walk((Function, Class, Lambda))


def is_fixed(node: Expression) -> bool:
    """Whether a value is the same a moment later, whatever runs in between that is no effect of a
    dialect's: nothing in it changes an object, or binds a name."""
    return not holds(node, _moves)


def _moves(node: Node) -> bool:
    if isinstance(node, (NamedExpression, OpaqueExpression)):
        return True
    if not isinstance(node, Call) or isinstance(node, (Apply, New)):
        return False
    function = node.function
    if isinstance(function, Support):
        return False
    if isinstance(function, Name):
        return function.id not in PURE_NAMES
    if isinstance(function, Attribute):
        word = dotted(function) or ""
        return not word.startswith(PURE) and function.name in CHANGING
    return not isinstance(function, (Call, Lambda, Comprehension))
