"""Tensors made of one number: beside an array of their kind they do not count in torch, as Python's numbers do not in JAX."""

from __future__ import annotations

from typing import Any

import libcst as cst

from ...values import Static, Tensor, Torch, is_traced
from .walk import Walk


def mark(walk: Walk, node: Any) -> None:
    """Note the numbers that meet an array in an operation: `x * torch.tensor(2.0)`, `torch.where(m, x, torch.tensor(0.0))`."""
    if isinstance(node, cst.BinaryOperation):
        sides = [node.left, node.right]
    else:
        called = walk.context.value(node.func)
        meeting = isinstance(called, Torch) and called.name in walk.context.rulebook.table("MEETING")
        sides = [a.value for a in node.args[-2:] if a.keyword is None and not a.star] if meeting else []
    if len(sides) == 2:
        for one, other in (sides, sides[::-1]):
            if is_traced(walk.context.value(other)) and not _is_number(walk, other):
                _add(walk, one)


def _add(walk: Walk, node: Any) -> None:
    while _is_number(walk, node):
        walk.beside[id(node)] = node
        node = node.args[0].value


def _is_number(walk: Walk, node: Any) -> bool:
    """Whether an expression makes a tensor of one number, or computes with such a one alone: `torch.sqrt(torch.tensor(2.0))`."""
    name = walk.torch_name(node.func) if isinstance(node, cst.Call) and node.args else None
    if name is None or not walk.context.rulebook.find(f"{name}[beside]") or node.args[0].keyword is not None or node.args[0].star:
        return False
    made = walk.context.value(node)
    floating = isinstance(made, Tensor) and made.kind == "f"
    if any(a.keyword is None or a.keyword.value != "dtype" or not floating for a in node.args[1:]):
        return False
    value = walk.context.value(node.args[0].value)
    return isinstance(value, Static) and value.type in ("int", "float") or _is_number(walk, node.args[0].value)
