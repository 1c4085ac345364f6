"""Casts: torch gives the tensor itself where it has the dtype already, and a copy where it has not."""

from __future__ import annotations

from typing import Any

import libcst as cst

from . import tree
from .context import Context
from .values import Static, Tensor, Torch

_CASTS = frozenset("float double half bfloat16 long int bool type type_as to".split())
_FLOAT64 = ("torch.float64", "torch.double", "torch.DoubleTensor", "torch.cuda.DoubleTensor")
_INT32 = ("torch.int32", "torch.int", "torch.IntTensor", "torch.cuda.IntTensor")


def is_cast(context: Context, node: Any) -> bool:
    """`x.float()`, `x.to(y.dtype)`; `x.to(device)` is x itself."""
    if not isinstance(node, cst.Call) or not isinstance(node.func, cst.Attribute) or node.func.attr.value not in _CASTS:
        return False
    if node.func.attr.value != "to":
        return True
    return any(a.keyword is None and not _is_place(context, a.value) or a.keyword is not None and a.keyword.value in ("dtype", "other") for a in node.args)


def _is_place(context: Context, node: Any) -> bool:
    value = context.value(node)
    return isinstance(value, Static) and value.type in ("device", "str", "bool") or isinstance(value, Torch) and value.name == "torch.device"


def is_copy(context: Context, node: Any) -> bool:
    """Whether a cast is certain to change the dtype: of an array of ints to floats."""
    if not is_cast(context, node):
        return False
    before, after = context.value(node.func.value), context.value(node)
    return isinstance(before, Tensor) and isinstance(after, Tensor) and None not in (before.kind, after.kind) and before.kind != after.kind


def is_wide(context: Context, node: Any) -> bool:
    """`x.double()`, `x.to(torch.float64)`."""
    return node.func.attr.value == "double" or bool(_named(context, node) & set(_FLOAT64))


def _named(context: Context, node: Any) -> set[str]:
    return {getattr(context.value(a.value), "name", "") for a in node.args}


def kept(context: Context, node: Any, source: Any, made: Any) -> Any:
    """The test whether a cast gave the tensor itself, by names for it and for what was made of it; None where that is not known.

    Without 64 bit types JAX has one dtype for torch's int32 and int64: there `x.int()` does not tell what torch's x was.
    A float64 is made of something narrower, as far as is known.
    """
    if node.func.attr.value == "int" or _named(context, node) & set(_INT32):
        return None
    right: Any = tree.expression("jnp.float64") if is_wide(context, node) else _dtype(context, made)
    test = tree.expression("x == y")
    test = tree.replace(test, left=_dtype(context, source), comparisons=[tree.replace(test.comparisons[0], comparator=right)])
    context.facts.tell(test, Static(type="bool"))
    return test


def _dtype(context: Context, node: Any) -> cst.Attribute:
    made = cst.Attribute(node, cst.Name("dtype"))
    context.facts.tell(made, Static(type="dtype"))
    return made
