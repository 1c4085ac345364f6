"""Loops over the params of a module, `for name, p in m.named_parameters():`, and what they call each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import libcst as cst

from . import tree
from .context import Context
from .values import Module


@dataclass(frozen=True)
class ParameterWalk:
    """The module whose params a loop goes over, and the names of the loop for the name of a param and the param."""

    module: Any
    name: str
    p: str


def parameter_walk(context: Context, loop: cst.For) -> ParameterWalk | None:
    """Of a loop that goes over all params and takes each for itself; None for others: zipped, counted, left halfway."""
    over: Any = loop.iter
    if loop.orelse is not None or any(map(_breaks, tree.body_statements(loop))):
        return None
    value = context.value(over)
    if isinstance(value, Module) and value.classes and value.classes <= {"torch.nn.ParameterList"}:
        return ParameterWalk(over, "name", loop.target.value) if isinstance(loop.target, cst.Name) else None
    if not isinstance(over, cst.Call) or not isinstance(over.func, cst.Attribute) or over.args:
        return None  # `recurse=False`: those of the modules inside are left alone
    if over.func.attr.value == "parameters":
        return ParameterWalk(over.func.value, "name", loop.target.value) if isinstance(loop.target, cst.Name) else None
    names = [e.value for e in loop.target.elements] if isinstance(loop.target, cst.Tuple) else []
    if over.func.attr.value != "named_parameters" or not all(isinstance(n, cst.Name) for n in names) or len(names) != 2:
        return None
    return ParameterWalk(over.func.value, *(n.value for n in names))  # type: ignore[attr-defined]


def _breaks(node: Any) -> bool:
    """Whether a `break` or `return` below a statement of a loop leaves it."""
    if isinstance(node, (cst.Break, cst.Return)):
        return True
    if isinstance(node, (cst.For, cst.While)):
        return tree.returns(node)
    return not isinstance(node, (cst.FunctionDef, cst.ClassDef, cst.BaseExpression)) and any(map(_breaks, tree.children(node)))
