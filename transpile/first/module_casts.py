"""Where a module is put and of what dtype its params are: the first means nothing here, the second is said in the params.

    self.head = nn.Linear(3, 4).to(device)      ->      self.head = nn.Linear(3, 4)
    self.half()                                         a diagnostic: cast the params
"""

from __future__ import annotations

from typing import Any

import libcst as cst

from .apply import by_name
from .context import Context
from .values import NONE, Function, Static, Tensor, Torch, Value

CASTS = frozenset({"half", "bfloat16", "double", "float", "to", "type", "cuda", "cpu"})
_DTYPES = frozenset({"half", "bfloat16", "double"})
_SAME = ("jnp.float32", "jax.Array")
_ADVICE = "cast them with jax.tree.map"


def is_cast(context: Context, node: Any) -> bool:
    """`module.half()`, where that is torch's own method."""
    if not isinstance(node, cst.Call) or not isinstance(node.func, cst.Attribute) or node.func.attr.value not in CASTS:
        return False
    return context.facts.is_module(node.func.value) and not isinstance(context.value(node.func), Function)


def refused(context: Context, node: cst.Call) -> Any:
    """What raises in the place of a cast that makes params of another dtype; None where the module is left as it is."""
    changes = _changes(context, node)
    if changes:
        return context.unconverted("unsupported", node, f"the params are float32 here, as others are: {_ADVICE}")
    if changes is None:
        context.report("taken-for-granted", node, f"the params stay float32, as others are: where this is another dtype, {_ADVICE}")
    return None


def _changes(context: Context, node: Any) -> bool | None:
    """Whether a cast makes params of another dtype than is the default; None where only the run tells."""
    if node.func.attr.value in _DTYPES:
        return True
    if any(a.star for a in node.args):
        return None
    found = [_is_other(context, context.value(a.value), by_name(a.value)) for a in node.args if a.keyword is None or a.keyword.value in ("dtype", "other", "tensor", "dst_type")]
    return True if True in found else None if None in found else False


def _is_other(context: Context, value: Value, named: str | None) -> bool | None:
    """Whether an argument is another dtype than the default: of a device it is not asked."""
    if isinstance(value, Torch):
        dtype = context.rulebook.constant(f"{value.name}[dtype]") or context.rulebook.constant(value.name)
        return dtype not in _SAME and dtype is not None and dtype != "None"
    if isinstance(value, Static) and value.type == "dtype" or named == "Dtype" and value != NONE:
        return None
    return None if isinstance(value, Tensor) and not value.assumed and not value.param else False
