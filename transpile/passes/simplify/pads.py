"""Dims that are padded, or cropped, in jnp's and lax's own words.

nn.pad(x, (1, 0))                               ->  jnp.pad(x, [(0, 0)] * (x.ndim - 1) + [(1, 0)])
nn.pad(x, (n - k, 0))                           ->  lax.pad(x, …) where that may crop
"""

from collections.abc import Callable

from ...facts.shapes.size_values import Sizes
from ...model.copy import clone
from ...model.expressions import Attribute, Call, Constant, Display
from ...model.node import Expression
from ...model.operators import Binary
from ...source.lower_ast import expression
from ..operations.literals import literal, simple

Change = Callable[[Call], Expression]
_MODES = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}


def padded(sizes: Sizes, call: Call, given: dict[str, Expression]) -> Change | None:
    """`jnp.pad(x, [(0, 0)] * (x.ndim - 1) + [(1, 0)])` where nothing is cropped; lax.pad crops
    too: `lax.pad(x, jnp.array(0, x.dtype), [(0, 0, 0), (n - k, 0, 0)])`."""
    pads, mode = given.get("pad"), literal(given.get("mode", Constant("constant")))
    array = given["input"]
    word = _MODES.get(mode) if isinstance(mode, str) else None
    if not isinstance(pads, Display) or word is None or len(pads.elements) % 2:
        return None
    rank, value = sizes.rank(array), given.get("value")
    filled = value is not None and literal(value) not in (0, None)
    crops = not all(map(sizes.is_size, pads.elements))
    if crops and (mode != "constant" or filled) or (crops or rank is None) and not simple(array):
        return None

    def make(now: Call) -> Expression:
        array, pads = now.arguments[:2]
        ends = pads.elements  # type: ignore[attr-defined]
        inner = [Constant(0)] * crops
        pairs = [Display("tuple", [*p, *map(clone, inner)]) for p in zip(ends[-2::-2], ends[::-2])]
        none = expression("(0, 0, 0)" if crops else "(0, 0)")
        if rank is not None:
            before = [clone(none) for _ in range(rank - len(pairs))]
            width: Expression = Display("list", [*before, *pairs])
        else:
            others = Binary(Attribute(clone(array), "ndim"), "-", Constant(len(pairs)))
            width = Binary(
                Binary(Display("list", [none]), "*", others), "+", Display("list", pairs)
            )
        if crops:
            dtype = Attribute(clone(array), "dtype")
            fill = Call(expression("jnp.array"), [Constant(0), dtype])
            return Call(expression("lax.pad"), [array, fill, width])
        words: dict[str, Expression] = {} if mode == "constant" else {"mode": Constant(word)}
        if filled:
            words["constant_values"] = now.arguments[list(given).index("value")]
        keywords = [None, None, *words]
        return Call(expression("jnp.pad"), [array, width, *words.values()], keywords)

    return make
