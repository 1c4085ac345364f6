"""What Python knows of an array, by its syntax alone: before facts are solved."""

from ...model.expressions import Attribute, Call, Constant, Subscript
from ...model.names import dotted
from ...model.node import Expression
from ...model.operators import Binary

_ASKING = frozenset(("size", "dim"))
_KNOWN = frozenset(("shape", "ndim", "dtype", "device"))


def is_range(value: Expression | None) -> bool:
    """Whether a value is numbers that Python counts: `range(n)`, `list(range(x.shape[1]))`."""
    if not isinstance(value, Call):
        return False
    word, given = dotted(value.function), value.arguments
    return word == "range" or word in ("list", "tuple") and len(given) == 1 and is_range(given[0])


def is_size(value: Expression | None) -> bool:
    """Whether a value is what Python knows of arrays: `x.shape[0]`, `x.size(1) // 2`, `x.dtype`."""
    if isinstance(value, Subscript):
        return is_size(value.object)
    if isinstance(value, Binary):
        sides = [s for s in (value.left, value.right) if not isinstance(s, Constant)]
        return bool(sides) and all(map(is_size, sides))
    if isinstance(value, Call):
        word = dotted(value.function)
        if word == "int":
            return all(map(is_size, value.arguments))
        return (
            word == "len"
            or isinstance(value.function, Attribute)
            and value.function.name in _ASKING
        )
    return isinstance(value, Attribute) and value.name in _KNOWN
