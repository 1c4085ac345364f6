"""Calls, by what is called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import libcst as cst

from .. import tree
from ..callgraph import reachable
from ..project import ClassInfo
from ..values import (
    ARRAY_TYPE,
    FUNCTION,
    UNKNOWN,
    Class,
    External,
    Function,
    Method,
    Module,
    Sequence,
    Static,
    Tensor,
    Torch,
    Value,
    element_of,
)
from . import constructors, functions, methods, modules, python_calls, supers, torch_calls
from .frame import Argument, Env, Frame, Handlers

_CHECKPOINT = "torch.utils.checkpoint.checkpoint"
_Caller = Callable[[Frame, Any, list[Argument], cst.Call, Env], Value]


def _call(frame: Frame, node: cst.Call, env: Env) -> Value:
    super_itself = supers.is_super(node)
    function = frame.expression(node.func, env) if not super_itself else UNKNOWN
    args = [
        Argument(a.keyword.value if a.keyword else None, a.star, frame.expression(a.value, env), a.value)
        for a in node.args
    ]
    if super_itself:
        return External("super")
    if isinstance(node.func, cst.Attribute):
        if supers.is_super(node.func.value):
            return supers.call(frame, node, node.func.attr.value, args)
        if function == UNKNOWN or isinstance(function, Method) and function.receiver == UNKNOWN:
            if _may_be_made(frame, node.func):
                return Module(open=True)
            function = _as_module(frame, node.func) or _forward_of(frame, node.func) or function
    elif isinstance(node.func, cst.Name) and function == UNKNOWN and _names_attributes(frame, node.func.value):
        function = Module(open=True)
        frame.facts.values[id(node.func)] = function
    by_value: _Caller = _BY_VALUE.get(function.__class__, _unknown)
    return by_value(frame, function, args, node, env)


HANDLERS: Handlers = {cst.Call: _call}


def _on_self(frame: Frame, func: cst.Attribute) -> ClassInfo | None:
    """The class of self, if what is called is an attribute of it."""
    owner = frame.facts.of(func.value)
    return frame.cls if isinstance(owner, Module) and owner.is_self else None


def _may_be_made(frame: Frame, func: cst.Attribute) -> bool:
    """Whether an attribute of self that is called may hold a class of modules."""
    cls = _on_self(frame, func)
    return cls is not None and any((c, func.attr.value) in frame.facts.makers for c in cls.family())


def _as_module(frame: Frame, func: cst.Attribute) -> Module | None:
    """An attribute of self, of unknown make, that is called: a module, or a function to be wrapped in one."""
    facts, cls, name = frame.facts, _on_self(frame, func), func.attr.value
    if cls is None or facts.attribute(cls, name) is None:
        return None
    module = Module(open=True)
    facts.values[id(func)] = module
    facts.wrapped.add((cls, name))
    return module


def _forward_of(frame: Frame, func: cst.Attribute) -> Method | None:
    """`self.loss.forward(x)` of an attribute of unknown make: it is a module's."""
    if func.attr.value != "forward" or not isinstance(func.value, cst.Attribute) or any(not c.is_module for c in frame.facts.owners.get("forward", [])):
        return None
    module = _as_module(frame, func.value)
    if module is None:
        return None
    method = Method(module, "forward")
    frame.facts.values[id(func)] = method
    return method


def _names_attributes(frame: Frame, name: str) -> bool:
    """Whether a name that is called stands for attributes of unknown make: `rnn = self.back if reverse else self.front`."""
    facts, info, cls = frame.facts, frame.info, frame.cls
    if info is None or cls is None or info.name == "__init__" or not info.self_name or frame.foreign:
        return False
    found: set[str] = set()
    for assignment in tree.scope_nodes(info.node.body, cst.Assign):
        if name in tree.names_assigned(assignment):
            sides = _sides(assignment.value)
            if not all(isinstance(side, cst.Attribute) and tree.dotted(side.value) == info.self_name for side in sides):
                return False
            found |= {side.attr.value for side in sides}
    if not found or not all(facts.attribute(cls, n) == UNKNOWN for n in found):
        return False
    if info in reachable(facts.calls, [c.methods["__init__"] for c in cls.family() if "__init__" in c.methods]):
        return False  # `norm_layer = self._norm_layer` of a class
    facts.wrapped |= {(cls, n) for n in found}
    return True


def _sides(value: Any) -> list[Any]:
    """What an expression may be: both sides of a choice."""
    return [*_sides(value.body), *_sides(value.orelse)] if isinstance(value, cst.IfExp) else [value]


def _torch(frame: Frame, function: Torch, args: list[Argument], node: cst.Call, env: Env) -> Value:
    called = args[0].value if function.name == _CHECKPOINT and args else None
    rest = [a for a in args[1:] if a.keyword is None]
    if isinstance(called, Module):
        return modules.call(frame, called, rest)
    if isinstance(called, Function) and not called.base:
        return functions.call(frame, called, rest)
    return torch_calls.call(frame, function.name, args, node)


def _class(frame: Frame, function: Class, args: list[Argument], node: cst.Call, env: Env) -> Value:
    return constructors.construct(frame, function, args)


def _module(frame: Frame, function: Module, args: list[Argument], node: cst.Call, env: Env) -> Value:
    if _is_class(frame, function, args, node):
        return Module(open=True)
    return modules.call(frame, function, args)


def _is_class(frame: Frame, function: Module, args: list[Argument], node: cst.Call) -> bool:
    """Whether what a constructor takes for a module by its annotation makes one: `conv: nn.Module`, `self.fc = conv(n, n, 3)`."""
    constructing = frame.info is not None and frame.info.name == "__init__" and isinstance(node.func, cst.Name)
    return constructing and function.open and not function.classes and not any(isinstance(a.value, Tensor) for a in args)


def _function(frame: Frame, function: Function, args: list[Argument], node: cst.Call, env: Env) -> Value:
    if function.base and function.info.owner is not None and not supers.through_super(node):
        args = args[1:]  # Base.method(self, …)
    return functions.call(frame, function, args)


def _external(frame: Frame, function: External, args: list[Argument], node: cst.Call, env: Env) -> Value:
    if function.name == "builtins.map" and len(args) > 1:
        return Sequence(_of_each(frame, args, env))
    return python_calls.call(frame, function.name, args)


def _of_each(frame: Frame, args: list[Argument], env: Env) -> Value:
    """What `map(f, xs, ys)` gives, where that is a tensor."""
    function, given = args[0], [element_of(a.value) for a in args[1:]]
    found: Value = UNKNOWN
    if isinstance(function.node, cst.Lambda):
        found = functions.of_lambda(frame, function.node, env, given)
    elif isinstance(function.value, Function) and all(isinstance(value, Tensor) for value in given):
        found = functions.call(frame, function.value, [Argument(None, "", value) for value in given])
    return found if isinstance(found, Tensor) else UNKNOWN


def _tensor(frame: Frame, function: Tensor, args: list[Argument], node: cst.Call, env: Env) -> Value:
    return UNKNOWN


def _unknown(frame: Frame, function: Value, args: list[Argument], node: cst.Call, env: Env) -> Value:
    """What an unknown function returns is taken for a tensor where it is given one."""
    if isinstance(function, Static) and function in (ARRAY_TYPE, FUNCTION):
        return Tensor()
    constructing = frame.info is not None and frame.info.name == "__init__"
    if constructing and isinstance(node.func, cst.Name) and constructors.inplace(args):
        return Module(open=True, inplace=True)  # `act_layer(inplace=True)` of a class that is handed in
    if constructing or any(isinstance(a.value, Module) for a in args):
        return UNKNOWN
    return Tensor(assumed=True) if any(isinstance(a.value, Tensor) for a in args) else UNKNOWN


_BY_VALUE: dict[type, _Caller] = {
    Torch: _torch,
    Class: _class,
    Module: _module,
    Function: _function,
    Method: methods.call,
    External: _external,
    Tensor: _tensor,
}
