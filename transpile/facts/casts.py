"""Casts: torch gives the tensor itself where it has the dtype already, and a copy where it has
not."""

from typing import Any, TypeGuard

from ..model.expressions import Attribute, Call
from .values.lattice import Static, Tensor, Torch

_CASTS = frozenset("float double half bfloat16 long int bool type type_as to".split())
_INT32 = ("torch.int32", "torch.int", "torch.IntTensor", "torch.cuda.IntTensor")


def is_cast(node: Any) -> TypeGuard[Call]:
    """`x.float()`, `x.to(y.dtype)`; `x.to(device)` is x itself."""
    if not isinstance(node, Call) or not isinstance(node.function, Attribute):
        return False
    if node.function.name not in _CASTS:
        return False
    if node.function.name != "to":
        return True
    given = zip(node.keywords, node.arguments)
    return any(w in ("dtype", "other") if w else not _is_place(a) for w, a in given)


def _is_place(node: Any) -> bool:
    value = node.value
    if isinstance(value, Static):
        return value.type in ("device", "str", "bool")
    return isinstance(value, Torch) and value.name == "torch.device"


def is_copy(node: Any) -> bool:
    """Whether a cast is certain to change the dtype: of an array of ints to floats."""
    if not is_cast(node) or not isinstance(node.function, Attribute):
        return False
    before, after = node.function.object.value, node.value
    if not isinstance(before, Tensor) or not isinstance(after, Tensor):
        return False
    return None not in (before.kind, after.kind) and before.kind != after.kind


def tells(node: Call) -> bool:
    """Whether dtypes show, when it runs, if a cast made a copy.

    Without 64 bit types JAX has one dtype for torch's int32 and int64: there `x.int()` does not
    tell what torch's x was.
    """
    named = {getattr(a.value, "name", "") for a in node.arguments}
    last = node.function.name if isinstance(node.function, Attribute) else ""
    return last != "int" and named.isdisjoint(_INT32)
