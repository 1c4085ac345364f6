"""Calls of modules and of the methods that nn.Module has."""

from __future__ import annotations

import libcst as cst

from ..project import ClassInfo
from ..rule_bodies import flags
from ..values import MISSING, NONE, UNKNOWN, Function, Method, Module, Sequence, Static, Tensor, Value, join, sequence
from . import containers, functions
from .frame import Argument, Env, Frame

_STRING = Static(MISSING, "str")
_SELF = frozenset(
    {"to", "cuda", "cpu", "eval", "train", "apply", "double", "float", "half", "requires_grad_"}
)  # they return it
_NAMED = {  # methods that yield the names too
    "items": "values",
    "named_children": "children",
    "named_modules": "modules",
    "named_parameters": "parameters",
    "named_buffers": "buffers",
}


def call(frame: Frame, module: Module, args: list[Argument]) -> Value:
    """The result of calling a submodule, joined over the classes that it may be of."""
    found: Value | None = None
    for ref in module.refs:
        forward = frame.facts.forward_of(ref)
        if forward is not None:
            found = join(found, functions.call_one(frame, forward, args))
        elif isinstance(ref, ClassInfo):
            found = join(found, Tensor(dims=1))
        else:
            found = join(found, _call_layer(frame, module, ref, args))
    if found is None or module.open:
        return found if isinstance(found, Tensor) else Tensor(assumed=True, dims=1)
    return found


def _call_layer(frame: Frame, module: Module, layer: str, args: list[Argument]) -> Value:
    facts = frame.facts
    if module.items and isinstance(module.items[-1][1], Module):
        return _call_in_order(frame, module.items, args)
    if not module.items and isinstance(module.element, Module):
        return call(frame, module.element, args)
    definition = facts.rulebook.layer(layer)
    if definition is not None and definition.name != "Identity":
        return facts.results.call(definition, module.flags, flags(facts.rulebook.call_parameters(definition), args))
    return args[0].value if args else Tensor()


def _call_in_order(frame: Frame, items: tuple[tuple[str, Value], ...], args: list[Argument]) -> Value:
    """What nn.Sequential returns: each takes what the one before it gives."""
    value: Value = UNKNOWN
    for _, item in items:
        if isinstance(item, Module):
            value = call(frame, item, args)
            args = [Argument(None, "", value)]
    return value


def call_method(frame: Frame, function: Method, args: list[Argument], node: cst.Call, env: Env) -> Value:
    """The result of a method of a module that no class of the user's has."""
    receiver, name = function.receiver, function.name
    assert isinstance(receiver, Module)
    if name in containers.GROWING:
        containers.grow(frame, node, receiver, name, args, env)
        return receiver
    if name == "apply" and args and isinstance(args[0].value, Function):
        functions.note_call(frame, args[0].value.info)
        functions.bind_arguments(frame, args[0].value.info, [Argument(None, "", Module(open=True))])
    if name in _SELF:
        return receiver
    if name == "forward":
        return call(frame, receiver, args)
    if name in containers.REGISTERS and receiver.is_self and frame.cls is not None and args:
        value = args[1].value if len(args) > 1 else NONE
        if isinstance(value, Tensor) or value == UNKNOWN:
            value = Tensor(param=True, none=isinstance(value, Tensor) and value.none)
        containers.set_named(frame, frame.cls, args[0], value)
        return NONE
    if name in containers.REGISTERS and receiver.is_bare and args and isinstance(node.func, cst.Attribute):
        containers.register(frame, node.func.value, receiver, name, args, env)
        return NONE
    return walked(receiver, name)


def walked(module: Module, name: str) -> Value:
    """What a method that goes over a module yields: its submodules, or its arrays, alone or with their names."""
    if name == "keys":
        return Sequence(_STRING)
    array, anything = Tensor(param=True), Module(open=True)
    held = module.element or anything
    alone: dict[str, Value] = {
        "modules": anything,
        "children": held,
        "values": held,
        "parameters": array,
        "buffers": array,
    }
    if name in alone:
        return Sequence(alone[name])
    if name in _NAMED:
        return Sequence(sequence([_STRING, alone[_NAMED[name]]], True))
    return UNKNOWN
