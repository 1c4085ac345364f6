"""Indices of tensors, and the choice of one of several results: `x.max(1)[0]`."""

from __future__ import annotations

from typing import Any

import libcst as cst

from ... import tree
from ...apply import Argument, Refused, apply
from ...truth import moving, window
from ...values import Method, Sequence, Tensor, Torch
from . import methods
from .walk import Walk

PAIR = {"0": "[0]", "1": "[1]", "values": ".values", "indices": ".indices"}


def picked(walk: Walk, node: cst.Subscript) -> Any:
    """`x.max(1)[0]`: a rule for the first result alone, where there is one."""
    if not isinstance(node.value, cst.Call) or len(node.slice) != 1 or not isinstance(node.slice[0].slice, cst.Index):
        return None
    index = node.slice[0].slice.value
    if not isinstance(index, cst.Integer) or index.value not in ("0", "1"):
        return None
    return _pick(walk, node, node.value, PAIR[index.value])


def picked_attribute(walk: Walk, node: cst.Attribute) -> Any:
    """`x.max(1).values`"""
    if isinstance(node.value, cst.Call) and node.attr.value in ("values", "indices"):
        return _pick(walk, node, node.value, PAIR[node.attr.value])
    return None


def _pick(walk: Walk, node: Any, call: cst.Call, suffix: str) -> Any:
    value = walk.context.value(call.func)
    arguments: list[Argument] = []
    if isinstance(value, Torch):
        name = value.name
    elif isinstance(value, Method) and isinstance(call.func, cst.Attribute) and (isinstance(value.receiver, Tensor) or methods.is_tensor_like(walk, value, call)):
        name = "torch.Tensor." + value.name
    else:
        return None
    definitions = walk.context.rulebook.find(name + suffix)
    if not definitions:
        return None
    if isinstance(value, Method) and isinstance(call.func, cst.Attribute):
        arguments = [Argument(walk.convert(call.func.value), Tensor())]
    arguments += walk.arguments(call)
    try:
        new = apply(walk.context, definitions, arguments)
    except Refused:
        return None
    walk.tell_size(node, definitions, name, arguments)
    return walk.done(node, new)


def _window(walk: Walk, node: cst.Subscript, places: list[int]) -> Any:
    """`x[:, i : i + n]` where only the data tells i."""
    part = window(node.slice[places[0]].slice)
    if len(places) != 1 or part is None or not all(tree.code(e.slice) == ":" for i, e in enumerate(node.slice) if i != places[0]):
        return walk.unconverted("data-dependent-shape", node, "a slice whose length follows from data")
    args = [cst.Arg(walk.convert(node.value)), *(cst.Arg(walk.convert(p)) for p in part), cst.Arg(cst.Integer(str(places[0])))]
    return walk.done(node, tree.replace(tree.expression("lax.dynamic_slice_in_dim()"), args=args))


def _is_mask(walk: Walk, element: cst.SubscriptElement) -> bool:
    value = walk.context.value(element.slice.value) if isinstance(element.slice, cst.Index) else None
    return isinstance(value, Tensor) and value.kind == "b" and not value.number


def index(walk: Walk, node: cst.Subscript) -> Any:
    """A list as an index is an index array."""
    base = walk.context.value(node.value)
    if not isinstance(base, Tensor):
        return None
    places = moving(walk.context, node.slice) if walk.runs else []
    if places:
        return _window(walk, node, places)
    if walk.is_traced() and any(_is_mask(walk, element) for element in node.slice):
        walk.context.report("data-dependent-shape", node, "a mask chooses as much as the data make of it, which jax.jit cannot know")
    elements = []
    changed = False
    for element in node.slice:
        part = element.slice
        if isinstance(part, cst.Index) and isinstance(part.value, cst.List):
            array = tree.expression("jnp.array()")
            array = tree.replace(array, args=[cst.Arg(walk.convert(part.value))])
            elements.append(tree.replace(element, slice=tree.replace(part, value=array)))
            changed = True
        elif isinstance(part, cst.Index) and isinstance(walk.context.value(part.value), Sequence) and not isinstance(part.value, cst.Tuple):
            held = walk.context.value(part.value)
            assert isinstance(held, Sequence)
            if held.tuple:
                elements.append(element)
                continue
            array = tree.replace(tree.expression("jnp.array()"), args=[cst.Arg(walk.convert(part.value))])
            elements.append(tree.replace(element, slice=tree.replace(part, value=array)))
            changed = True
        else:
            elements.append(element)
    if not changed:
        return None
    new = tree.replace(node, slice=elements)
    walk.context.facts.carry(node, new)
    return walk.children(new)
