"""What an index selects: places known by their numbers, those of a mask, or what only the values
tell."""

from collections.abc import Callable
from typing import Any

from ...model.effects import Detached
from ...model.expressions import Attribute, Call, Constant, Name, Slice, Subscript
from ...model.names import index_parts
from ...model.node import Expression
from ...model.operators import Binary, Compare, Unary
from ..values.lattice import MISSING, UNKNOWN, Sequence, Static, Tensor, Value
from .access_paths import of, spelled

Bounds = tuple[Any, Any]


def kind(index: Expression, base: Expression | None = None) -> str:
    """ "basic" (ints, slices, None, …), "mask" (one boolean tensor of the same rank), or "unknown";
    "bools" for one boolean tensor whose rank is not known."""
    parts = index_parts(index)
    if len(parts) == 1 and not isinstance(parts[0], Slice):
        value = of(parts[0])
        if isinstance(value, Tensor) and value.kind == "b":
            return "mask" if base is not None and covers(parts[0], base) else "bools"
    return "basic" if all(isinstance(p, Slice) or _is_number(p) for p in parts) else "unknown"


def _is_number(place: Expression) -> bool:
    """Whether one place of an index is a number, None or an ellipsis, or else a name that nothing
    tells to be a tensor: a counter."""
    value = of(place)
    if isinstance(place, Compare) or value == Static(MISSING, "bool"):
        return False  # a mask of what nothing is known of: `x[scores.best <= 0.9] = 0`
    if _is_range(value):
        return False
    if isinstance(place, Constant) or isinstance(value, Static):
        return True
    if isinstance(place, Unary) and isinstance(place.operand, Constant):
        return True
    if value != UNKNOWN or not isinstance(place, (Name, Binary, Attribute)):
        return False
    return not any(isinstance(n, Expression) and isinstance(of(n), Tensor) for n in place.walk())


def copies(index: Expression) -> bool:
    """Whether what an index selects is certain to be a copy: that of a list, a range or a mask.

    Of other arrays one number is a view: `x[mask.sum()]`.
    """
    return any(_is_copied(place) for place in index_parts(index))


def _is_copied(place: Expression) -> bool:
    value = of(place)
    if isinstance(value, Tensor):
        return value.kind == "b"
    return _is_range(value) or isinstance(value, Sequence) and not value.tuple


def _is_range(value: Value) -> bool:
    return isinstance(value, Static) and value.type == "range"


# --- apart ----------------------------------------------------------------------------------------


def disjoint(one: Expression, other: Expression) -> bool:
    """Whether two basic indices of one array are certain to select different elements: `[:, 0]`
    and `[:, 1]`, `[..., :n]` and `[..., n:]`."""
    (front, back), (other_front, other_back) = (_around_ellipsis(i) for i in (one, other))
    pairs = list(zip(front, other_front))
    if back is not None and other_back is not None:
        pairs += zip(reversed(back), reversed(other_back))
    return any(_apart(_bounds(a), _bounds(b)) for a, b in pairs)


def _around_ellipsis(index: Expression) -> tuple[list[Expression], list[Expression] | None]:
    """The places that count from the front, and those behind `...`, None where there is none;
    `None` in an index makes a dim of its own."""
    kept = [p for p in index_parts(index) if not (isinstance(p, Constant) and p.constant is None)]
    dots = [i for i, p in enumerate(kept) if isinstance(p, Constant) and p.constant is ...]
    return (kept[: dots[0]], kept[dots[0] + 1 :]) if dots else (kept, None)


def _bounds(place: Expression) -> Bounds | None:
    """First and end of a place of an index, as numbers or as code, end None for the last; None
    where there is a step."""
    if not isinstance(place, Slice):
        first = _bound(place)
        return (first, first + 1 or None) if isinstance(first, int) else None
    if place.step is not None and number(place.step) != 1:
        return None
    lower = 0 if place.lower is None else _bound(place.lower)
    return lower, None if place.upper is None else _bound(place.upper)


def _bound(node: Expression) -> int | str | Expression:
    found = number(node)
    return found if found is not None else spelled(node) or node


def number(node: Expression | None) -> int | None:
    """The whole number that is written there: `-1`."""
    if isinstance(node, Unary) and node.operator == "-":
        found = number(node.operand)
        return None if found is None else -found
    whole = isinstance(node, Constant) and type(node.constant) is int
    return node.constant if whole else None  # type: ignore[union-attr]


def _apart(one: Bounds | None, other: Bounds | None) -> bool:
    if one is None or other is None:
        return False
    return _ends_before(one[1], other[0]) or _ends_before(other[1], one[0])


def _ends_before(end: Any, first: Any) -> bool:
    if isinstance(end, int) and isinstance(first, int):
        return (end < 0) == (first < 0) and end <= first
    return end is not None and end == first


# --- a copy of a part of an array to another ------------------------------------------------------


def may_overlap(target: Subscript, source: Expression) -> bool:
    """Whether `x[1:] = x[:-1]` may read what it has just written; not `x[:n] = x[n:]`, nor
    `x[0] = x[1]`."""
    if not isinstance(source, Subscript) or not _alike(source.object, target.object):
        return False
    if _alike(source.index, target.index):
        return False
    for a, b in zip(index_parts(target.index), index_parts(source.index)):
        if isinstance(a, Slice) != isinstance(b, Slice):
            return False
        if not isinstance(a, Slice) or not isinstance(b, Slice):
            dots = any(isinstance(p, Constant) and p.constant is ... for p in (a, b))
            if not dots and not _alike(a, b):
                return False  # two rows: the same only where the numbers are
        elif _meet(a, b) or _interleave(a, b):
            return False
    return True


def _meet(a: Slice, b: Slice) -> bool:
    """`x[:n]` and `x[n:]`"""
    return _alike(a.upper, b.lower) or _alike(b.upper, a.lower)


def _interleave(a: Slice, b: Slice) -> bool:
    """`x[0::2]` and `x[1::2]`"""
    both = a.lower is None and b.lower is None
    return _alike(a.step, b.step) and not both and not _alike(a.lower, b.lower)


def _alike(a: Expression | None, b: Expression | None) -> bool:
    if a is None or b is None:
        return False
    one = spelled(a)
    return one is not None and one == spelled(b)


# --- masks ----------------------------------------------------------------------------------------

_ELEMENTWISE = frozenset(
    "isnan isinf isfinite abs logical_not logical_and logical_or logical_xor eq ne lt le gt ge "
    "bool float astype stop_gradient where maximum minimum "
    "clip clamp exp log log1p expm1 sqrt rsqrt square tanh sigmoid relu sign floor ceil round "
    "roll flip".split()  # which put another element in the place of each
)


def covers(mask: Expression, base: Expression) -> bool:
    """Whether a mask has the rank of what it selects from: it is computed from that element by
    element, as in `x[(x > 0) & ~torch.isnan(x)]`."""
    if _alike(mask, base):
        return True
    if isinstance(mask, Detached):
        return covers(mask.expression, base)
    any_of: Callable[[list[Expression]], bool] = lambda ns: any(covers(n, base) for n in ns)
    if isinstance(mask, Compare):
        return len(mask.operands) == 2 and any_of(mask.operands)
    if isinstance(mask, Binary) and mask.operator != "@":
        return any_of([mask.left, mask.right])
    if isinstance(mask, Unary) and mask.operator != "not":
        return covers(mask.operand, base)
    if isinstance(mask, Call) and isinstance(mask.function, Attribute):
        if mask.function.name in _ELEMENTWISE:
            plain = mask.positional
            return any_of([mask.function.object, *plain])
    return False
