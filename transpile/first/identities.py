"""What two rules applied one to the other can be written as at once: `jnp.zeros_like(jnp.zeros(shape))` is `jnp.zeros(shape)`."""

from __future__ import annotations

from typing import Any

import libcst as cst

from . import tree

_MADE = ("jnp.zeros", "jnp.ones")
_LIKE = {"jnp.zeros_like": "jnp.zeros", "jnp.ones_like": "jnp.ones"}
_INFINITE = frozenset({"jnp.inf", "np.inf", "numpy.inf", "math.inf", "jnp.nan", "np.nan", "math.nan"})
_OF_ANY = frozenset({"shape", "ndim", "size", "dtype"})


def simplified(node: Any) -> Any:
    """A call of jax's, or what does the same; `x.new(3).zero_()` gives the outer one an array that it does not need."""
    if not isinstance(node, cst.Call) or not node.args:
        return node
    node = _with_plain_axes(node)
    made: Any = node.args[0].value
    function = tree.dotted(node.func)
    if function == "jnp.expand_dims":
        return _expanded(node, made)
    if not _is_made(made):
        return node
    if function in _LIKE and all(a.keyword is not None and tree.code(a.value) == "None" for a in node.args[1:]):
        return tree.replace(made, func=tree.expression(_LIKE[function]))
    if function == "jnp.full_like" and len(node.args) == 2:
        value = tree.replace(node.args[1], comma=cst.MaybeSentinel.DEFAULT)
        if len(made.args) == 1 or not _names_dtype(made.args[1].value):  # jnp.full takes the dtype of the value: an int where torch has floats
            filled = _as_float(value.value)
            if filled is None:
                return node
            if len(made.args) == 1 and isinstance(filled, cst.Float) and filled.evaluated_value in (0.0, 1.0):
                return tree.replace(made, func=tree.expression("jnp.ones" if filled.evaluated_value else "jnp.zeros"))
            value = tree.replace(value, value=filled)
        return tree.replace(made, func=tree.expression("jnp.full"), args=[tree.replace(made.args[0], comma=cst.MaybeSentinel.DEFAULT), value, *made.args[1:]])
    return node


def _with_plain_axes(node: cst.Call) -> cst.Call:
    """`x.sum(axis=(0, 2))` for torch's `x.sum([0, 2])`, `x.sum(axis=1)` for `x.sum([1])`."""
    args = [tree.replace(a, value=_plain(a.value)) if a.keyword is not None and a.keyword.value == "axis" and isinstance(a.value, cst.List) else a for a in node.args]
    return node if tree.same(args, node.args) else tree.replace(node, args=args)


def _plain(axes: cst.List) -> Any:
    numbers = [e.value.expression if isinstance(e.value, cst.UnaryOperation) else e.value for e in axes.elements]
    if not numbers or not all(isinstance(n, cst.Integer) for n in numbers):
        return axes
    return axes.elements[0].value if len(numbers) == 1 else cst.Tuple(axes.elements)


def _as_float(node: Any) -> Any:
    """A number in the source as a float, `-jnp.inf` as it is; None for what is not one there."""
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Minus):
        inner = _as_float(node.expression)
        return None if inner is None else tree.replace(node, expression=inner)
    if isinstance(node, (cst.Integer, cst.Float)):
        return node if isinstance(node, cst.Float) else cst.Float(repr(float(node.evaluated_value)))
    return node if tree.dotted(node) in _INFINITE else None


def _names_dtype(node: Any) -> bool:
    """Whether `dtype=jnp.float16` says which; a variable may be None."""
    if isinstance(node, cst.Attribute) and node.attr.value == "dtype":
        return True
    return (tree.dotted(node) or "").startswith("jnp.") or tree.dotted(node) in ("int", "bool", "float")


def _expanded(node: Any, inner: Any) -> Any:
    """`jnp.expand_dims(jnp.expand_dims(x, 1), 2)` as `jnp.expand_dims(x, (1, 2))`, where both count from the same end."""
    if not isinstance(inner, cst.Call) or tree.dotted(inner.func) != "jnp.expand_dims":
        return node
    first, outer = _axes(inner), _axes(node)
    if first is None or outer is None or len(outer) != 1:
        return node
    axis = outer[0]
    if all(a >= 0 for a in first) and axis >= 0:
        axes = sorted([axis, *(a if a < axis else a + 1 for a in first)])
    elif all(a < 0 for a in first) and axis < 0:  # what stands to the left of the new axis moves away from the end
        axes = sorted([axis, *(a if a > axis else a - 1 for a in first)])
    elif all(a >= 0 for a in first) and axis == -1 or all(a < 0 for a in first) and axis == 0:
        axes = sorted([axis, *first], key=lambda a: (a < 0, a))
    else:
        return node
    return tree.replace(inner, args=[inner.args[0], tree.replace(inner.args[1], value=tree.expression(repr(tuple(axes))))])


def _axes(call: Any) -> list[int] | None:
    """The literal axes of `jnp.expand_dims(x, axes)`."""
    if len(call.args) != 2 or call.args[1].keyword is not None:
        return None
    given = call.args[1].value
    parts = [e.value for e in given.elements] if isinstance(given, cst.Tuple) else [given]
    if not all(isinstance(p.expression if isinstance(p, cst.UnaryOperation) else p, cst.Integer) for p in parts):
        return None
    return [int(tree.code(p)) for p in parts]


def _is_made(node: Any) -> bool:
    """`jnp.zeros(shape)` or `jnp.zeros(shape, dtype=…)`."""
    return isinstance(node, cst.Call) and tree.dotted(node.func) in _MADE and [a.keyword and a.keyword.value for a in node.args] in ([None], [None, "dtype"])


def described(value: Any, attribute: str) -> Any:
    """The array itself in `lax.stop_gradient(x).dtype`, which a gradient has no part in."""
    if attribute in _OF_ANY and isinstance(value, cst.Call) and tree.dotted(value.func) == "lax.stop_gradient" and len(value.args) == 1:
        return value.args[0].value
    return value
