"""Containers under several names: what is put into one under one of them, those hold that read it
under another.

layers = [nn.Linear(4, 4)]           `add` puts it into its `layers`: what stands for the list here
add(layers, nn.BatchNorm1d(4))       is found by the place where it is made
self.net = nn.Sequential(*layers)
"""

from __future__ import annotations

import dataclasses
from typing import Any

from ...model import expressions as nodes
from ...model import program
from ...model.names import in_scope
from ...model.node import Expression, Node
from ...model.operators import Boolean, Conditional
from ...model.program import Function
from ...model.project import Project
from ...model.statements import Assign, For, While
from .frame import Frame
from .joins import join
from .lattice import BARE, UNKNOWN, Class, Mapping, Module, Sequence, Value
from .lattice import Function as FunctionValue

CONTAINERS = frozenset({"torch.nn.Sequential", "torch.nn.ModuleList", "torch.nn.ModuleDict", *BARE})
_MADE = (nodes.Display, nodes.Dictionary, nodes.Comprehension)


# --- made ----------------------------------------------------------------------------------------


def at_site(node: Expression, value: Value) -> Value:
    """A container that is made by an expression, which stands for it from here on."""
    if isinstance(value, Module):
        if value.sites or value.open or not value.classes or not value.classes <= CONTAINERS:
            return value
    elif not isinstance(value, (Sequence, Mapping)) or value.sites or not _is_of_modules(value):
        return value
    elif not isinstance(node, _MADE) or isinstance(value, Sequence) and value.tuple:
        return value
    return dataclasses.replace(value, sites=frozenset([node]))


def _is_of_modules(value: Sequence | Mapping) -> bool:
    """Whether a list or dict holds modules, or is empty and may."""
    return isinstance(value.element, Module) or value.element == UNKNOWN


def container_classes(project: Project, value: Value | None) -> list[str]:
    """Which of torch's containers a module is, or extends; none where it may be something else."""
    refs = value.refs if isinstance(value, Module) and not value.open else []
    bases = [project.torch_base(r) if isinstance(r, program.Class) else r for r in refs]
    found = [base for base in bases if base in CONTAINERS - BARE]
    return found if len(found) == len(refs) else []


# --- grown ---------------------------------------------------------------------------------------


def note(frame: Frame, target: Expression | None, holder: Value, added: Value) -> None:
    """Say what a container gets under one of its names, where it may have others."""
    sites = getattr(holder, "sites", ())
    if sites and target is not None and _has_others(frame, target, sites):
        for site in sites:
            frame.facts.note({_name(frame, target): added}, "grown", site)


def _name(frame: Frame, target: Expression) -> Any:
    """What tells one name of a container from others."""
    if isinstance(target, nodes.Name):
        return frame.function or frame.file, target.id
    return (frame.cls, target.name) if isinstance(target, nodes.Attribute) else (target, "")


def _has_others(frame: Frame, target: Expression, sites: frozenset[Node]) -> bool:
    """Whether a container may have another name where it grows under this one."""
    function = frame.function
    if function is None or not isinstance(target, nodes.Name):
        return True
    if any(site.nearest(Function) is not function for site in sites):
        return True
    if not all(_is_named(site, target.id) for site in sites):
        return True  # `a = self.a`
    return any(_is_before(use, target) for use in _handed(frame, function, target.id))


def _is_named(site: Node, name: str) -> bool:
    """Whether what is made at a place gets this name there: `layers = []`."""
    while isinstance(site.parent, (Conditional, Boolean)):
        site = site.parent
    targets = site.parent.targets if isinstance(site.parent, Assign) else []
    return any(isinstance(t, nodes.Name) and t.id == name for t in targets)


def _handed(frame: Frame, function: Function, name: str) -> list[nodes.Name]:
    """Where what a name stands for gets another one: `self.a = a`, `add(a)`."""
    memory, key = frame.facts.memory, ("handed", function, name)
    if key not in memory:
        found = (n for n in in_scope(function.body, nodes.Name) if n.id == name)
        memory[key] = [n for n in found if isinstance(n.parent, (Assign, nodes.Call))]
    return [n for n in memory[key] if _gets_name(frame, n)]


def _gets_name(frame: Frame, node: nodes.Name) -> bool:
    parent = node.parent
    if isinstance(parent, Assign):
        return parent.expression is node
    if not isinstance(parent, nodes.Call) or parent.function is node:
        return False
    return isinstance(frame.facts.of(parent.function), (FunctionValue, Class))


def _is_before(use: Node, target: Node) -> bool:
    """Whether one may run before the other."""
    loops = {n for n in use.ancestors() if isinstance(n, (For, While))}
    return use.start < target.start or any(n in loops for n in target.ancestors())


# --- read ----------------------------------------------------------------------------------------


def whole(frame: Frame, node: Expression, value: Value) -> Value:
    """A container with all that it gets under other names than this."""
    more, mine = None, _name(frame, node)
    for site in getattr(value, "sites", ()):
        grown = frame.facts.read("grown", site) or {}
        for name, added in grown.items():
            more = join(more, added) if name != mine else more
    if more is None:
        return value
    if isinstance(value, Module):
        if value.is_bare and isinstance(more, Module):
            return join(value, more)
        return dataclasses.replace(value, element=join(value.element, more), items=None)
    assert isinstance(value, (Sequence, Mapping))
    held = value.element if value.element != UNKNOWN else None
    grown = dataclasses.replace(value, element=join(held, more))
    return dataclasses.replace(grown, items=None) if isinstance(grown, Sequence) else grown
