"""Indices that torch takes and JAX does not, or takes for another thing.

An index of bytes is a mask in torch, and would be a list of places in JAX: `x[mask.byte()]` asks `mask.byte() != 0`. A range is a list
of places: `x[range(n), range(n)]` is `x[jnp.arange(n), jnp.arange(n)]`. `x[mask, :, :]` is `x[mask]`, as the passes after this one know masks.
"""

from __future__ import annotations

from typing import Any

import libcst as cst

from .. import tree
from ..context import Context
from ..emit import call
from ..truth import compared
from ..values import Static, Tensor


def run(context: Context, module: cst.Module) -> cst.Module:
    """Make masks of the byte tensors that subscripts of one file take, and arrays of the ranges."""

    def before(node: Any) -> Any:
        if isinstance(node, cst.Subscript):
            if (alone := _alone(context, node)) is not node:
                return tree.rewrite(alone, before, only={cst.Index, cst.Subscript})
            return _with_places(context, node, lambda inner: tree.rewrite(inner, before, only={cst.Index, cst.Subscript}))
        value = context.value(node.value)
        if not isinstance(value, Tensor) or value.kind != "u":
            return None
        mask = compared(node.value, cst.NotEqual())
        context.facts.tell(mask, Tensor(kind="b"))
        return tree.replace(node, value=mask)

    return tree.rewrite(module, before, only={cst.Index, cst.Subscript})  # type: ignore[no-any-return]


def _alone(context: Context, node: cst.Subscript) -> cst.Subscript:
    """An index by a mask without the whole dims after it: `x[mask, :, :]`, `x[mask, ...]`."""
    mask = context.value(node.slice[0].slice.value) if isinstance(node.slice[0].slice, cst.Index) else None
    if not isinstance(mask, Tensor) or mask.kind not in ("b", "u") or mask.number or len(node.slice) == 1 or not isinstance(context.value(node.value), Tensor):
        return node
    if any(tree.code(e.slice).strip() not in (":", "...") for e in node.slice[1:]):
        return node
    new = tree.replace(node, slice=[tree.replace(node.slice[0], comma=cst.MaybeSentinel.DEFAULT)])
    context.facts.carry(node, new)
    return new


def _with_places(context: Context, node: cst.Subscript, convert: Any) -> Any:
    """The subscript of a tensor with arrays for its ranges; None where it has none."""
    places = [_places(context, element) for element in node.slice]
    if not isinstance(context.value(node.value), Tensor) or not any(p is not None for p in places):
        return None
    elements = [
        convert(element) if place is None else tree.replace(element, slice=tree.replace(element.slice, value=place)) for element, place in zip(node.slice, places)
    ]
    new = tree.replace(node, value=convert(node.value), slice=elements)
    context.facts.carry(node, new)
    return new


def _places(context: Context, element: cst.SubscriptElement) -> Any:
    """The array of places that a range in an index stands for."""
    index: Any = element.slice.value if isinstance(element.slice, cst.Index) else None
    value = context.value(index) if index is not None else None
    if not isinstance(value, Static) or value.type != "range":
        return None
    made = tree.replace(index, func=tree.expression("jnp.arange")) if isinstance(index, cst.Call) and tree.dotted(index.func) == "range" else call("jnp.array", [index])
    context.facts.tell(made, Tensor(kind="i"))
    return made
