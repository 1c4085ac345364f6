"""What constructors make: instances of the user's classes, and torch's layers."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Sequence
from typing import Any

from ..project import ClassInfo
from ..rule_bodies import flags
from ..rulebook import Definition, Parameter
from ..values import UNKNOWN, Class, Instance, Module, Static, Tensor, Value, join
from . import containers, functions
from .frame import Argument, Frame

_OPTIONS = ("bias", "affine", "elementwise_affine")


def construct(frame: Frame, made: Class, args: list[Argument]) -> Value:
    """The instance that calling a class makes."""
    return _instance(frame, made.ref, args)


def _instance(frame: Frame, ref: Any, args: list[Argument]) -> Value:
    if isinstance(ref, tuple) and ref and ref[0] == "open":  # the default of a parameter: others may stand in for it
        inner = _instance(frame, ref[1], args) if not isinstance(ref[1], str) else Module(frozenset([ref[1]]), inplace=inplace(args, _limit(frame, ref[1])))
        return dataclasses.replace(inner, open=True, items=None) if isinstance(inner, Module) else inner
    if isinstance(ref, tuple) and ref and ref[0] == "one of":
        # what they are given is not noted: a call in a branch for one class says nothing of the others
        layers = frame.facts.rulebook.layer
        drawing = [d.name for one in ref[1] if isinstance(one, str) and (d := layers(one)) and d.name in frame.facts.rulebook.drawing]
        if drawing:
            return Instance(frozenset(drawing)) if len(drawing) == len(ref[1]) else UNKNOWN
        made = [layers(one) is not None if isinstance(one, str) else one.is_module for one in ref[1]]
        writes = {inplace(args, _limit(frame, one)) for one in ref[1]}
        return Module(ref[1], inplace=writes.pop() if len(writes) == 1 else None) if all(made) else Module(open=True) if any(made) else UNKNOWN
    if not isinstance(ref, ClassInfo):
        return UNKNOWN
    constructor = ref.find("__init__")
    if constructor is not None:
        functions.bind_arguments(frame, constructor, args)
        functions.note_call(frame, constructor)
    if not ref.is_module:
        return UNKNOWN
    if constructor is None and ref.torch_base() is not None:
        containers.fill_own(frame, ref, args)
    element: Value | None = None
    for c in ref.family():
        held = frame.facts.held(c)
        if held is not None:
            element = join(element, held)
    return Module(frozenset([ref]), element=element)


def layer(frame: Frame, name: str, definition: Definition, args: list[Argument]) -> Value:
    """The torch layer that a constructor makes."""
    if definition.name == "Parameter":
        return Tensor(param=True)
    rulebook = frame.facts.rulebook
    parameters = rulebook.constructor(definition)
    variant = rulebook.variant(
        name, [(a.keyword, a.value.const if isinstance(a.value, Static) else None) for a in args]
    )
    deciding = frame.facts.results.deciding(definition, flags(parameters, args))
    made = Module(frozenset([variant]), inplace=inplace(args, _limit(frame, name)), whole=_whole(parameters, args), flags=deciding)
    return containers.filled(frame, made, args, definition.name)


def _whole(parameters: Sequence[Parameter], args: list[Argument]) -> bool:
    """Whether a layer has every param that its constructor may leave out: `bias` and `affine` are True, by default or as given."""
    if any(a.star for a in args):
        return False
    given = {a.keyword or parameters[i].name: a.value for i, a in enumerate(args) if a.keyword is not None or i < len(parameters)}
    for p in parameters:
        if p.name in _OPTIONS:
            value = given.get(p.name)
            stated = value.const if isinstance(value, Static) else p.default.value if value is None and isinstance(p.default, ast.Constant) else None
            if stated is not True:
                return False
    return True


def _limit(frame: Frame, ref: Any) -> int | None:
    """How many arguments a layer of torch's takes by place before `inplace`; None of other classes."""
    definition = frame.facts.rulebook.layer(ref) if isinstance(ref, str) else None
    return None if definition is None else sum(1 for p in frame.facts.rulebook.constructor(definition) if p.kind == "positional")


def inplace(args: list[Argument], limit: int | None = None) -> bool | None:
    """Whether a layer is made to write its argument: `inplace=True`, or True where torch's constructor has inplace last; None for `inplace=flag`."""
    for i, (keyword, _, value, _) in enumerate(args):
        last = keyword is None and limit is not None and i >= limit and isinstance(value, Static) and value.type == "bool"
        if keyword == "inplace" or last:
            return value.const if isinstance(value, Static) and isinstance(value.const, bool) else None
    return False
