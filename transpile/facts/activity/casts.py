"""Casts: torch gives the tensor itself where it has the dtype already, and a copy where it has
not.
"""

from __future__ import annotations

from ...model.expressions import Attribute, Call
from ...model.node import Expression, Node
from ..values.lattice import Static, Tensor, Torch

_CASTS = frozenset("float double half bfloat16 long int bool type type_as to".split())


def is_cast(node: Node) -> bool:
    """`x.float()`, `x.to(y.dtype)`; `x.to(device)` is x itself."""
    if not isinstance(node, Call) or not isinstance(node.function, Attribute):
        return False
    if node.function.name not in _CASTS:
        return False
    if node.function.name != "to":
        return True
    pairs = zip(node.keywords, node.arguments)
    return any(w in ("dtype", "other") if w else not _is_place(a) for w, a in pairs)


def _is_place(node: Expression) -> bool:
    value = node.value
    if isinstance(value, Static):
        return value.type in ("device", "str", "bool")
    return isinstance(value, Torch) and value.name == "torch.device"


def is_copy(node: Node) -> bool:
    """Whether a cast is certain to change the dtype: of an array of ints to floats."""
    if not is_cast(node):
        return False
    before, after = node.function.object.value, node.value  # type: ignore[attr-defined]
    if not isinstance(before, Tensor) or not isinstance(after, Tensor):
        return False
    return None not in (before.kind, after.kind) and before.kind != after.kind
