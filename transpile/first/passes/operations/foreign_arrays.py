"""What code outside a module's class gives to it: hooks, parameters and buffers, which none of its params and state hold."""

from __future__ import annotations

from typing import Any

import libcst as cst

from ...infer import REGISTERS
from ...values import UNKNOWN, External, Function, Module, Static, Tensor, Value
from .walk import Walk

_TABLES = ("_parameters", "_buffers", "_forward_hooks", "_forward_pre_hooks", "_backward_hooks")


def report_replaced(walk: Walk, node: cst.Call) -> None:
    """`setattr(model, name, Pool())`: calls of what stands there take what it takes, and no other layer."""
    values = [walk.context.value(a.value) for a in node.args]
    if len(values) != 3 or walk.context.value(node.func) != External("builtins.setattr") or not isinstance(values[2], Module):
        return
    known = isinstance(values[1], Static) and isinstance(values[1].const, str)
    if not known and _is_foreign(values[0]) and not (isinstance(values[0], Module) and values[0].element is not None):
        walk.context.report("taken-for-granted", node, "calls of this submodule are converted for what stood here before: what is put in its place must take the same of params, state, key and training")


def called(walk: Walk, node: cst.Call) -> Any:
    """`layer.register_forward_hook(f)`, `layer.register_parameter("weight_g", g)` and `setattr(layer, name, nn.Parameter(w))`, which raise; None for other calls."""
    if _gives_parameter(walk, node):
        return walk.unconverted("foreign-array", node, "setattr() gives a parameter under a computed name to a module that is not self: write the name out, or do it in the constructor of its class")
    if not isinstance(node.func, cst.Attribute) or isinstance(walk.context.value(node.func), Function):
        return None
    name = node.func.attr.value
    if name.startswith("register_") and name.endswith("_hook"):
        return walk.unconverted("hook", node, f"{name}() has nothing to hook into here: call the function where it would run, or see to gradients by jax.custom_vjp")
    if name in REGISTERS and _is_foreign(walk.context.value(node.func.value)):
        return walk.unconverted("foreign-array", node, f"{name}() gives an array to a module that is not self: register it in the constructor of a class of its own")
    return None


def _gives_parameter(walk: Walk, node: cst.Call) -> bool:
    """`setattr(self.lin, name, nn.Parameter(w))`: `init` of that module would not know of it. A name that is written out is an assignment."""
    if walk.context.value(node.func) != External("builtins.setattr") or len(node.args) != 3:
        return False
    holder, _, given = (walk.context.value(a.value) for a in node.args)
    return isinstance(given, Tensor) and given.param and _is_foreign(holder)


def table(walk: Walk, node: cst.Attribute) -> Any:
    """`del layer._parameters["weight"]`: a table of torch's that no module has here, which raises; None for other attributes."""
    if node.attr.value not in _TABLES or not _is_foreign(walk.context.value(node.value)):
        return None
    return walk.unconverted("foreign-array", node, f"modules have no {node.attr.value} here: what they hold is in params and state")


def _is_foreign(value: Value) -> bool:
    """Whether this is a module, or may be one, but neither the self of a method nor a bare one, which holds what is put into it."""
    return value == UNKNOWN or isinstance(value, Module) and not value.is_self and not value.is_bare or isinstance(value, Tensor) and value.assumed
