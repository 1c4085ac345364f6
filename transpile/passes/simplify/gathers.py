"""What is picked out of dims whose sizes are known, and dims of size 1 left out.

nn.gather(x, 1, jnp.tile(ids, (1, 1, D)))       ->  jnp.take_along_axis(x, ids, axis=1)
nn.squeeze(self.value(x), -1)                   ->  self.value(x).squeeze(-1)
jnp.expand_dims(x[:, 0, :], 1)                  ->  x[:, :1]
"""

from __future__ import annotations

from collections.abc import Callable

from ...facts.memory.indices import number
from ...facts.shapes.axis_sizes import Axes, word
from ...model.constants import is_whole
from ...model.expressions import Attribute, Call, Constant, Display, Slice, Subscript
from ...model.names import index_parts
from ...model.node import Expression
from ...source.lower_ast import expression
from ..operations.literals import literal

Change = Callable[[Call], Expression]


def picked(axes: Axes, call: Call, given: dict[str, Expression]) -> Change | None:
    """`jnp.take_along_axis` of an index as large as the array at the other axes: one of size 1
    there is repeated by it, where torch takes the first."""
    array, index, at = given["input"], given.get("index"), literal(given.get("dim", call))
    rank = axes.rank(array) if index is not None else None
    rank = axes.rank(index) if rank is None and index is not None else rank  # torch: the same
    if index is None or rank is None or not isinstance(at, int) or not -rank <= at < rank:
        return None
    for axis in {*range(rank)} - {at % rank}:
        size = axes.size(array, axis, rank)
        if size is None or size != axes.size(index, axis, rank):
            return None
    whole = not _is_repeated(axes, index, at % rank, rank)

    def make(now: Call) -> Expression:
        array, _, index = (now.arguments[[*given].index(w)] for w in ("input", "dim", "index"))
        index = index if whole else index.arguments[0]  # type: ignore[attr-defined]
        parts = [array, index, expression(repr(at))]
        return Call(expression("jnp.take_along_axis"), parts, [None, None, "axis"])

    return make


def _is_repeated(axes: Axes, index: Expression, at: int, rank: int) -> bool:
    """Whether an index is another, repeated at other axes than the one picked from."""
    if not isinstance(index, Call) or word(index) not in ("jnp.tile", "nn.expand_to"):
        return False
    array, times = index.arguments[:2]
    if not isinstance(times, Display) or len(times.elements) != rank or axes.rank(array) != rank:
        return False
    once = 1 if word(index) == "jnp.tile" else -1
    return number(times.elements[at]) == once


def squeezed(axes: Axes, call: Call, given: dict[str, Expression]) -> Change | None:
    """`x.squeeze(-1)` of a dim that is of size 1 for certain."""
    axis = literal(given.get("dim", call))
    if not isinstance(axis, int) or axes.size(given["input"], axis) != 1:
        return None
    return lambda now: Call(Attribute(now.arguments[0], "squeeze"), [expression(repr(axis))])


def kept(item: Expression, axis: int) -> Expression | None:
    """What `x[:, 2]` is with a new dim: `x[:, 2:3]` where 2 was, `x[None, :, 2]` elsewhere."""
    parts = index_parts(item.index) if isinstance(item, Subscript) else []
    places = [None if isinstance(part, Slice) else literal(part) for part in parts]
    counted = all(place is None or type(place) is int for place in places)
    if len(parts) < 2 or None not in places or not counted:
        return None
    made, left = list[Expression](), axis
    for part, place in zip(parts, places):
        if left == 0 and place is not None:  # a dim of size 1 in the place of the number
            lower, upper = place or None, place + 1 or None
            made.append(Slice(*(None if n is None else Constant(n) for n in (lower, upper))))
            left = -1
            continue
        if left == 0:
            made.append(Constant(None))
        left -= place is None
        made.append(part)
    while left > 0:
        left -= 1
        made.append(Slice(None, None))
    made += [Constant(None)] if left == 0 else []
    while is_whole(made[-1]):
        made.pop()
    assert isinstance(item, Subscript)
    return Subscript(item.object, made[0] if len(made) == 1 else Display("tuple", made))
