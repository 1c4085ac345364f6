"""Arrays that are as long as the data say: they cannot be under jit, nor on a side of a branch."""

from ...model.expressions import Call, Display
from ...model.names import dotted, in_scope
from ...model.node import Expression, Node
from ..values.lattice import is_traced

_MADE = frozenset("jnp.zeros jnp.ones jnp.empty jnp.full jnp.eye jnp.arange jnp.identity".split())
_FOUND = frozenset("jnp.nonzero jnp.argwhere jnp.flatnonzero jnp.unique jnp.unique_values".split())


def sized_by_data(node: Node) -> bool:
    """Whether code makes an array whose shape follows from data: `jnp.zeros((n - len(x), 6))`."""
    return any(_is_sized(call) for call in in_scope(node, Call))


def _is_sized(call: Call) -> bool:
    word = dotted(call.function)
    if word in _FOUND:
        return call.keyword("size") is None
    if word == "jnp.where":
        return len(call.arguments) == 1
    if word not in _MADE:
        return False
    sizes = call.positional
    first = sizes if word == "jnp.arange" else sizes[:1]
    return any(_of_data(size) for size in first)


def _of_data(size: Expression) -> bool:
    parts = size.elements if isinstance(size, Display) else [size]
    return any(p.value is not None and is_traced(p.value) for p in parts)
