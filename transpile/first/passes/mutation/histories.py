"""Writes through `y.data` and `y.detach()`: they change the value of a tensor, and leave what its gradient comes from.

    y.data.add_(x)               y = nn.set_data(y, y + x)
    self.mean.data.add_(x)       state["mean"] = lax.stop_gradient(state["mean"] + x), for a buffer has no gradient
"""

from __future__ import annotations

from typing import Any

import libcst as cst

from ... import tree
from ...emit import call
from ...values import Tensor
from .frame import Frame


def is_detached(frame: Frame, node: Any) -> bool:
    """`y.data` and `y.detach()`, and views of them, in a function that computes with tensors."""
    while frame.mutations.carriers.concern(frame.info):
        if frame.is_data(node) or _is_detach(frame, node):
            return True
        if isinstance(node, cst.Subscript):
            node = node.value
        elif isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and node.func.attr.value in frame.views:
            node = node.func.value
        else:
            return False
    return False


def kept(frame: Frame, subject: Any, value: Any) -> Any:
    """The new value of a tensor that was written through its data, with the gradient that it has had."""
    if _place(frame, subject) == "params" or not frame.mutations.carriers.concern(frame.info):
        return value  # `submodules` gives it the gradient of the param
    if has_history(frame, subject):
        made = call(frame.context.name("set_data"), [subject, _attached(frame, value)])
    elif frame.carries(value):
        made = call("lax.stop_gradient", [_attached(frame, value)])
    else:
        return value
    frame.facts.carry(value, made)
    frame.facts.tell(made, Tensor())
    return made


def has_history(frame: Frame, subject: Any) -> bool:
    """Whether a tensor may have a gradient of its own: a buffer has none, nor has what is made of constants."""
    if isinstance(subject, cst.Attribute) and _place(frame, subject) is not None:
        return frame.mutations.carriers.becomes_part(subject, frame.info)
    return frame.carries(subject)


def _place(frame: Frame, subject: Any) -> str | None:
    return frame.mutations.carriers.where(subject, frame.info) if isinstance(subject, cst.Attribute) else None


def _is_detach(frame: Frame, node: Any) -> bool:
    return isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and node.func.attr.value == "detach" and frame.is_tensor(node.func.value)


def _attached(frame: Frame, value: Any) -> Any:
    """An expression that is made constant as a whole, without `.data` and `.detach()` in it."""

    def visit(node: Any) -> Any:
        if not frame.is_data(node) and not _is_detach(frame, node):
            return None
        inner = node.value if isinstance(node, cst.Attribute) else node.func.value
        return tree.rewrite(inner, visit)

    return tree.rewrite(value, visit)
