"""Pieces, repeated and joined dims in jnp's own words, where the source tells of the sizes.

q, k, v = nn.chunk(self.qkv(x), 3, dim=-1)      ->  jnp.split(self.qkv(x), 3, axis=-1)
nn.expand_to(p, (b, -1))                        ->  jnp.broadcast_to(p, (b, p.shape[-1]))
nn.flatten(self.conv(x), 2)                     ->  lax.collapse(self.conv(x), 2)
"""

from collections.abc import Callable
from typing import Any

from ...facts.memory.indices import covers
from ...facts.shapes.axis_sizes import Axes
from ...facts.shapes.layer_sizes import is_multiple, pieces, sizes_made
from ...facts.shapes.size_fields import is_held_size
from ...facts.shapes.size_values import Sizes, is_limit
from ...facts.values.lattice import Sequence, Static, least_dims
from ...model.constants import is_none
from ...model.copy import clone
from ...model.effects import Support
from ...model.expressions import Attribute, Call, Constant, Display, Name, Slice, Starred, Subscript
from ...model.names import dotted, index_parts
from ...model.node import Expression
from ...model.operators import Binary
from ...model.program import Class, Function, Scope
from ...source.lower_ast import expression
from ..operations.literals import harmless, literal, simple
from .gathers import picked, squeezed
from .pads import padded
from .unpacking import goes_over, names

Change = Callable[[Call], Expression]


class Shapes:
    """What is asked of the calls of one scope."""

    def __init__(self, scope: Scope, facts: Any) -> None:
        self.scope, self.facts = scope, facts
        self._sizes: Sizes | None = None

    @property
    def sizes(self) -> Sizes:
        if self._sizes is None:
            number = lambda node: self.axes.number(node)
            self._sizes = Sizes(self.scope, self._is_held, number)
        return self._sizes

    @property
    def cls(self) -> Class | None:
        return self.facts.project.owner(self.scope) if isinstance(self.scope, Function) else None

    def _is_held(self, name: str) -> bool:
        return self.cls is not None and is_held_size(self.facts.modules, self.cls, name)

    @property
    def axes(self) -> Axes:
        return Axes(self.sizes, lambda *made: sizes_made(self.facts.modules, self.cls, *made))

    def plainer(self, call: Call) -> Change | None:
        """What a call of the support file is written as instead, if anything."""
        name = call.function.name if isinstance(call.function, Support) else ""
        asked = _ASKED.get(name)
        if asked is None or any(isinstance(a, Starred) for a in call.arguments):
            return None
        words, make = asked
        if call.keywords[:1] != [None] or not {*call.keywords} <= {None, *words}:
            return None
        given = [word or words[i] for i, word in enumerate(call.keywords)]
        return make(self, call, dict(zip(given, call.arguments)))

    # --- pieces -----------------------------------------------------------------------------------

    def pieces(self, call: Call, given: dict[str, Expression]) -> Change | None:
        """`jnp.split(x, 3, axis=-1)` of a chunk whose size a layer says to be a multiple of three,
        and `jnp.split(x, [a], axis=1)` of pieces whose sizes are written out; a tuple, where what
        is done with the pieces goes not as well with a list."""
        axis = literal(given["dim"]) if "dim" in given else 0
        sizes = given.get("sizes")
        if not isinstance(axis, int) or sizes is None or call.keywords[:2] != [None, None]:
            return None
        word, whole = "jnp.split", not goes_over(call, self.scope)
        where = self._places(given["input"], sizes, axis, call)
        if where is None and literal(sizes) == 2 and _is_chunk(call) and names(call) == 2:
            word, where = "jnp.array_split", lambda now: now  # the first is longer in both
        if where is None and self._is_list(sizes) and not _is_chunk(call):
            where = _summed
        if where is None:
            return None

        def make(now: Call) -> Expression:
            array, cut = now.arguments[:2]
            parts = [array, where(cut), *([expression(repr(axis))] if axis else [])]
            made = Call(expression(word), parts, [None, None, "axis"][: len(parts)])
            return Call(Name("tuple"), [made]) if whole else made

        return make

    def _places(
        self, made: Expression, sizes: Expression, axis: int, call: Call
    ) -> Callable[[Expression], Expression] | None:
        """What jnp.split takes for the sizes of pieces, or for their number."""
        if isinstance(sizes, Display) and 2 <= len(sizes.elements) <= 3:
            *before, last = sizes.elements
            if not all(map(simple, before[:-1])) or not all(map(harmless, (before[-1], last))):
                return None
            return lambda now: Display("list", _ends(now.elements[:-1]))  # type: ignore[attr-defined]
        from_end = self._from_end(made, axis)
        if _is_chunk(call):
            number = literal(sizes)
            if not isinstance(number, int) or number < 2:
                return None
            made = self.sizes.given(made)
            told = any(is_multiple(self.facts.modules, self.cls, made, a, number) for a in from_end)
            return (lambda now: now) if told else None
        numbers = [pieces(self.facts.modules, self.cls, made, a, sizes) for a in from_end]
        number = next((n for n in numbers if n is not None), _share(made, axis, sizes, names(call)))
        if number is None and names(call) == 2 and self._is_number(sizes):
            return lambda now: Display("list", [now])
        return None if number is None else lambda now: Constant(number)

    def _is_number(self, size: Expression) -> bool:
        value = self.facts.values.of(size)
        return harmless(size) and isinstance(value, Static) and value.type == "int"

    def _is_list(self, sizes: Expression) -> bool:
        value = self.facts.values.of(sizes)
        return isinstance(value, Sequence) and not value.loose

    def _from_end(self, made: Expression, axis: int) -> list[int]:
        """An axis, and how it is counted from the end where the rank is known: a linear layer keeps
        that of what it takes."""
        given = made.arguments[0] if isinstance(made, Call) and len(made.arguments) == 1 else None
        rank = self.sizes.rank(given) if given is not None and axis > 0 else None
        return [axis] if rank is None else [axis, axis - rank]

    # --- repeated dims ----------------------------------------------------------------------------

    def expanded(self, call: Call, given: dict[str, Expression]) -> Change | None:
        """`jnp.broadcast_to` where no size is -1, or those that are stand last and the array has a
        name: `p.expand(b, -1, -1)` is of `(b, *p.shape[-2:])`."""
        sizes = given.get("sizes")
        if sizes is None or call.keywords != [None, None]:
            return None
        if self.sizes.is_shape(sizes):
            return lambda now: Call(expression("jnp.broadcast_to"), now.arguments)
        array = _without_new_dims(given["input"])
        if not isinstance(sizes, Display) or not simple(array):
            return None
        kept = 0
        while kept < len(sizes.elements) and literal(sizes.elements[-1 - kept]) == -1:
            kept += 1
        before = sizes.elements[: len(sizes.elements) - kept]
        if not kept or not all(map(self.sizes.is_size, before)):
            return None
        if array is not given["input"] and least_dims(self.facts.values.of(array)) < kept:
            return None  # a new dim is kept too: `p[None].expand(b, -1, -1)` of one dim

        def make(now: Call) -> Expression:
            array, shape = now.arguments
            assert isinstance(shape, Display)
            own = Attribute(clone(_without_new_dims(array)), "shape")
            index = expression("-1") if kept == 1 else Slice(expression(repr(-kept)), None, None)
            rest = Subscript(own, index)
            last: Expression = rest if kept == 1 else Starred(rest)
            made = Display("tuple", [*shape.elements[: len(before)], last])
            return Call(expression("jnp.broadcast_to"), [array, made])

        return make

    # --- fills ------------------------------------------------------------------------------------

    def filled(self, call: Call, given: dict[str, Expression]) -> Change | None:
        """`jnp.where(mask, limit, x)` where the limit, of x's own dtype, makes no other of it."""
        if call.keywords != [None, None, None]:
            return None
        if not is_limit(self.sizes, given["value"], given["input"]):
            return None

        def make(now: Call) -> Expression:
            array, mask, value = now.arguments
            return Call(expression("jnp.where"), [mask, value, array])

        return make

    # --- joined dims ------------------------------------------------------------------------------

    def joined(self, call: Call, given: dict[str, Expression]) -> Change | None:
        """`lax.collapse(x, 1, 3)`, which leaves out the last of the dims that are joined."""
        start = literal(given["start_dim"]) if "start_dim" in given else 0
        end = literal(given["end_dim"]) if "end_dim" in given else -1
        if not isinstance(start, int) or not isinstance(end, int):
            return None
        if end != -1 and not (0 <= start <= end or start <= end < 0):
            return None
        places = [start] if end == -1 else [start, end + 1]

        def make(now: Call) -> Expression:
            numbers = [expression(repr(place)) for place in places]
            return Call(expression("lax.collapse"), [now.arguments[0], *numbers])

        return make


def fitting(call: Call) -> Expression | None:
    """`x * 2` of `jnp.broadcast_to(x * 2, x.shape)`, which `x.copy_(x * 2)` is: what is computed
    element by element from an array has its sizes, where it fits into them at all."""
    if call.keywords != [None, None]:
        return None
    made, shape = call.arguments
    own = isinstance(shape, Attribute) and shape.name == "shape"
    return made if own and covers(made, shape.object) else None  # type: ignore[attr-defined]


_ASKED: dict[str, tuple[tuple[str, ...], Callable[..., Change | None]]] = {
    "chunk": (("input", "sizes", "dim"), Shapes.pieces),
    "split_sizes": (("input", "sizes", "dim"), Shapes.pieces),
    "expand_to": (("input", "sizes"), Shapes.expanded),
    "pad": (("input", "pad", "mode", "value"), lambda s, *given: padded(s.sizes, *given)),
    "masked_fill": (("input", "mask", "value"), Shapes.filled),
    "gather": (("input", "dim", "index"), lambda s, *given: picked(s.axes, *given)),
    "squeeze": (("input", "dim"), lambda s, *given: squeezed(s.axes, *given)),
    "flatten": (("input", "start_dim", "end_dim"), Shapes.joined),
}


def _without_new_dims(array: Expression) -> Expression:
    """`p` of `p[None]` and `p[None, :]`."""
    if not isinstance(array, Subscript) or not is_none(index_parts(array.index)[0]):
        return array
    parts = [p for p in index_parts(array.index) if not is_none(p)]
    whole = index_parts(array.index)[-len(parts) :] == parts if parts else True
    return array.object if whole and all(map(_is_whole, parts)) else array


def _is_whole(part: Expression) -> bool:
    return isinstance(part, Slice) and not (part.lower or part.upper or part.step)


def _ends(sizes: list[Expression]) -> list[Expression]:
    """Where pieces of these sizes end: `[a, a + b]`."""
    first, *others = sizes
    if not others:
        return [first]
    numbers = [literal(size) for size in sizes]
    if all(isinstance(number, int) for number in numbers):
        return [first, Constant(sum(numbers))]
    return [first, Binary(clone(first), "+", others[0])]


def _summed(sizes: Expression) -> Expression:
    """Where the pieces of a list of sizes end: `np.cumsum(sizes[:-1])`."""
    if isinstance(sizes, Display) and not any(isinstance(e, Starred) for e in sizes.elements):
        return Call(expression("np.cumsum"), [Display(sizes.kind, sizes.elements[:-1])])
    most = Slice(None, expression("-1"), None)
    if simple(sizes):
        return Call(expression("np.cumsum"), [Subscript(sizes, most)])
    return Subscript(Call(expression("np.cumsum"), [sizes]), most)


def _is_chunk(call: Call) -> bool:
    return isinstance(call.function, Support) and call.function.name == "chunk"


def _share(made: Expression, axis: int, size: Expression, count: int | None) -> int | None:
    """Two of `a, b = split(x, x.shape[1] // 2, 1)`."""
    if not isinstance(size, Binary) or size.operator != "//" or literal(size.right) != count:
        return None
    of, whole = dotted(made), size.left
    known = isinstance(whole, Subscript) and of and dotted(whole.object) == f"{of}.shape"
    return count if known and literal(whole.index) == axis else None  # type: ignore[attr-defined]
