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
from .cells import cut
from .frame import Frame
from .joins import join
from .lattice import BARE, UNKNOWN, External, Mapping, Module, Sequence, Torch, Value, holds_module
from .tables import DEEPEST

CONTAINERS = frozenset({"torch.nn.Sequential", "torch.nn.ModuleList", "torch.nn.ModuleDict", *BARE})
_MADE = (nodes.Display, nodes.Dictionary, nodes.Comprehension, nodes.Call)


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
    """Say what modules a container gets under one of its names, where it may have others."""
    sites = getattr(holder, "sites", ()) if holds_module(added) else ()
    if sites and target is not None and _has_others(frame, target, holder):
        frame.facts.note(True, "any grown")
        for site in sites:
            frame.facts.note({_name(frame, target): cut(added, DEEPEST)}, "grown", site)


def _name(frame: Frame, target: Expression) -> Any:
    """What tells one name of a container from others."""
    if isinstance(target, nodes.Name):
        return frame.function or frame.file, target.id
    owner = frame.facts.of(target.object) if isinstance(target, nodes.Attribute) else None
    if isinstance(owner, Module) and owner.is_self:
        return frame.cls, target.name  # type: ignore[attr-defined]
    return target, ""


def _has_others(frame: Frame, target: Expression, holder: Any) -> bool:
    """Whether a container may have another name where it grows under this one."""
    function = frame.function
    if function is None or not isinstance(target, nodes.Name):
        return True
    if any(site.nearest(Function) is not function for site in holder.sites):
        return True
    if not all(_is_named(site, target.id) for site in holder.sites):
        return True  # `a = self.a`
    uses = [n for n in _handed(frame, function, target.id) if _gets_name(frame, n, holder)]
    return any(_is_before(use, target, site) for use in uses for site in holder.sites)


def _is_named(site: Node, name: str) -> bool:
    """Whether what is made at a place gets this name there: `layers = []`."""
    while isinstance(site.parent, (Conditional, Boolean)):
        site = site.parent
    targets = site.parent.targets if isinstance(site.parent, Assign) else []
    return any(isinstance(t, nodes.Name) and t.id == name for t in targets)


def _handed(frame: Frame, function: Function, name: str) -> list[nodes.Name]:
    """Where what a name stands for may get another one: `self.a = a`, `add(a)`, `[a]`."""
    memory, key = frame.facts.memory, ("handed", function, name)
    if key not in memory:
        holding = (Assign, nodes.Call, nodes.Display, nodes.Dictionary)
        found = (n for n in in_scope(function.body, nodes.Name) if n.id == name)
        memory[key] = [n for n in found if isinstance(n.parent, holding)]
    return memory[key]  # type: ignore[no-any-return]


def _gets_name(frame: Frame, node: nodes.Name, holder: Value) -> bool:
    parent = node.parent
    if isinstance(parent, Assign):
        return parent.expression is node
    if not isinstance(parent, nodes.Call):
        return True
    called = frame.facts.of(parent.function)
    if parent.function is node or isinstance(called, External):
        return called == External("builtins.setattr")
    # `nn.Sequential(stage)` holds it; of a list it holds what is in it
    return not isinstance(called, Torch) or isinstance(holder, Module)


def _is_before(use: Node, target: Node, site: Node) -> bool:
    """Whether one may run before the other, on what is made at a place."""
    around, anew = set(use.ancestors()), set(site.ancestors())
    loops = (n for n in target.ancestors() if isinstance(n, (For, While)) and n not in anew)
    return use.start < target.start or any(n in around for n in loops)


# --- read ----------------------------------------------------------------------------------------


def whole(frame: Frame, node: Expression, value: Value) -> Value:
    """A container with all that it gets under other names than this."""
    if not isinstance(value, (Module, Sequence, Mapping)) or not frame.facts.read("any grown"):
        return value
    # `made["a"] = nn.Sequential(made)` is deeper at each turn
    found: Value = cut(_whole(frame, value, _name(frame, node)), DEEPEST)
    return found


def _whole(frame: Frame, value: Any, mine: Any) -> Any:
    found = _with_inner(frame, value)
    more: Value | None = None
    for site in value.sites:
        for name, added in (frame.facts.read("grown", site) or {}).items():
            more = join(more, added) if name != mine else more
    if more is None:
        return found
    if isinstance(found, Module) and found.is_bare and isinstance(more, Module):
        return join(found, more)
    held = found.element if found.element != UNKNOWN else None
    grown = dataclasses.replace(found, element=join(held, more))
    return grown if isinstance(grown, Mapping) else dataclasses.replace(grown, items=None)


def _with_inner(frame: Frame, value: Any) -> Any:
    """A container the containers in which are whole."""
    inner = value.element
    if not isinstance(inner, (Module, Sequence, Mapping)):
        return value
    held = _whole(frame, inner, None)
    if held is inner:
        return value
    found = dataclasses.replace(value, element=held)
    return found if isinstance(found, Mapping) else dataclasses.replace(found, items=None)
