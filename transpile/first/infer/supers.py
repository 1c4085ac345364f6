"""Calls through `super()`: of the user's methods, of torch's layers, and of what comes next after a mixin."""

from __future__ import annotations

from typing import Any

import libcst as cst

from ..project import ClassInfo, FunctionInfo
from ..values import NONE, UNKNOWN, Function, Method, Module, Tensor, Torch, Value
from . import containers, functions
from .frame import Argument, Frame


def is_super(node: Any) -> bool:
    return isinstance(node, cst.Call) and isinstance(node.func, cst.Name) and node.func.value == "super"


def through_super(node: cst.Call) -> bool:
    """Whether a call is `super().method(…)`."""
    return isinstance(node.func, cst.Attribute) and is_super(node.func.value)


def call(frame: Frame, node: cst.Call, method: str, args: list[Argument]) -> Value:
    """The result of `super().method(…)`; what it calls is told of its function."""
    info = frame.info.method if frame.info is not None else None
    if info is None or info.owner is None:
        return UNKNOWN
    target = info.owner.above(method)
    if isinstance(target, FunctionInfo):
        frame.facts.values[id(node.func)] = Function(target, info.owner, base=True)
        return functions.call_one(frame, target, args)
    if not info.owner.is_module:
        frame.facts.values[id(node.func)] = UNKNOWN
        return UNKNOWN
    return _of_layer(frame, node, info.owner, target or info.owner.torch_base(), method, args)


def _of_layer(
    frame: Frame, node: cst.Call, owner: ClassInfo, layer: str | None, method: str, args: list[Argument]
) -> Value:
    """The result of a method of the torch layer that a class extends; None as the layer is nn.Module itself."""
    facts = frame.facts
    if method == "__init__" and layer is not None:
        facts.values[id(node.func)] = Torch(f"{layer}.__init__")
        containers.fill_own(frame, owner, args)
        return NONE
    facts.values[id(node.func)] = Method(Module(frozenset([layer] if layer else [])), method)
    if method == "forward" and layer is not None:
        definition = facts.rulebook.layer(layer)
        return facts.results.call(definition) if definition is not None else Tensor()
    return NONE if method.startswith("__") else UNKNOWN
