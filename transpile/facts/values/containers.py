"""Containers of modules: what they are made with, and what is put into them later."""

import dataclasses
import functools
from typing import Any

from ...model import expressions as nodes
from ...model.names import dotted
from ...model.node import Expression
from ...model.program import Class
from . import container_aliases
from .assignments import store
from .computed_names import pattern
from .frame import Argument, Env, Frame
from .joins import join, sequence
from .lattice import NONE, UNKNOWN, Mapping, Module, Sequence, Static, Tensor, Value, element_of

GROWING = frozenset("append extend add_module insert update register_module".split())
REGISTERS = frozenset({"register_buffer", "register_parameter"})

_PARTS = frozenset(("itertools.chain", "itertools.cycle", "itertools.islice"))


# --- made ----------------------------------------------------------------------------------------


def fill_own(frame: Frame, cls: Class, args: list[Argument]) -> None:
    """Note what a user's container class holds, by what torch's constructor is given."""
    base = frame.facts.project.torch_base(cls)
    layer = frame.facts.rulebook.layer(base) if base is not None else None
    if layer is None or not _is_container(frame, layer.name):
        return
    element: Value | None = None
    for _, star, value, _node in args:
        listed = star or isinstance(value, Sequence)
        held = element_of(value) if listed else value
        if isinstance(value, Mapping):
            held = value.element
        if isinstance(held, Sequence) and held.items:
            held = held.items[-1]  # pairs of name and module
        element = join(element, held if isinstance(held, Module) else Module(open=True))
    if element is not None:
        frame.facts.note(element, "contents", cls)


def filled(frame: Frame, module: Module, args: list[Argument], name: str) -> Module:
    """A layer of torch's with what its constructor is given to hold, if it is a container."""
    if not _is_container(frame, name):
        return module
    element: Value | None = None
    items: list[tuple[str, Value]] | None = []
    for argument in args:
        named = _named_items(frame, argument.node) if isinstance(argument.value, Mapping) else None
        if named is not None:
            return dataclasses.replace(module, element=_joined(named), items=named)
        given, exact = _given(argument)
        if not exact:
            items = None
        for held in given:
            if isinstance(held, Sequence) and held.items and len(held.items) == 2:
                held, items = held.items[1], None
            held = _entry(held, name)
            element = join(element, held)
            if items is not None:
                items.append((str(len(items)), held))
    return dataclasses.replace(module, element=element, items=tuple(items) if items else None)


def _is_container(frame: Frame, name: str) -> bool:
    return any(d.name == "Container" for d in frame.facts.rulebook.bases(name))


def _given(argument: Argument) -> tuple[list[Value], bool]:
    """What an argument gives a container to hold, and whether that is all of it, one by one."""
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
    if isinstance(value, Module):  # dialects see to it that what a constructor takes is no other
        return dataclasses.replace(value, open=False) if value.checked else value
    return Module(open=True)


def _named_items(frame: Frame, node: Any) -> tuple[tuple[str, Value], ...] | None:
    """The modules of `dict(a=…, b=…)` or `{"a": …}` by name, where it is written out."""
    found: list[tuple[str, Value]] = []
    of = frame.facts.of
    if isinstance(node, nodes.Call) and dotted(node.function) == "dict":
        if None not in node.keywords:
            found = [(word or "", of(a)) for word, a in zip(node.keywords, node.arguments)]
    elif isinstance(node, nodes.Dictionary):
        keys = [k.constant if isinstance(k, nodes.Constant) else None for k, _ in node.pairs]
        if all(isinstance(key, str) for key in keys):
            found = [(str(key), of(value)) for key, (_, value) in zip(keys, node.pairs)]
    return tuple(found) if found and all(isinstance(v, Module) for _, v in found) else None


def _joined(items: tuple[tuple[str, Value], ...]) -> Value | None:
    found: Value | None = None
    for _, value in items:
        found = join(found, value)
    return found


# --- grown ---------------------------------------------------------------------------------------


def grow(
    frame: Frame, node: nodes.Call, receiver: Module, name: str, args: list[Argument], env: Env
) -> None:
    """Put what a method is given into a container, or under a name into a module."""
    added = _added(args)
    if added is None:
        return
    if receiver.is_self and frame.cls is not None:
        if name in ("add_module", "register_module"):
            set_named(frame, frame.cls, args[0], added)
        frame.facts.put_in(receiver, added)
    elif isinstance(node.function, nodes.Attribute):
        target = node.function.object
        if receiver.is_bare:
            literal = args[0].value
            if isinstance(literal, Static) and isinstance(literal.const, str):
                part = receiver.with_part(literal.const, added)
                container_aliases.note(frame, target, receiver, part)
                store(frame, target, part, env)
        else:
            frame.facts.put_in(receiver, added)
            container_aliases.note(frame, target, receiver, added)
            element = join(receiver.element, added)
            grown = dataclasses.replace(receiver, element=element, items=None)
            store(frame, target, grown, env)


def register(
    frame: Frame, target: Expression, receiver: Module, name: str, args: list[Argument], env: Env
) -> None:
    """Put an array into a bare module: `self.noises.register_buffer(f"noise_{i}", x)`."""
    literal, value = args[0].value, args[1].value if len(args) > 1 else NONE
    array = value
    if value != NONE:
        none = isinstance(value, Tensor) and value.none
        array = Tensor(none=none, param=True, buffer=name == "register_buffer")
    if isinstance(literal, Static) and isinstance(literal.const, str):
        store(frame, target, receiver.with_part(literal.const, array), env)
    else:
        grown = dataclasses.replace(receiver, element=join(receiver.element, array))
        store(frame, target, grown, env)


def _added(args: list[Argument]) -> Value | None:
    added: Value | None = None
    for _, _, value, _ in args:
        if isinstance(value, Static):  # a name, or a place
            continue
        held = element_of(value) if isinstance(value, (Sequence, Mapping)) else value
        if not isinstance(held, Module):
            held = Tensor(param=True) if isinstance(held, Tensor) else Module(open=True)
        added = join(added, held)
    return added


def set_named(frame: Frame, cls: Class, name: Argument, value: Value) -> None:
    """Set an attribute of self whose name is a value: `setattr(self, name, x)`."""
    if isinstance(name.value, Static) and isinstance(name.value.const, str):
        frame.facts.set_attribute(cls, name.value.const, value)
    else:
        frame.facts.note({pattern(name.node): value}, "dynamic", cls)


def gone_over(name: str, args: list[Argument]) -> Value:
    """What a function of itertools gives in turn: modules, where it gives them as they are."""
    elements = [element_of(a.value) for a in args if a.keyword is None]
    if name == "itertools.zip_longest":
        return sequence([join(element, NONE) for element in elements], True)
    if name not in _PARTS or any(a.star for a in args):
        return UNKNOWN
    element = functools.reduce(join, elements if name == "itertools.chain" else elements[:1])
    return element if isinstance(element, Module) else UNKNOWN


def of_library(name: str, first: Value) -> Sequence | Mapping | None:
    """A container of the module collections, by what it is given first."""
    listed = isinstance(first, Sequence)
    if name == "collections.deque":
        return Sequence(first.element if listed else UNKNOWN)  # type: ignore[attr-defined]
    if not name.endswith(("OrderedDict", "defaultdict")):
        return None
    if isinstance(first, Sequence) and isinstance(first.element, Sequence):
        if first.element.items:
            return Mapping(first.element.items[-1])
    return Mapping(first.element if isinstance(first, Mapping) else UNKNOWN)
