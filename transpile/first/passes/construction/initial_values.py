"""How constructors write the initial values of arrays: `nn.Parameter(value)`, `register_buffer("name", value)`."""

from __future__ import annotations

from typing import Any

import libcst as cst

from ... import tree
from ...arrays import registered_value
from ...context import Context
from ...values import Tensor, Torch


def parameter_call(node: Any) -> Any:
    """The initial value in `nn.Parameter(value)`, else None."""
    if isinstance(node, cst.Call) and tree.dotted(node.func) == "nn.Parameter":
        first = next((a.value for a in node.args if a.keyword is None or a.keyword.value == "data"), None)
        return first if first is not None else tree.expression("jnp.zeros(0)")
    return None


def initial_value(node: Any) -> Any:
    """What an attribute starts as: the value in `nn.Parameter(value)`, or the value itself."""
    inner = parameter_call(node)
    return inner if inner is not None else node


def holds_parameter(node: cst.CSTNode) -> bool:
    """Whether `nn.Parameter(…)` is called in a piece of code."""
    return any(tree.dotted(n.func) == "nn.Parameter" for n in tree.nodes(node, cst.Call))


def shared(context: Context, node: Any) -> str | None:
    """The local whose memory an attribute is given, by a line or as a value: `self.mask = mask`, `nn.Parameter(w.t())`."""
    small = tree.only_small(node) or node
    if isinstance(small, (cst.Assign, cst.Return)):
        small = small.value
    if isinstance(small, cst.Expr) and isinstance(small.value, cst.Call):
        small = registered_value(small.value)
    value: Any = context.facts.origin.get(id(small), small)
    views = context.rulebook.table("VIEWS")
    while not isinstance(value, cst.Name):
        name = value.func.attr.value if isinstance(value, cst.Call) and isinstance(value.func, cst.Attribute) else ""
        if name in ("Parameter", "asarray") or name in views and isinstance(context.value(value.func), Torch):
            value = value.args[0].value if value.args else None
        elif name in views:
            value = value.func.value
        elif isinstance(value, cst.Subscript) and isinstance(context.value(value.value), Tensor) or isinstance(value, cst.Attribute) and value.attr.value in views:
            value = value.value
        else:
            return None
    return None if value.value == "None" else value.value


def is_none(node: Any) -> bool:
    """Whether an expression is `None` itself."""
    return isinstance(node, cst.Name) and node.value == "None"


def written_text(node: Any) -> str | None:
    """A string that is written out."""
    value = tree.literal(node) if isinstance(node, cst.SimpleString) else None
    return value if isinstance(value, str) else None


def registered_name(node: cst.Call) -> str | None:
    """The name in `register_buffer("mask", …)` or `register_parameter`, where it is written out."""
    return written_text(node.args[0].value) if node.args else None
