"""An index of bytes is a mask in torch, and would be a list of places in JAX: `x[mask.byte()]` asks `mask.byte() != 0`."""

from __future__ import annotations

from typing import Any

import libcst as cst

from .. import tree
from ..context import Context
from ..truth import compared
from ..values import Tensor


def run(context: Context, module: cst.Module) -> cst.Module:
    """Make masks of the byte tensors that subscripts of one file take."""

    def before(node: Any) -> Any:
        value = context.value(node.value)
        if not isinstance(value, Tensor) or value.kind != "u":
            return None
        mask = compared(node.value, cst.NotEqual())
        context.facts.tell(mask, Tensor(kind="b"))
        return tree.replace(node, value=mask)

    return tree.rewrite(module, before, only={cst.Index})  # type: ignore[no-any-return]
