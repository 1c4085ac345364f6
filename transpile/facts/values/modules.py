"""Calls of modules and of the methods that nn.Module has."""

import dataclasses

from ...model import program
from ...model.expressions import Attribute, Call
from . import containers, functions
from .attribute_names import ORDINARY
from .call_flags import flags
from .frame import Argument, Env, Frame
from .joins import join, sequence
from .lattice import BOOL, NONE, STRING, UNKNOWN, Function, Method, Module, Sequence, Tensor, Value

_SELF = frozenset("to cuda cpu eval train apply double float half requires_grad_".split())
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
    held: Value | None = None  # asked once, of whichever containers it may be: they nest
    for ref in module.refs:
        if isinstance(ref, program.Class):
            forward = frame.facts.project.find(ref, "forward")
            plain = Tensor(dims=1)
            result = plain if forward is None else functions.call_one(frame, forward, args)
            found = join(found, result)
        else:
            held = held or _call_held(frame, module, args)
            found = join(found, held or _call_layer(frame, module, ref, args))
    if found is None or module.open:
        return found if isinstance(found, Tensor) else Tensor(assumed=True, dims=1)
    return found


def _call_held(frame: Frame, module: Module, args: list[Argument]) -> Value | None:
    """The result of calling a container, by what it holds."""
    if module.items and isinstance(module.items[-1][1], Module):
        return _call_in_order(frame, module.items, args)
    if not module.items and isinstance(module.element, Module):
        return call(frame, module.element, args)
    return None


def _call_layer(frame: Frame, module: Module, layer: str, args: list[Argument]) -> Value:
    facts = frame.facts
    definition = facts.rulebook.layer(layer)
    if definition is not None and definition.name != "Identity":
        given = flags(facts.results.call_parameters(definition), args)
        return facts.results.call(definition, module.flags, given)
    return args[0].value if args else Tensor()


def _call_in_order(
    frame: Frame, items: tuple[tuple[str, Value], ...], args: list[Argument]
) -> Value:
    """What nn.Sequential returns: each takes what the one before it gives."""
    value: Value = UNKNOWN
    for _, item in items:
        if isinstance(item, Module):
            value = call(frame, item, args)
            args = [Argument(None, "", value)]
    return value


def is_of_modules(frame: Frame, method: Attribute) -> bool:
    """Whether modules of the project alone have a method of this name, no tensors, and one that
    can be called as it is here."""
    name, call, project = method.name, method.parent, frame.facts.project
    owners = frame.facts.owners.get(name, [])
    if not owners or name in ORDINARY or name.startswith("__"):
        return False
    if frame.facts.rulebook.find("torch.Tensor." + name):
        return False
    if isinstance(call, Call) and call.function is method:
        owners = [c for c in owners if project.accepts(project.methods(c)[name], call)]
    return bool(owners) and all(
        project.is_module(c) and not project.is_property(project.methods(c)[name]) for c in owners
    )


def call_method(
    frame: Frame, function: Method, args: list[Argument], node: Call, env: Env
) -> Value:
    """The result of a method of a module that no class of the user's has."""
    receiver, name = function.receiver, function.name
    assert isinstance(receiver, Module)
    if name in containers.GROWING:
        containers.grow(frame, node, receiver, name, args, env)
        return receiver
    if name == "apply" and args and isinstance(args[0].value, Function):
        functions.note_call(frame, args[0].value.function)
        given = [Argument(None, "", Module(open=True))]
        functions.bind_arguments(frame, args[0].value.function, given)
    if name in _SELF:
        return receiver
    if name == "forward":
        return call(frame, receiver, args)
    if name in containers.REGISTERS and args:
        if receiver.is_self and frame.cls is not None:
            value = args[1].value if len(args) > 1 else NONE
            if isinstance(value, Tensor):
                plain = Tensor(none=value.none, kind=value.kind, param=True, width=value.width)
                kept = name == "register_buffer"
                value = dataclasses.replace(
                    plain, dims=value.dims, single=value.single, buffer=kept
                )
            elif value in (UNKNOWN, BOOL):  # `mask > 0` of what nothing is known of
                value = Tensor(param=True, kind="b" if value == BOOL else None)
            containers.set_named(frame, frame.cls, args[0], value)
            return NONE
        if receiver.is_bare and isinstance(node.function, Attribute):
            containers.register(frame, node.function.object, receiver, name, args, env)
            return NONE
    return walked(receiver, name)


def walked(module: Module, name: str) -> Value:
    """What a method that goes over a module yields: its submodules, or its arrays, and names."""
    if name == "keys":
        return Sequence(STRING)
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
        return Sequence(sequence([STRING, alone[_NAMED[name]]], True))
    return UNKNOWN
