"""Assignments: what the target of one stands for afterwards."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from ...model import expressions as nodes
from ...model.names import dotted, in_scope, is_own
from ...model.node import Expression, Node
from ...model.statements import Assign, Block, Break, Continue, Return, Try
from . import container_aliases
from .annotations import annotated
from .counters import counted
from .frame import Env, Frame
from .joins import join
from .lattice import (
    MISSING,
    NARROW,
    NUMPY,
    PLACED,
    REFUSED,
    UNKNOWN,
    Mapping,
    Module,
    Object,
    Sequence,
    Static,
    Tensor,
    Torch,
    Value,
    element_of,
)
from .module_attributes import set_from_outside
from .numpy_names import is_bound_to_numpy
from .operators import binary
from .subscripts import indices


def bind(frame: Frame, target: Node, value: Value, env: Env) -> None:
    """Let a target stand for a value: a name, an attribute, an entry, or several of these."""
    binder = _BINDERS.get(target.__class__)
    if binder is not None:
        binder(frame, target, value, env)


def _bind_name(frame: Frame, target: nodes.Name, value: Value, env: Env) -> None:
    if is_bound_to_numpy(frame, target, value):
        value = NUMPY
    env[target.id] = value
    frame.facts.set(target, value)


def _bind_each(frame: Frame, target: nodes.Display, value: Value, env: Env) -> None:
    items = value.items if isinstance(value, Sequence) else None
    starred = any(isinstance(e, nodes.Starred) for e in target.elements)
    for i, element in enumerate(target.elements):
        if isinstance(element, nodes.Starred):
            bind(frame, element, value, env)
        elif items is not None and not starred and i < len(items):
            bind(frame, element, items[i], env)
        elif isinstance(value, Module):
            among = value.items is not None and i < len(value.items)
            held = value.items[i][1] if among else value.element  # type: ignore[index]
            bind(frame, element, held or Module(open=True), env)
        else:
            bind(frame, element, element_of(value), env)


def _bind_starred(frame: Frame, target: nodes.Starred, value: Value, env: Env) -> None:
    bind(frame, target.expression, Sequence(element_of(value)), env)


# --- attributes ----------------------------------------------------------------------------------


def _bind_attribute(frame: Frame, target: nodes.Attribute, value: Value, env: Env) -> None:
    receiver = frame.expression(target.object, env)
    plain = isinstance(receiver, Object)
    own = receiver.cls is frame.cls if plain else isinstance(receiver, Module) and receiver.is_self  # type: ignore[attr-defined]
    if own and frame.cls is not None:
        _bind_own(frame, target, value, env)
    elif plain:
        frame.facts.set_attribute(receiver.cls, target.name, value)  # type: ignore[attr-defined]
    if isinstance(receiver, Module):
        frame.facts.put_in(receiver, value)
        if receiver.is_bare:
            part = receiver.with_part(target.name, value)
            container_aliases.note(frame, target.object, receiver, part)
            store(frame, target.object, part, env)
        elif not receiver.is_self and isinstance(value, (Module, Tensor)):
            set_from_outside(frame, receiver, target.name, value)
    frame.facts.set(target, value)


def _bind_own(frame: Frame, target: nodes.Attribute, value: Value, env: Env) -> None:
    facts, name = frame.facts, target.name
    if frame.function is not None and target in superseded(frame):
        env[local_name(target)] = value
        return
    env.pop(local_name(target), None)
    if facts.makes_modules(value):
        facts.note(True, "makers", frame.cls, name)
    assert frame.cls is not None
    if value == UNKNOWN and _is_refused(frame, target):
        value = REFUSED
    of_module = facts.project.is_module(frame.cls)
    if of_module and isinstance(value, Static) and facts.in_forward(frame.function):
        value = counted(facts, frame.cls, target, value)
    facts.set_attribute(frame.cls, name, value)


def _is_refused(frame: Frame, target: nodes.Attribute) -> bool:
    """`self.inc = torch.utils.checkpoint(self.inc)`, of a module of torch's: no function of it."""
    made = target.parent.expression if isinstance(target.parent, Assign) else None
    called = frame.facts.of(made.function) if isinstance(made, nodes.Call) else UNKNOWN
    return isinstance(called, Torch) and not frame.facts.rulebook.find(called.name)


def local_name(attribute: nodes.Attribute) -> str:
    """How an attribute of self that is still to be replaced stands among the local names."""
    return f"self.{attribute.name}"


def superseded(frame: Frame) -> frozenset[Node]:
    """In a constructor, the targets `self.name` that a later assignment replaces on all ways.

    `self.stages = []` before `self.stages = nn.ModuleList(…)` is a local list in all but name.
    """
    function, memory = frame.function, frame.facts.memory
    assert function is not None
    if function.name != "__init__":
        return frozenset()
    found = memory.get(("superseded", function))
    if found is None:
        blocks = [function.body, *in_scope(function.body, Block)]
        tried = {t.body for t in in_scope(function.body, Try)}
        own = frame.facts.project.self_name(function)
        parts = (_replaced_later(block, own) for block in blocks if block not in tried)
        found = memory["superseded", function] = frozenset(t for part in parts for t in part)
    return found


def _replaced_later(block: Block, own: str | None) -> set[Node]:
    """The targets `self.name` in a block that its own later statements replace."""
    found: set[Node] = set()
    before: dict[str, set[Node]] = {}
    for statement in block.body:
        simple = isinstance(statement, Assign)
        assigns = [statement] if isinstance(statement, Assign) else in_scope(statement, Assign)
        targets = [t for a in assigns for t in a.targets if is_own(t, own)]
        if simple and not statement.operator:  # type: ignore[attr-defined]
            for target in targets:
                found |= before.pop(target.name, set())
        for target in targets:
            before.setdefault(target.name, set()).add(target)
        leaving = isinstance(statement, (Return, Break, Continue))
        if leaving or not simple and any(in_scope(statement, Return, Break, Continue)):
            before.clear()
    return found


# --- entries -------------------------------------------------------------------------------------


def _bind_entry(frame: Frame, target: nodes.Subscript, value: Value, env: Env) -> None:
    frame.expression(target, env)
    holder = target.object
    held = frame.facts.of(holder)
    if isinstance(held, Module) and isinstance(value, Module):
        frame.facts.put_in(held, value)
        container_aliases.note(frame, holder, held, value)
        index = frame.facts.of(indices(target)[0])
        store(frame, holder, _with_layer(held, index, value), env)
    elif isinstance(holder, nodes.Attribute) and isinstance(held, Mapping):
        if frame.cls is not None and isinstance(value, (Module, Tensor)):
            container_aliases.note(frame, holder, held, value)
            store(frame, holder, _with_entry(held, value), env)
    elif isinstance(holder, nodes.Attribute) and isinstance(held, Sequence):
        if isinstance(value, (Module, Sequence)):
            store(frame, target, value, env)
    elif isinstance(holder, nodes.Name) and holder.id in env:
        old = env[holder.id]
        container_aliases.note(frame, holder, old, value)
        if isinstance(old, Sequence):
            element = join(old.element, value) if old.items != () else value
            env[holder.id] = Sequence(element, None, old.tuple, sites=old.sites)
        elif isinstance(old, Mapping):
            word = frame.facts.of(indices(target)[0])
            placed = isinstance(word, Static) and word.const in PLACED
            env[holder.id] = dataclasses.replace(
                _with_entry(old, value), placed=old.placed or placed
            )


def _with_layer(old: Module, index: Value, value: Module) -> Module:
    """A container with another layer at one place: `self.net[0] = nn.Conv2d(1, 64, 7)`."""
    place = index.const if isinstance(index, Static) else MISSING
    parts = old.items or ()
    names = [name for name, _ in parts]
    name = place if place in names else None
    if isinstance(place, int) and -len(names) <= place < len(names):
        name = names[place]
    grown = dataclasses.replace(old, element=join(old.element, value))
    if name is None:
        return dataclasses.replace(grown, items=None)
    items = tuple((n, value if n == name else v) for n, v in parts)
    return dataclasses.replace(grown, items=items)


def _with_entry(old: Mapping, value: Value) -> Mapping:
    held = old.element if old.element != UNKNOWN else None
    return dataclasses.replace(old, element=join(held, value))


_BINDERS: dict[type, Callable[[Frame, Any, Value, Env], None]] = {
    nodes.Name: _bind_name,
    nodes.Display: _bind_each,
    nodes.Starred: _bind_starred,
    nodes.Attribute: _bind_attribute,
    nodes.Subscript: _bind_entry,
}


def store(frame: Frame, target: Expression, value: Value, env: Env) -> None:
    """Let the holder of a container stand for what it has become: `self.layers.append(layer)`."""
    if isinstance(target, nodes.Name):
        env[target.id] = value
    elif isinstance(target, nodes.Attribute) and frame.cls is not None:
        owner = frame.facts.of(target.object)
        if isinstance(owner, Module) and owner.is_self:
            if local_name(target) in env:
                env[local_name(target)] = value
            else:
                frame.facts.set_attribute(frame.cls, target.name, value)
        elif isinstance(owner, Module) and owner.is_bare:
            store(frame, target.object, owner.with_part(target.name, value), env)
    elif isinstance(target, nodes.Subscript):
        holder = frame.facts.of(target.object)
        if isinstance(holder, Module) and isinstance(value, Module) or isinstance(holder, Sequence):
            element = join(holder.element, value)
            grown = dataclasses.replace(holder, element=element, items=None)
            store(frame, target.object, grown, env)


# --- statements ----------------------------------------------------------------------------------


def assign(frame: Frame, node: Assign, env: Env) -> None:
    if node.operator:
        _augmented(frame, node, env)
        return
    if _is_set_below(frame, node):
        return
    value = frame.expression(node.expression, env) if node.expression is not None else UNKNOWN
    if node.expression in frame.facts.shared:
        frame.facts.note(value, "expression", node.expression)
    if node.annotation is not None and node.expression is None:
        value = annotated(frame, node.annotation) or value
    for target in node.targets:
        bind(frame, target, value, env)


def _is_set_below(frame: Frame, node: Assign) -> bool:
    """`self.ffn: nn.Module`, of what the same function sets: that says more."""
    if node.expression is not None or frame.function is None:
        return False
    declared = dotted(node.targets[0])
    others = (a for a in frame.function.nodes(Assign) if a.expression is not None)
    own = isinstance(node.targets[0], nodes.Attribute)
    return own and any(declared in map(dotted, a.targets) for a in others)


def _augmented(frame: Frame, node: Assign, env: Env) -> None:
    target = node.targets[0]
    old = frame.expression(target, env)
    made = binary(old, frame.expression(node.expression, env), node.operator)
    if isinstance(old, (Module, Sequence)) and isinstance(made, (Module, Sequence)):
        container_aliases.note(frame, target, old, made.element or UNKNOWN)
        made = dataclasses.replace(made, sites=old.sites)
    if isinstance(old, Module) and isinstance(made, Module):
        frame.facts.put_in(old, made.element)
    # `self.fc.bias += 1` under no_grad: a param still
    in_place = isinstance(old, Tensor) and old.param and isinstance(made, Tensor)
    if isinstance(old, Tensor) and isinstance(made, Tensor) and old.width >= NARROW:
        # what is written keeps its dtype
        made = dataclasses.replace(made, width=made.width | NARROW)
    bind(frame, target, old if in_place else made, env)
