"""Loops that apply one layer after another: `for block in self.blocks: x = block(x, mask)`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import libcst as cst

from . import tree
from .dataflow import reads


@dataclass(frozen=True)
class Stack:
    """The container looped over, the name that goes through it, and what else each layer gets."""

    container: Any
    name: str
    rest: tuple[cst.Arg, ...]


def stack_of(node: cst.For) -> Stack | None:
    """The loop as a stack of layers, where its body is one call of the layer on its own result."""
    if node.orelse is not None or node.asynchronous is not None:
        return None
    body = tree.body_statements(node)
    line = body[0] if len(body) == 1 else None
    if not isinstance(line, cst.SimpleStatementLine) or len(line.body) != 1:
        return None
    small = line.body[0]
    if not isinstance(small, cst.Assign) or len(small.targets) != 1 or not isinstance(small.targets[0].target, cst.Name):
        return None
    name, call = small.targets[0].target.value, small.value
    looped = _looped(node)
    if looped is None or not isinstance(call, cst.Call) or not isinstance(call.func, cst.Name) or call.func.value != looped[0]:
        return None
    if not call.args or call.args[0].star or call.args[0].keyword is not None or tree.code(call.args[0].value) != name:
        return None
    rest = call.args[1:]
    changing = {name, *tree.target_names(node.target)}
    if any(a.star or changing & set(reads(a.value)) or any(isinstance(n, cst.Call) for n in tree.walk(a.value)) for a in rest):
        return None
    return Stack(looped[1], name, tuple(rest))


def _looped(node: cst.For) -> tuple[str, Any] | None:
    """The name of the layer, and the container: `for i, block in enumerate(blocks)` too."""
    if isinstance(node.target, cst.Name):
        return node.target.value, node.iter
    call = node.iter
    if isinstance(call, cst.Call) and tree.dotted(call.func) == "enumerate" and len(call.args) == 1:
        names = tree.target_names(node.target)
        return (names[1], call.args[0].value) if len(names) == 2 else None
    return None
