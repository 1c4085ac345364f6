"""What an index selects: places known by their numbers, those of a mask, or what only the values tell."""

from __future__ import annotations

from typing import Any

import libcst as cst

from . import tree
from .context import Context
from .emit import call
from .values import MISSING, UNKNOWN, Sequence, Static, Tensor


def index_kind(context: Context, index: Any, base: Any = None) -> str:
    """"basic" (ints, slices, None, ...), "mask" (one boolean tensor of the same rank), or "unknown"."""
    if len(index) == 1 and isinstance(index[0].slice, cst.Index):
        value = context.value(index[0].slice.value)
        if isinstance(value, Tensor) and value.kind == "b":
            return "mask" if base is not None and covers(index[0].slice.value, base) else "unknown"
    places = [element.slice.value for element in index if isinstance(element.slice, cst.Index)]
    return "basic" if all(_is_number(context, place) for place in places) else "unknown"


def _is_number(context: Context, place: Any) -> bool:
    """Whether one place of an index is a number, None or an ellipsis, or else a name that nothing tells to be a tensor: a counter."""
    value = context.value(place)
    if isinstance(place, cst.Comparison) or value == Static(MISSING, "bool"):
        return False  # a mask of what nothing is known of: `x[scores.best <= 0.9] = 0`
    if isinstance(place, (cst.Integer, cst.Ellipsis)) or isinstance(value, Static):
        return True
    if isinstance(place, cst.UnaryOperation) and isinstance(place.expression, cst.Integer):
        return True
    if value != UNKNOWN or not isinstance(place, (cst.Name, cst.BinaryOperation, cst.Attribute)):
        return False
    return not any(isinstance(context.value(n), Tensor) for n in tree.walk(place))


def copies(context: Context, index: Any) -> bool:
    """Whether what an index selects is certain to be a copy: that of a list or a mask. Of other arrays one number is a view: `x[mask.sum()]`."""
    return any(_is_copied(context, element.slice.value) for element in index if isinstance(element.slice, cst.Index))


def _is_copied(context: Context, place: Any) -> bool:
    value = context.value(place)
    return isinstance(value, Tensor) and value.kind == "b" or isinstance(value, Sequence) and not value.tuple


def disjoint(one: Any, other: Any) -> bool:
    """Whether two basic indices of one array are certain to select different elements: `[:, 0]` and `[:, 1]`, `[..., :n]` and `[..., n:]`."""
    sides = [_around_ellipsis(index) for index in (one, other)]
    before = zip(*(front for front, _ in sides))
    behind = zip(*(reversed(back) for _, back in sides)) if all(back is not None for _, back in sides) else ()
    return any(_apart(_bounds(a), _bounds(b)) for pair in (before, behind) for a, b in pair)


def _around_ellipsis(index: Any) -> tuple[list[Any], Any]:
    """The places that count from the front, and those behind `...`, None where there is none; `None` in an index makes a dim of its own."""
    places = [e.slice for e in index]
    values = [p.value if isinstance(p, cst.Index) else p for p in places]
    kept = [v for v in values if not (isinstance(v, cst.Name) and v.value == "None")]
    cut = next((i for i, v in enumerate(kept) if isinstance(v, cst.Ellipsis)), None)
    return (kept, None) if cut is None else (kept[:cut], kept[cut + 1 :])


def _bounds(place: Any) -> tuple[Any, Any] | None:
    """First and end of a place of an index, as numbers or as code, end None for the last; None where there is a step."""
    if not isinstance(place, cst.Slice):
        first = _bound(place)
        return (first, first + 1 or None) if isinstance(first, int) else None
    if place.step is not None and tree.code(place.step) != "1":
        return None
    return (0 if place.lower is None else _bound(place.lower)), (None if place.upper is None else _bound(place.upper))


def _bound(node: Any) -> int | str:
    negative = isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Minus)
    number = node.expression if negative else node
    if not isinstance(number, cst.Integer):
        return tree.code(node)
    return -number.evaluated_value if negative else number.evaluated_value


def _apart(one: tuple[Any, Any] | None, other: tuple[Any, Any] | None) -> bool:
    return one is not None and other is not None and (_ends_before(one[1], other[0]) or _ends_before(other[1], one[0]))


def _ends_before(end: Any, first: Any) -> bool:
    if isinstance(end, int) and isinstance(first, int):
        return (end < 0) == (first < 0) and end <= first
    return end is not None and end == first


_ELEMENTWISE = frozenset("isnan isinf isfinite abs logical_not logical_and logical_or logical_xor eq ne lt le gt ge bool float".split())


def covers(mask: Any, base: Any) -> bool:
    """Whether a mask has the rank of what it selects from: it is computed from that element by element, as in `x[(x > 0) & ~torch.isnan(x)]`."""
    if tree.code(mask) == tree.code(base):
        return True
    if isinstance(mask, cst.Comparison):
        return len(mask.comparisons) == 1 and (covers(mask.left, base) or covers(mask.comparisons[0].comparator, base))
    if isinstance(mask, cst.BinaryOperation) and not isinstance(mask.operator, cst.MatrixMultiply):
        return covers(mask.left, base) or covers(mask.right, base)
    if isinstance(mask, cst.UnaryOperation) and not isinstance(mask.operator, cst.Not):
        return covers(mask.expression, base)
    if isinstance(mask, cst.Call) and isinstance(mask.func, cst.Attribute) and mask.func.attr.value in _ELEMENTWISE:
        return covers(mask.func.value, base) or any(covers(a.value, base) for a in mask.args if a.keyword is None)
    return False


def only_index(index: Any) -> Any:
    """The expression in `x[m]`, an index of one part."""
    return index[0].slice.value


def index_expression(index: Any) -> Any:
    """An index as an expression that a function can take."""
    if len(index) == 1 and isinstance(index[0].slice, cst.Index):
        return _place(only_index(index))
    parts = []
    for element in index:
        part = element.slice
        if isinstance(part, cst.Index):
            parts.append(cst.Element(_place(part.value)))
        else:
            bounds = [tree.code(b) if b is not None else "None" for b in (part.lower, part.upper)]
            if part.step is not None:
                bounds.append(tree.code(part.step))
            parts.append(cst.Element(tree.expression(f"slice({', '.join(bounds)})")))
    return cst.Tuple(parts) if len(parts) > 1 else tree.expression(f"({tree.code(parts[0].value)},)")


def _place(value: Any) -> Any:
    return call("jnp.array", [value]) if isinstance(value, cst.List) else value


def may_overlap(target: cst.Subscript, source: Any) -> bool:
    """Whether `x[1:] = x[:-1]` may read what it has just written; not `x[:n] = x[n:]`, nor `x[0] = x[1]`."""
    if not isinstance(source, cst.Subscript) or tree.code(source.value) != tree.code(target.value):
        return False
    if [tree.code(e.slice) for e in source.slice] == [tree.code(e.slice) for e in target.slice]:
        return False
    for one, other in zip(target.slice, source.slice):
        a: Any = one.slice
        b: Any = other.slice
        if isinstance(a, cst.Index) and isinstance(b, cst.Index):
            if isinstance(a.value, cst.Ellipsis) or isinstance(b.value, cst.Ellipsis):
                continue
            if tree.code(a.value) != tree.code(b.value):
                return False  # two rows: the same only where the numbers are, and then nothing moves
        elif isinstance(a, cst.Slice) and isinstance(b, cst.Slice):
            bounds = [tree.code(n) if n is not None else "" for n in (a.lower, a.upper, b.lower, b.upper)]
            if bounds[1] and bounds[1] == bounds[2] or bounds[3] and bounds[3] == bounds[0]:
                return False  # x[:n] and x[n:] meet
            if a.step is not None and b.step is not None and tree.code(a.step) == tree.code(b.step) and bounds[0] != bounds[2]:
                return False  # x[0::2] and x[1::2]
        else:
            return False
    return True
