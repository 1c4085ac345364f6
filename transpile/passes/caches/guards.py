"""What a test says of attributes that are as the constructor has left them."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ...model.constants import is_none
from ...model.expressions import (
    Attribute,
    Call,
    Constant,
    Dictionary,
    Display,
    FormattedString,
    Name,
)
from ...model.names import bound_once, dotted, everywhere
from ...model.node import Expression, Node
from ...model.operators import Boolean, Compare, Unary
from ...model.program import Function
from ...model.statements import Assign

UNKNOWN = object()
ABSENT = object()  # no attribute of this name


def literal(value: Expression | None) -> Any:
    """None, a number, or an empty dict that a constructor sets; UNKNOWN of anything else."""
    if isinstance(value, Constant):
        return value.constant
    if isinstance(value, Unary) and value.operator == "-" and isinstance(value.operand, Constant):
        return -value.operand.constant
    return {} if isinstance(value, Dictionary) and not value.pairs else UNKNOWN


def compared(
    tests: Iterable[Expression], own: Callable[[Node], list[Attribute]], method: Function
) -> Iterator[str]:
    """What tests compare with what is kept: `n` of `n != self.length`; of a name that is bound to a
    key, all that is in the key: `key = (n, m)`."""
    names, assigns = bound_once(method), everywhere(method, Assign)
    bound = {n: s.expression for s in assigns for n in names & {dotted(s.targets[0])}}
    for compare in [n for t in tests for n in t.walk() if isinstance(n, Compare) and own(n)]:
        for side in compare.operands:
            for key in filter(None, (side, bound.get(dotted(side) or ""))):
                yield from (part.id for part in _parts(key) if isinstance(part, Name))


def _parts(key: Expression) -> list[Expression]:
    if isinstance(key, FormattedString):
        return key.insertions
    return key.elements if isinstance(key, Display) else [key]


def holds(test: Expression, me: str, built: dict[str, Any]) -> bool | None:
    """Whether a test holds where the attributes of `me` are as they were built; None if that is not
    known."""
    if isinstance(test, Boolean):
        left, right = holds(test.left, me, built), holds(test.right, me, built)
        decides = test.operator == "or"
        if left is decides or right is decides:
            return decides
        return None if None in (left, right) else not decides
    if isinstance(test, Unary) and test.operator == "not":
        inner = holds(test.operand, me, built)
        return None if inner is None else not inner
    if isinstance(test, Call) and dotted(test.function) == "hasattr" and len(test.arguments) == 2:
        name = test.arguments[1]
        if dotted(test.arguments[0]) == me and isinstance(name, Constant):
            return None if name.constant not in built else built[name.constant] is not ABSENT
    if isinstance(test, Compare) and len(test.operators) == 1:
        return _compared(test, me, built)
    known = _value(test, me, built)
    return None if known is UNKNOWN or known is ABSENT else bool(known)


def _compared(test: Compare, me: str, built: dict[str, Any]) -> bool | None:
    word, (left, right) = test.operators[0], test.operands
    values = [_value(side, me, built) for side in (left, right)]
    if word in ("in", "not in") and values[1] == {}:
        return word == "not in"
    if word in ("is", "is not") and is_none(right) and values[0] not in (UNKNOWN, ABSENT):
        return (values[0] is None) == (word == "is")
    if word in ("==", "!=") and any(v is None for v in values):  # a size is not None
        return word == "!="
    return None


def _value(node: Expression, me: str, built: dict[str, Any]) -> Any:
    if isinstance(node, Attribute) and dotted(node.object) == me:
        return built.get(node.name, UNKNOWN)
    return UNKNOWN
