"""How constructors write the initial values of arrays: `nn.Parameter(value)`, `register_buffer("name", value)`."""

from __future__ import annotations

from typing import Any

import libcst as cst

from ... import tree


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
