"""Calls of methods: of lists, dicts, numbers and classes by what Python does."""

import dataclasses
from collections.abc import Callable
from typing import Any

from ...model import program
from ...model.expressions import Attribute, Call, Name
from . import container_aliases, distributions, functions, modules, tensor_methods
from .assignments import store
from .attribute_names import MEANS
from .frame import Argument, Env, Frame
from .joins import join, sequence
from .lattice import (
    BACKWARD_CONTEXT,
    INT,
    NONE,
    NUMPY,
    PLACED,
    STRING,
    UNKNOWN,
    Class,
    Instance,
    Mapping,
    Method,
    Module,
    Sequence,
    Static,
    Tensor,
    Value,
    classes_of,
    element_of,
    holds_module,
)

# Methods that give a string.
_STRINGS = frozenset(
    "format join lower upper title capitalize replace strip lstrip rstrip removeprefix"
    " removesuffix zfill ljust rjust center".split()
)
_LONGEST = 64  # of a list that is grown item by item


def call(frame: Frame, function: Method, args: list[Argument], node: Call, env: Env) -> Value:
    """The result of a method, by what its receiver is."""
    by_receiver: _Called = _BY_RECEIVER.get(function.receiver.__class__, tensor_methods.call)
    return by_receiver(frame, function, args, node, env)


# --- lists ---------------------------------------------------------------------------------------


def _of_sequence(
    frame: Frame, function: Method, args: list[Argument], node: Call, env: Env
) -> Value:
    receiver, name = function.receiver, function.name
    assert isinstance(receiver, Sequence)
    target = node.function.object if isinstance(node.function, Attribute) else None
    if name in ("append", "insert", "extend", "appendleft") and args:
        if target is not None:
            given = args[-1].value
            added = element_of(given) if name == "extend" else given
            container_aliases.note(frame, target, receiver, added)
            store(frame, target, _grown(receiver, name, added), env)
        return NONE
    if name in ("pop", "popleft"):
        if target is not None and receiver.items is not None:
            store(frame, target, Sequence(receiver.element), env)
        return receiver.element
    if name in ("index", "count"):
        return INT
    return receiver if name == "copy" else UNKNOWN


def _grown(old: Sequence, name: str, added: Value) -> Sequence:
    empty = old.items == () or (old.element == UNKNOWN and old.items is None)
    items = None
    if name == "append" and old.items is not None and len(old.items) < _LONGEST:
        items = (*old.items, added)
    held = join(None if empty else old.element, added)
    return Sequence(held, items, False, sites=old.sites)


# --- dicts ---------------------------------------------------------------------------------------


def _of_mapping(
    frame: Frame, function: Method, args: list[Argument], node: Call, env: Env
) -> Value:
    receiver, name = function.receiver, function.name
    assert isinstance(receiver, Mapping)
    if name == "get":
        return join(receiver.element, args[1].value if len(args) > 1 else NONE)
    if name == "pop":
        return receiver.element
    if name in ("update", "setdefault") and args:
        return _filled(receiver, name, args, node, env, frame)
    if name == "values":
        return Sequence(receiver.element)
    if name == "items":
        return Sequence(sequence([STRING, receiver.element], True))
    if name == "keys":
        return Sequence(STRING)
    return receiver if name == "copy" else UNKNOWN


def _filled(
    receiver: Mapping, name: str, args: list[Argument], node: Call, env: Env, frame: Frame
) -> Value:
    """`d.update(a=x)`, `d.update({"a": x})` and `d.setdefault("a", x)`: the dict holds x too."""
    held: Value | None = receiver.element if receiver.element != UNKNOWN else None
    if name == "setdefault":
        given = [args[1].value] if len(args) > 1 else [NONE]
    else:
        given = [_held(a) for a in args]
    for value in given:
        held = join(held, value)
    words = any(a.keyword in PLACED for a in args)
    others = any(isinstance(a.value, Mapping) and a.value.placed for a in args)
    target = node.function.object if isinstance(node.function, Attribute) else None
    if isinstance(target, Name):
        placed = receiver.placed or words or others
        container_aliases.note(frame, target, receiver, held or UNKNOWN)
        grown = dataclasses.replace(receiver, element=held or UNKNOWN, placed=placed)
        store(frame, target, grown, env)
    return NONE if name == "update" else held or UNKNOWN


def _held(argument: Argument) -> Value:
    """What an argument of `update` puts into a dict."""
    if isinstance(argument.value, Mapping):
        return argument.value.element
    return UNKNOWN if argument.keyword is None or argument.star else argument.value


# --- others --------------------------------------------------------------------------------------


def _of_static(frame: Frame, function: Method, args: list[Argument], node: Call, env: Env) -> Value:
    receiver, name = function.receiver, function.name
    assert isinstance(receiver, Static)
    if receiver.type == "shape" and name == "numel" or receiver.type == "int" and name == "item":
        return INT
    if receiver == NUMPY:
        if name == "tolist":
            return Sequence(UNKNOWN)
        wide = name in MEANS and not args
        return Static() if name == "item" else dataclasses.replace(NUMPY, wide=wide)
    if receiver.type == "str" and name in _STRINGS:
        return STRING
    return Static() if receiver.type else UNKNOWN


def _of_class(frame: Frame, function: Method, args: list[Argument], node: Call, env: Env) -> Value:
    """`Round.apply(x)` of a torch.autograd.Function calls its forward; of a choice that of each."""
    assert isinstance(function.receiver, Class)
    project = frame.facts.project
    classes = [c for c in classes_of(function.receiver) if isinstance(c, program.Class)]
    found: Value | None = None
    forwards = [f for c in classes if (f := project.find(c, "forward")) is not None]
    # it gets modules without params
    given = [a._replace(value=UNKNOWN) if holds_module(a.value) else a for a in args]
    for forward in sorted(forwards, key=lambda f: (f.qualified, f.start)):
        context = Argument(None, "", BACKWARD_CONTEXT)
        functions.bind_arguments(frame, forward, [context, *given])
        found = join(found, _taken_for_tensors(functions.result(frame, forward)))
    return UNKNOWN if found is None else found


def _taken_for_tensors(value: Value) -> Value:
    """What is not known of what a Function gives is a tensor: autograd takes nothing else."""
    if isinstance(value, Sequence):
        items = None if value.items is None else tuple(map(_taken_for_tensors, value.items))
        return dataclasses.replace(value, element=_taken_for_tensors(value.element), items=items)
    return Tensor(assumed=True) if value == UNKNOWN else value


_Called = Callable[[Frame, Any, list[Argument], Call, Env], Value]
_BY_RECEIVER: dict[type, _Called] = {
    Module: modules.call_method,
    Class: _of_class,
    Instance: distributions.call_method,
    Sequence: _of_sequence,
    Mapping: _of_mapping,
    Static: _of_static,
}
