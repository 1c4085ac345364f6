"""What shows that a function runs outside of jit: it trains or evaluates a model, leaves the program, or keeps count on an object."""

from __future__ import annotations

from typing import Any

import libcst as cst

from . import tree
from .project import FunctionInfo

_TRAINING = frozenset({"backward", "zero_grad"})
_MODES = frozenset({"train", "eval"})
_LEAVING = frozenset({"exit", "quit", "sys.exit", "os._exit", "torch.save"})


def is_host_code(function: FunctionInfo) -> bool:
    """Whether a function does itself what no function under jit may."""
    return sets_attributes(function) or any(
        _is_outside_jit(c, function.self_name) for c in tree.nodes(function.node.body, cst.Call)
    )


def sets_attributes(function: FunctionInfo) -> bool:
    """Whether a method sets what outlives it on an object that is no module, whose attributes are state."""
    if function.name == "__init__" or function.owner is None or function.owner.is_module:
        return False
    targets: list[Any] = [t.target for n in tree.nodes(function.node.body, cst.Assign) for t in n.targets]
    targets += [n.target for n in tree.nodes(function.node.body, cst.AugAssign)]
    own = f"{function.self_name}."
    return any(
        isinstance(t, (cst.Attribute, cst.Subscript))
        and (tree.dotted(t.value if isinstance(t, cst.Subscript) else t) or "").startswith(own)
        for t in targets
    )


def _is_outside_jit(call: cst.Call, self_name: str | None) -> bool:
    """`loss.backward()`, `model.eval()`, `sys.exit(1)`"""
    func: Any = call.func
    if tree.dotted(func) in _LEAVING:
        return True
    if not isinstance(func, cst.Attribute):
        return False
    holder = tree.dotted(func.value)
    if func.attr.value in _MODES:
        return holder is not None and holder != self_name and len(call.args) <= 1
    return func.attr.value in _TRAINING and (holder is not None or isinstance(func.value, cst.BinaryOperation))
