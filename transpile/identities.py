"""What two rules applied one to the other can be written as at once: `jnp.zeros_like(jnp.zeros(shape))` is `jnp.zeros(shape)`."""

from __future__ import annotations

from typing import Any

import libcst as cst

from . import tree

_MADE = ("jnp.zeros", "jnp.ones")
_LIKE = {"jnp.zeros_like": "jnp.zeros", "jnp.ones_like": "jnp.ones"}
_OF_ANY = frozenset({"shape", "ndim", "size", "dtype"})


def simplified(node: Any) -> Any:
    """A call of jax's, or what does the same; `x.new(3).zero_()` gives the outer one an array that it does not need."""
    if not isinstance(node, cst.Call) or not node.args or not _is_made(node.args[0].value):
        return node
    made: Any = node.args[0].value
    function = tree.dotted(node.func)
    if function in _LIKE and all(a.keyword is not None and tree.code(a.value) == "None" for a in node.args[1:]):
        return tree.replace(made, func=tree.expression(_LIKE[function]))
    if function == "jnp.full_like" and len(node.args) == 2:
        value = tree.replace(node.args[1], comma=cst.MaybeSentinel.DEFAULT)
        if len(made.args) == 1:  # jnp.full takes the dtype of the value: an int where torch has floats
            if not isinstance(value.value, (cst.Integer, cst.Float)):
                return node
            number = float(value.value.evaluated_value)
            if number in (0.0, 1.0):
                return tree.replace(made, func=tree.expression("jnp.ones" if number else "jnp.zeros"))
            value = tree.replace(value, value=cst.Float(repr(number)))
        return tree.replace(made, func=tree.expression("jnp.full"), args=[tree.replace(made.args[0], comma=cst.MaybeSentinel.DEFAULT), value, *made.args[1:]])
    return node


def _is_made(node: Any) -> bool:
    """`jnp.zeros(shape)` or `jnp.zeros(shape, dtype=…)`."""
    return isinstance(node, cst.Call) and tree.dotted(node.func) in _MADE and [a.keyword and a.keyword.value for a in node.args] in ([None], [None, "dtype"])


def described(value: Any, attribute: str) -> Any:
    """The array itself in `lax.stop_gradient(x).dtype`, which a gradient has no part in."""
    if attribute in _OF_ANY and isinstance(value, cst.Call) and tree.dotted(value.func) == "lax.stop_gradient" and len(value.args) == 1:
        return value.args[0].value
    return value
