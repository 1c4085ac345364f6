"""Containers of modules: what they are made with, and what is put into them later."""

from __future__ import annotations

import dataclasses
from typing import Any

import libcst as cst

from .. import tree
from ..computed_names import pattern
from ..project import ClassInfo
from ..values import NONE, Mapping, Module, Sequence, Static, Tensor, Value, beginning, both, element_of, join, sequence
from .assignments import store
from .frame import Argument, Env, Frame

GROWING = frozenset({"append", "extend", "add_module", "insert", "update", "register_module"})
REGISTERS = frozenset({"register_buffer", "register_parameter"})


def fill_own(frame: Frame, cls: ClassInfo, args: list[Argument]) -> None:
    """Note what a user's container class holds, by what the constructor of torch's container is given."""
    element: Value | None = None
    for _, star, value, _node in args:
        held = element_of(value) if star or isinstance(value, (Sequence, Mapping)) else value
        if isinstance(value, Mapping):
            held = value.element
        if isinstance(held, Module):
            element = join(element, held)
        elif isinstance(held, Sequence) and held.items and isinstance(held.items[-1], Module):
            element = join(element, held.items[-1])  # pairs of name and module
        else:
            element = join(element, Module(open=True))
    if element is not None:
        frame.facts.note(frame.facts.contents, cls, element)


def filled(frame: Frame, module: Module, args: list[Argument], name: str) -> Module:
    """A layer of torch's with what its constructor is given to hold, if it is a container."""
    if "Container" not in {d.name.lstrip("_") for d in frame.facts.rulebook.bases(name)}:
        return module
    element: Value | None = None
    items: list[tuple[str, Value]] | None = []
    begins = Sequence(items=())
    for argument in args:
        named = _named_items(frame, argument.node) if isinstance(argument.value, Mapping) else None
        if named is not None:
            return dataclasses.replace(module, element=_joined(named), items=named)
        given, exact = _given(argument)
        begins = Sequence(beginning=both(begins, _as_list(argument, name)))
        if not exact:
            items = None
        for held in given:
            if isinstance(held, Sequence) and held.items and len(held.items) == 2:
                held, items = held.items[1], None
            held = _entry(held, name)
            element = join(element, held)
            if items is not None:
                items.append((str(len(items)), held))
    return dataclasses.replace(module, element=element, items=tuple(items) if items else None, beginning=None if items else beginning(begins))


def _as_list(argument: Argument, name: str) -> Sequence:
    """What an argument of a container's constructor gives it to hold, as a list."""
    if isinstance(argument.value, Sequence):
        return argument.value
    return Sequence() if argument.star else sequence([_entry(argument.value, name)])


def _given(argument: Argument) -> tuple[list[Value], bool]:
    """What an argument of a container's constructor gives it to hold, and whether that is all of it, one by one."""
    value = argument.value
    if isinstance(value, Sequence):
        if value.items is not None and not any(isinstance(v, Sequence) for v in value.items):
            return list(value.items), True
        return [value.element], False
    if isinstance(value, Mapping):
        return [value.element], False
    if argument.star:
        return [element_of(value)], False
    return [value], isinstance(value, Module)


def _entry(value: Value, container: str) -> Value:
    if container.startswith("Parameter"):
        return Tensor(param=True)
    return value if isinstance(value, Module) else Module(open=True)


def _named_items(frame: Frame, node: Any) -> tuple[tuple[str, Value], ...] | None:
    """The modules of `dict(a=…, b=…)` or `{"a": …}` by name, where it is written out."""
    found: list[tuple[str, Value]] = []
    if isinstance(node, cst.Call) and tree.dotted(node.func) == "dict":
        if all(a.keyword is not None for a in node.args):
            found = [(a.keyword.value, frame.facts.of(a.value)) for a in node.args if a.keyword is not None]
    elif isinstance(node, cst.Dict):
        pairs: list[Any] = list(node.elements)
        if all(isinstance(e, cst.DictElement) and isinstance(e.key, cst.SimpleString) for e in pairs):
            found = [(str(e.key.evaluated_value), frame.facts.of(e.value)) for e in pairs]
    return tuple(found) if found and all(isinstance(v, Module) for _, v in found) else None


def _joined(items: tuple[tuple[str, Value], ...]) -> Value | None:
    found: Value | None = None
    for _, value in items:
        found = join(found, value)
    return found


def grow(frame: Frame, node: cst.Call, receiver: Module, name: str, args: list[Argument], env: Env) -> None:
    """Put what a method is given into a container, or under a name into a module."""
    added = _added(args)
    if added is None:
        return
    if receiver.is_self and frame.cls is not None:
        _grow_self(frame, frame.cls, name, args[0], added)
    elif receiver.is_bare and isinstance(node.func, cst.Attribute):
        literal = args[0].value
        if isinstance(literal, Static) and isinstance(literal.const, str):
            store(frame, node.func.value, receiver.with_part(literal.const, added), env)
    elif isinstance(node.func, cst.Attribute):
        begins = None if name == "insert" else both(receiver, sequence([added]))
        grown = dataclasses.replace(receiver, element=join(receiver.element, added), items=None, beginning=begins)
        store(frame, node.func.value, grown, env)


def register(frame: Frame, target: cst.BaseExpression, receiver: Module, name: str, args: list[Argument], env: Env) -> None:
    """Put an array into a bare module, also under a computed name: `self.noises.register_buffer(f"noise_{i}", torch.randn(3))`."""
    literal, value = args[0].value, args[1].value if len(args) > 1 else NONE
    array = value if value == NONE else Tensor(none=isinstance(value, Tensor) and value.none, param=True, buffer=name == "register_buffer")
    if isinstance(literal, Static) and isinstance(literal.const, str):
        store(frame, target, receiver.with_part(literal.const, array), env)
    else:
        store(frame, target, dataclasses.replace(receiver, element=join(receiver.element, array)), env)


def _added(args: list[Argument]) -> Value | None:
    added: Value | None = None
    for _, _, value, _ in args:
        if isinstance(value, Static):  # a name, or a place
            continue
        held = element_of(value) if isinstance(value, (Sequence, Mapping)) else value
        param = Tensor(param=True) if isinstance(held, Tensor) else Module(open=True)
        added = join(added, held if isinstance(held, Module) else param)
    return added


def _grow_self(frame: Frame, cls: ClassInfo, name: str, literal: Argument, added: Value) -> None:
    facts = frame.facts
    if name in ("add_module", "register_module"):
        set_named(frame, cls, literal, added)
    if cls.torch_base():
        facts.note(facts.contents, cls, added)


def set_named(frame: Frame, cls: ClassInfo, name: Argument, value: Value) -> None:
    """Set an attribute of self whose name is a value: `self.register_buffer(name, x)`, `setattr(self, name, x)`."""
    if isinstance(name.value, Static) and isinstance(name.value.const, str):
        frame.facts.set_attribute(cls, name.value.const, value)
    else:
        frame.facts.note(frame.facts.dynamic.setdefault(cls, {}), pattern(name.node), value)
