"""How large an array is at an axis: a number, or where the code of a function reads that size.

N, L, D = x.shape
noise = jax.random.uniform(key, (N, L))         at axis 0 as large as x
ids = jnp.argsort(noise, axis=1)[:, :k]         and this too
y.mean(axis=-1, keepdims=True)                  1 at its last axis

It is asked once operations are in JAX's words.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...model.block import Block
from ...model.constants import is_constant, is_none
from ...model.effects import Detached, Put, Support
from ...model.expressions import Attribute, Call, Display, Name, Slice, Starred, Subscript
from ...model.names import dotted, index_parts
from ...model.node import Expression
from ...model.statements import Assign
from ..memory.indices import number
from .size_values import Sizes, statement_of

Size = Any  # an int, or (the definition of an array, axis)
_SHAPED = {  # which argument is the shape
    "jnp.zeros": 0,
    "jnp.ones": 0,
    "jnp.full": 0,
    "jnp.broadcast_to": 1,
    "nn.expand_to": 1,
    "jax.random.normal": 1,
    "jax.random.uniform": 1,
}
_ALIKE = frozenset(
    "jnp.argsort jnp.sort jnp.zeros_like jnp.ones_like jnp.full_like jnp.abs jnp.ceil jnp.cos "
    "jnp.exp jnp.expm1 jnp.floor jnp.log jnp.log1p jnp.round jnp.sign jnp.sin jnp.sqrt jnp.square "
    "jnp.tanh jax.nn.celu jax.nn.elu jax.nn.gelu jax.nn.hard_sigmoid jax.nn.hard_swish "
    "jax.nn.hard_tanh jax.nn.leaky_relu jax.nn.log_sigmoid jax.nn.log_softmax jax.nn.relu "
    "jax.nn.relu6 jax.nn.selu jax.nn.sigmoid jax.nn.silu jax.nn.soft_sign jax.nn.softmax "
    "jax.nn.softplus".split()
)
_EXTREMA = frozenset({"max_values", "min_values"})
_REDUCING = frozenset("all any argmax argmin max mean min prod sum".split())


class Axes:
    """The sizes of the arrays of one scope. An axis from 0 counts from the front, one below from
    the end; `rank` is that of the array, where it is known. `made` has the sizes at an axis of what
    a layer makes, as its constructor says them.
    """

    def __init__(self, sizes: Sizes, made: Callable[[Call, int], list[Expression]]) -> None:
        self.sizes, self.made = sizes, made

    def rank(self, node: Expression) -> int | None:
        """How many dims an array has."""
        told = self.sizes.rank(node)
        if told is not None:
            return told
        source = self._source(node)
        if source is not None:
            return self.rank(source)
        if (shape := self._shape(node)) is not None:
            return len(shape)
        more = 0
        if isinstance(node, Subscript) and _is_plain(node):
            places = index_parts(node.index)
            more = sum(is_none(p) for p in places) - sum(number(p) is not None for p in places)
            rank = self.rank(node.object)
        elif word(node) == "jnp.expand_dims" and number(node.arguments[1]) is not None:  # type: ignore[attr-defined]
            rank, more = self.rank(node.arguments[0]), 1  # type: ignore[attr-defined]
        elif isinstance(node, Call) and _reduced(node) is not None:
            rank = self.rank(_reduced(node)[0])  # type: ignore[index]
        else:
            return None
        return None if rank is None else rank + more

    def size(self, node: Expression, axis: int, rank: int | None = None) -> Size | None:
        """The size of an array at an axis."""
        rank = self.rank(node) if rank is None else rank
        axis = axis + rank if axis < 0 and rank is not None else axis
        source, shape = self._source(node), self._shape(node)
        told = self.size(source, axis, rank) if source is not None else None
        if isinstance(node, Name) and told is None:
            definition = self.sizes.definitions.definition(node) or self._one_of_several(node)
            return None if definition is None else (definition, axis)
        if shape is not None:
            if not -len(shape) <= axis < len(shape):
                return None
            if number(shape[axis]) != -1 or word(node) != "nn.expand_to":
                return self.number(shape[axis])
            array = node.arguments[0]  # type: ignore[attr-defined]
            return self.size(array, axis - len(shape) if axis >= 0 else axis)
        if isinstance(node, Subscript):
            return self._of_subscript(node, axis, rank)
        return self._of_call(node, axis, rank) if isinstance(node, Call) and not source else told

    def number(self, node: Expression) -> Size | None:
        """The same of a number: `N`, `x.shape[0]`, 3."""
        if (value := number(node)) is not None:
            return value if value >= 0 else None
        if isinstance(node, Subscript):
            shape, axis = node.object, number(node.index)
            told = isinstance(shape, Attribute) and shape.name == "shape" and axis is not None
            return self.size(shape.object, axis) if told else None  # type: ignore[attr-defined,arg-type]
        if not isinstance(node, Name):
            return None
        target = self.sizes.definitions.definition(node)
        names = target.parent if target is not None else None
        if not isinstance(names, Display):
            given = self.sizes.given(node)
            return self.number(given) if given is not node else None
        source = names.parent.expression if isinstance(names.parent, Assign) else None
        if any(isinstance(e, Starred) for e in names.elements):
            return None
        place = next(i for i, e in enumerate(names.elements) if e is target)
        if isinstance(source, Display) and len(source.elements) == len(names.elements):
            return self.number(source.elements[place])
        taken = isinstance(source, Attribute) and source.name == "shape"
        return self.size(source.object, place) if taken else None  # type: ignore[union-attr]

    def _one_of_several(self, node: Name) -> object | None:
        """What stands for the value of a name that is set in several places, from the last
        statement of its block that sets it to the next."""
        own, found = statement_of(node), self.sizes.definitions.of.get(node)
        block = own.parent if own is not None else None
        if own is None or not found or not isinstance(block, Block):
            return None
        around = {a for d in found if d is not None for a in d.ancestors()}
        before = [s for s in block.body[: block.body.index(own)] if s in around]
        return None if own in around else (found, block, before[-1] if before else None)

    # --- what an array is made of -----------------------------------------------------------------

    def _source(self, node: Expression) -> Expression | None:
        """An array of the same sizes."""
        if isinstance(node, Name):
            given = self._before_writes(node)
            return None if given is node else given
        if isinstance(node, Put):
            return node.base
        if isinstance(node, Detached):
            return node.expression
        if not isinstance(node, Call) or word(node) not in _ALIKE or "shape" in node.keywords:
            return None
        return None if any(is_none(a) for a in node.arguments) else node.arguments[0]

    def _before_writes(self, node: Name) -> Expression:
        """What a name was given: `x += y` leaves x as large."""
        found = self.sizes.definitions.of.get(node) or ()
        assigns = [d.parent if d is not None else None for d in found]
        made = [a for a in assigns if not isinstance(a, Assign) or not a.operator]
        if len(made) == len(assigns) or len(made) != 1 or not isinstance(made[0], Assign):
            return self.sizes.given(node)
        given = made[0]
        plain = given.expression is not None and any(t in found for t in given.targets)
        return given.expression if plain else node  # type: ignore[return-value]

    def _shape(self, node: Expression) -> list[Expression] | None:
        """The shape that an array is given."""
        if not isinstance(node, Call):
            return None
        if isinstance(node.function, Attribute) and node.function.name == "reshape":
            told = self.sizes.rank(node) is not None
            return node.arguments if told else None
        place = _SHAPED.get(word(node))
        if place is None or node.keywords[: place + 1] != [None] * (place + 1):
            return None
        shape = self.sizes.given(node.arguments[place])
        plain = isinstance(shape, Display) and not any(
            isinstance(e, Starred) for e in shape.elements
        )
        return shape.elements if plain else None  # type: ignore[attr-defined]

    def _of_call(self, node: Call, axis: int, rank: int | None) -> Size | None:
        name = word(node)
        if name == "jnp.expand_dims":
            new = _aligned(number(node.arguments[1]), axis, rank)
            if new is None or new == axis:
                return None if new is None else 1
            inner = axis - (axis > new >= 0) + (axis < new < 0)
            return self.size(node.arguments[0], inner, None if rank is None else rank - 1)
        if name == "jnp.tile" and isinstance(node.arguments[1], Display):
            return self._of_tiled(node.arguments[0], node.arguments[1].elements, axis, rank)
        if name == "nn.gather":
            index = node.keyword("index") or next(iter(node.arguments[2:3]), None)
            return None if index is None else self.size(index, axis, rank)
        if (reduced := _reduced(node)) is not None:
            at, array = _aligned(reduced[1], axis, rank), reduced[0]
            return None if at is None else 1 if at == axis else self.size(array, axis, rank)
        places = {axis, axis - rank} if rank else {axis}
        made = [s for a in places for s in self.made(node, a)]
        told = {number(size) for size in made}
        return told.pop() if len(told) == 1 else None

    def _of_tiled(
        self, array: Expression, times: list[Expression], axis: int, rank: int | None
    ) -> Size | None:
        starred = any(isinstance(t, Starred) for t in times)
        if starred or axis >= 0 and rank != len(times) or -axis > len(times):
            return None
        axis = axis - len(times) if axis >= 0 else axis
        repeated, size = self.number(times[axis]), self.size(array, axis)
        return size if repeated == 1 else repeated if size == 1 else None

    def _of_subscript(self, node: Subscript, axis: int, rank: int | None) -> Size | None:
        """`x[:, :k, None]`, by what stands at the axis."""
        places = [*index_parts(node.index)]
        dots = next((i for i, place in enumerate(places) if is_constant(place, ...)), None)
        if (
            not _is_plain(node)
            or (rank is None or dots is None)
            and (axis < 0) != (dots is not None)
        ):
            return None
        if dots is not None:
            others = sum(number(place) is None for place in places) - 1
            wholes = -axis if rank is None else rank - others
            places[dots : dots + 1] = [Slice(None, None) for _ in range(wholes)]
        dims = [i for i, place in enumerate(places) if number(place) is None]
        at = dims[axis] if axis < len(dims) else len(places) + axis - len(dims)
        place = places[at] if at < len(places) else Slice(None, None)
        if not isinstance(place, Slice):
            return 1
        if place.lower or place.upper or place.step:
            return None
        old = [i for i, place in enumerate(places) if not is_none(place)]
        inner = sum(i < at for i in old) + max(at - len(places), 0)
        return self.size(node.object, inner if axis >= 0 else -sum(i >= at for i in old))


def word(node: Expression) -> str:
    """The function that a call names: `jnp.tile`, `nn.expand_to` of the support file."""
    if isinstance(node, Call) and isinstance(node.function, Support):
        return f"nn.{node.function.name}"
    return dotted(node.function) or "" if isinstance(node, Call) else ""


def _reduced(node: Call) -> tuple[Expression, int] | None:
    """x and 1 of `x.mean(axis=1, keepdims=True)`, `nn.max_values(x, 1, keepdim=True)`."""
    method, axis = node.function, number(node.keyword("axis"))
    if isinstance(method, Support) and method.name in _EXTREMA:
        if is_constant(node.keyword("keepdim"), True) and node.keywords[:2] == [None, None]:
            at = number(node.arguments[1])
            return None if at is None else (node.arguments[0], at)
    if axis is None or not isinstance(method, Attribute) or method.name not in _REDUCING:
        return None
    return (method.object, axis) if is_constant(node.keyword("keepdims"), True) else None


def _is_plain(node: Subscript) -> bool:
    """Whether an index has slices, numbers, None and `...` alone."""
    parts = index_parts(node.index)
    return all(
        isinstance(p, Slice) or is_none(p) or is_constant(p, ...) or number(p) is not None
        for p in parts
    )


def _aligned(axis: int | None, other: int, rank: int | None) -> int | None:
    """An axis counted from where another is."""
    if axis is None or (axis < 0) == (other < 0):
        return axis
    return None if rank is None else axis + rank if axis < 0 else axis - rank
