"""Assignments: what the target of one stands for afterwards."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import libcst as cst

from ..project import ClassInfo
from ..values import (
    MISSING,
    NONE,
    NUMPY,
    UNKNOWN,
    External,
    Mapping,
    Module,
    Sequence,
    Static,
    Tensor,
    Value,
    beginning,
    element_of,
    join,
)
from .annotations import annotated
from .frame import Env, Frame, Handlers
from .numpy_names import is_bound_to_numpy
from .operators import binary

_STANDING_IN = frozenset({"torch.nn.Identity", "torch.nn.Sequential"})  # what another layer is replaced by, and is called otherwise


def bind(frame: Frame, target: cst.CSTNode, value: Value, env: Env) -> None:
    """Let a target stand for a value: a name, an attribute, an entry, or several of these."""
    binder = _BINDERS.get(target.__class__)
    if binder is not None:
        binder(frame, target, value, env)


def _bind_name(frame: Frame, target: cst.Name, value: Value, env: Env) -> None:
    if is_bound_to_numpy(frame.facts, frame.info, target, value):
        value = NUMPY
    env[target.value] = value
    frame.facts.set(target, value)


def _bind_each(frame: Frame, target: cst.Tuple | cst.List, value: Value, env: Env) -> None:
    items = value.items if isinstance(value, Sequence) else None
    starred = any(isinstance(e, cst.StarredElement) for e in target.elements)
    for i, element in enumerate(target.elements):
        if isinstance(element, cst.StarredElement):
            bind(frame, element.value, Sequence(element_of(value)), env)
        elif items is not None and not starred and i < len(items):
            bind(frame, element.value, items[i], env)
        elif isinstance(value, Module):
            held = value.items[i][1] if value.items is not None and i < len(value.items) else value.element
            bind(frame, element.value, held or Module(open=True), env)
        else:
            bind(frame, element.value, element_of(value), env)


def _bind_starred(frame: Frame, target: cst.StarredElement, value: Value, env: Env) -> None:
    bind(frame, target.value, Sequence(element_of(value)), env)


def _bind_attribute(frame: Frame, target: cst.Attribute, value: Value, env: Env) -> None:
    facts = frame.facts
    receiver = frame.expression(target.value, env)
    plain = isinstance(receiver, External) and receiver.name.startswith("self:")  # of a class that is no module
    if (plain or isinstance(receiver, Module) and receiver.is_self) and frame.cls is not None:
        if frame.info is not None and id(target) in frame.info.superseded:
            env[local_name(target)] = value
        else:
            env.pop(local_name(target), None)
            if facts.makes_modules(value):
                facts.makers.add((frame.cls, target.attr.value))
            facts.set_attribute(frame.cls, target.attr.value, value)
    if isinstance(receiver, Module) and receiver.is_bare:
        store(frame, target.value, receiver.with_part(target.attr.value, value), env)
    elif isinstance(receiver, Module) and not receiver.is_self and isinstance(value, Module):
        _replace(frame, receiver, target.attr.value, value)
    elif isinstance(receiver, Module) and not receiver.is_self and not receiver.open and isinstance(value, Tensor):
        for ref in receiver.refs:  # `self.attn.mask = mask`, of what a constructor sets to None
            before = facts.attribute_values(ref).get(target.attr.value) if isinstance(ref, ClassInfo) else None
            if before == NONE or isinstance(before, Tensor) and before.none:
                facts.set_attribute(ref, target.attr.value, value)
    facts.set(target, value)


def _replace(frame: Frame, owner: Module, name: str, value: Module) -> None:
    """`model.fc = nn.Identity()` from outside: the class of the model has one submodule or the other, where it is known which class that is."""
    ref = next(iter(owner.refs), None)
    known = bool(value.classes & _STANDING_IN) and all(isinstance(c, str) for c in value.classes)
    if len(owner.refs) == 1 and isinstance(ref, ClassInfo) and not owner.open and known and isinstance(frame.facts.attribute(ref, name), Module):
        frame.facts.replaced[ref, name] = join(frame.facts.replaced.get((ref, name)), value)


def _bind_entry(frame: Frame, target: cst.Subscript, value: Value, env: Env) -> None:
    frame.expression(target, env)
    holder = target.value
    held = frame.facts.of(holder)
    if isinstance(held, Module) and isinstance(value, Module):
        index = target.slice[0].slice
        store(frame, holder, _with_layer(held, frame.facts.of(index.value) if isinstance(index, cst.Index) else UNKNOWN, value), env)
    elif isinstance(holder, cst.Attribute) and frame.cls is not None and isinstance(value, Module) and isinstance(held, Mapping):
        store(frame, holder, _with_entry(held, value), env)
    elif isinstance(holder, cst.Name) and holder.value in env:
        old = env[holder.value]
        if isinstance(old, Sequence):
            env[holder.value] = _with_item(old, target.slice[0].slice, value)
        elif isinstance(old, Mapping):
            env[holder.value] = _with_entry(old, value)


def _with_item(old: Sequence, index: cst.BaseSlice, value: Value) -> Sequence:
    """A list with another value at one place."""
    begins = beginning(old)
    place = int(index.value.value) if isinstance(index, cst.Index) and isinstance(index.value, cst.Integer) else None
    begins = begins.with_value(place, value) if begins is not None and place is not None else None
    return Sequence(join(old.element, value) if old.items != () else value, None, old.tuple, begins)


def _with_layer(old: Module, index: Value, value: Module) -> Module:
    """A container with another layer at one place: `self.net[0] = nn.Conv2d(1, 64, 7)`."""
    place = index.const if isinstance(index, Static) else MISSING
    parts = old.items or ()
    names = [name for name, _ in parts]
    name = names[place] if isinstance(place, int) and -len(names) <= place < len(names) else place if place in names else None
    grown = dataclasses.replace(old, element=join(old.element, value))
    if name is None:
        return dataclasses.replace(grown, items=None, beginning=None)
    return dataclasses.replace(grown, items=tuple((n, value if n == name else v) for n, v in parts))


def _with_entry(old: Mapping, value: Value) -> Mapping:
    return dataclasses.replace(old, element=join(old.element if old.element != UNKNOWN else None, value))


_BINDERS: dict[type, Callable[[Frame, Any, Value, Env], None]] = {
    cst.Name: _bind_name,
    cst.Tuple: _bind_each,
    cst.List: _bind_each,
    cst.StarredElement: _bind_starred,
    cst.Attribute: _bind_attribute,
    cst.Subscript: _bind_entry,
}


def store(frame: Frame, target: cst.BaseExpression, value: Value, env: Env) -> None:
    """Let the holder of a container stand for what the container has become: `self.layers.append(layer)`."""
    if isinstance(target, cst.Name):
        env[target.value] = value
    elif isinstance(target, cst.Attribute) and frame.cls is not None:
        owner = frame.facts.of(target.value)
        if isinstance(owner, Module) and owner.is_self and local_name(target) in env:
            env[local_name(target)] = value
        elif isinstance(owner, Module) and owner.is_self:
            frame.facts.set_attribute(frame.cls, target.attr.value, value)
        elif isinstance(owner, Module) and owner.is_bare:
            store(frame, target.value, owner.with_part(target.attr.value, value), env)
    elif isinstance(target, cst.Subscript) and isinstance(value, Module):
        holder = frame.facts.of(target.value)
        if isinstance(holder, Module):
            grown = dataclasses.replace(holder, element=join(holder.element, value), items=None, beginning=None)
            store(frame, target.value, grown, env)


def local_name(attribute: cst.Attribute) -> str:
    """How an attribute of self that is still to be replaced stands among the local names of a constructor."""
    return f"self.{attribute.attr.value}"


def _assign(frame: Frame, node: cst.Assign, env: Env) -> None:
    value = frame.expression(node.value, env)
    for target in node.targets:
        bind(frame, target.target, value, env)


def _annotated(frame: Frame, node: cst.AnnAssign, env: Env) -> None:
    value = frame.expression(node.value, env) if node.value is not None else UNKNOWN
    declared = annotated(frame, node.annotation.annotation)
    bind(frame, node.target, declared if declared is not None and node.value is None else value, env)


def _augmented(frame: Frame, node: cst.AugAssign, env: Env) -> None:
    old = frame.expression(node.target, env)
    made = binary(old, frame.expression(node.value, env), node.operator)
    in_place = isinstance(old, Tensor) and old.param and isinstance(made, Tensor)  # `self.fc.bias += 1` under no_grad: a param still
    bind(frame, node.target, old if in_place else made, env)


def _named(frame: Frame, node: cst.NamedExpr, env: Env) -> Value:
    value = frame.expression(node.value, env)
    bind(frame, node.target, value, env)
    return value


HANDLERS: Handlers = {
    cst.Assign: _assign,
    cst.AnnAssign: _annotated,
    cst.AugAssign: _augmented,
    cst.NamedExpr: _named,
}
