"""Which reads of the state come before a call in the same expression that changes it: they are taken out before the call.

`return self.n + self.step(x)`, where step gives self.n a new tensor, becomes

    n = state["n"]
    step, state = self.step(state, x)
    return n + step, state

Where the call changes the tensor in place (`self.bn.running_mean + self.bn(x)`), what reads it after the call sees that.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import libcst as cst

from ... import tree
from ...callgraph import reachable
from ...effects import is_set_by_name
from ...project import ClassInfo, FunctionInfo
from ...values import Function, Method, Module
from .arguments import is_super
from .attributes import is_state
from .scope import Scope, checkpointed

_COMPREHENSIONS = (cst.ListComp, cst.GeneratorExp, cst.SetComp, cst.DictComp)
_COMPUTES = (cst.BinaryOperation, cst.UnaryOperation, cst.Comparison)
_VIEWS = frozenset({"reshape", "transpose", "swapaxes", "squeeze", "ravel", "view", "astype", "moveaxis"})


@dataclass
class _Order:
    """The nodes of a statement by the place at which each has its value, and what each stands in."""

    done: dict[int, int] = field(default_factory=dict)
    parents: dict[int, Any] = field(default_factory=dict)

    def add(self, node: Any) -> None:
        """Append a node after those that it is made of."""
        for part in _evaluated(node):
            self.parents[id(part)] = node
            self.add(part)
        self.done[id(node)] = len(self.done)

    def around(self, node: Any) -> Iterator[Any]:
        """What a node stands in, inner before outer."""
        while (node := self.parents.get(id(node))) is not None:
            yield node


def _evaluated(node: Any) -> list[Any]:
    """The parts of a node in the order in which Python evaluates them."""
    if isinstance(node, cst.IfExp):
        return [node.test, node.body, node.orelse]
    if isinstance(node, cst.Assign):
        return [node.value, *node.targets]
    if isinstance(node, _COMPREHENSIONS):
        return [node.for_in, *(part for part in tree.children(node) if part is not node.for_in)]
    return [] if isinstance(node, cst.Lambda) else tree.children(node)


def early_reads(scope: Scope, node: Any) -> tuple[frozenset[int], frozenset[int]]:
    """The reads of the state to take out of a statement before its calls, and those of which nothing certain can be said."""
    calls = scope.stateful_calls(node)
    if not calls:
        return frozenset(), frozenset()
    order = _Order()
    order.add(node)
    early, open_ = set(), set()
    for read in tree.nodes(node, cst.Attribute):
        if id(read) in order.done and is_state(scope, read):
            found = _moved(scope, order, read, calls)
            early |= {id(read)} if found else set()
            open_ |= {id(read)} if found is None else set()
    named = [n for n in tree.nodes(node, cst.Call) if len(n.args) == 2 and tree.dotted(n.func) == "getattr"]
    read_by_name = {id(n) for n in named if (array := scope.arrays.asked(n)) is not None and array.where == "state"}
    if read_by_name and any(_sets_by_name(scope, c) for c in calls):
        open_ |= read_by_name
    return frozenset(early), frozenset(open_)


def _sets_by_name(scope: Scope, call: cst.Call) -> bool:
    """Whether a call may set attributes by computed names."""
    function: Any = checkpointed(call) or call.func
    nodes = [scope.effects.nodes[info] for info in _called(scope, scope.facts.of(function)) if info in scope.effects.nodes]
    return any(is_set_by_name(scope.facts, n) for node in nodes for n in tree.nodes(node.body, cst.Call))


def _moved(scope: Scope, order: _Order, read: cst.Attribute, calls: list[cst.Call]) -> bool | None:
    """Whether a read goes before the calls; None where it has to be split between them."""
    around = list(order.around(read))
    if any(isinstance(a, cst.AssignTarget) for a in around) or _is_stored_to(read, around):
        return False
    unit = next((a for a in around if any(a is call for call in calls)), None)
    end = order.done[id(unit)] if unit is not None else math.inf
    between = [c for c in calls if order.done[id(read)] < order.done.get(id(c), -1) < end and not _excluded(c, read, around)]
    found = {id(c): kinds for c in between if (kinds := _writes(scope, c, read))}
    kinds = {kind for each in found.values() for kind in each}
    if not found or kinds == {"bound"}:
        return bool(found)
    computed = _computed(scope, order, read, around)
    later = [order.done[c] > computed for c in found]
    if all(later):
        return True
    return False if kinds == {"in place"} and not any(later) else None


def _is_stored_to(read: cst.Attribute, around: list[Any]) -> bool:
    """`self.h = self.h.at[0].set(y)`, written as `self.h[0] = y`: Python loads self.h after it has y."""
    stored = next((a for a in around if isinstance(a, cst.Assign)), None)
    at = around[0]
    return stored is not None and isinstance(at, cst.Attribute) and at.attr.value == "at" and any(t.target.deep_equals(read) for t in stored.targets)


def _excluded(call: cst.Call, read: cst.Attribute, around: list[Any]) -> bool:
    """Whether a conditional expression evaluates either the read or the call."""
    for outer, inner in zip(around, [read, *around]):
        if isinstance(outer, cst.IfExp) and inner is outer.body and any(n is call for n in tree.nodes(outer.orelse, cst.Call)):
            return True
    return False


def _computed(scope: Scope, order: _Order, read: cst.Attribute, around: list[Any]) -> float:
    """The place at which something new is computed from a read; until then it is the tensor itself, or a view of it."""
    made = scope.facts.origin.get(id(read))
    if isinstance(made, cst.Call) and isinstance(made.func, cst.Attribute) and made.func.attr.value == "clone":
        return order.done[id(read)]
    for outer in around:
        if isinstance(outer, _COMPUTES):
            return order.done[id(outer)]
        if isinstance(outer, cst.Call) and not (isinstance(outer.func, cst.Attribute) and outer.func.attr.value in _VIEWS):
            return order.done[id(outer)]
    return math.inf


def _writes(scope: Scope, call: cst.Call, read: cst.Attribute) -> set[str]:
    """How a call writes the attribute that is read: "bound" to another tensor, "in place", or either."""
    function: Any = checkpointed(call) or call.func
    value = scope.facts.of(function)
    if not _covers(scope, _receiver(scope, function, value), tree.code(read.value)):
        return set()
    base, name = scope.facts.of(read.value), read.attr.value
    assert isinstance(base, Module)
    kinds = set()
    for ref in base.refs:
        if not isinstance(ref, ClassInfo) or scope.effects.inherited_array(ref, name):
            kinds.add("in place")  # as BatchNorm changes its running_mean
    return kinds | {kind for info in _called(scope, value) for kind in _assigned(scope, info, name)}


def _receiver(scope: Scope, function: Any, value: Any) -> str | None:
    """The module whose state a call may change."""
    if isinstance(value, Module):
        return tree.code(function)
    if not isinstance(function, cst.Attribute) or is_super(function.value):
        return scope.self_name
    return tree.code(function.value) if isinstance(scope.facts.of(function.value), Module) else scope.self_name


def _covers(scope: Scope, changed: str | None, read: str) -> bool:
    """Whether the state of one module may be part of another's."""
    if changed is None or changed == scope.self_name or {changed.split(".")[0], read.split(".")[0]} != {scope.self_name}:
        return True
    return read == changed or read.startswith((f"{changed}.", f"{changed}["))


def _called(scope: Scope, value: Any) -> set[FunctionInfo]:
    """The functions that run in a call; all, where those are not known."""
    found: set[FunctionInfo] = set()
    if isinstance(value, Function):
        owner = value.info.owner
        found = {value.info, *(c.methods[value.info.name] for c in (owner.family() if owner is not None else ()) if value.info.name in c.methods)}
    receiver = value.receiver if isinstance(value, Method) else value
    if isinstance(receiver, Module):
        for ref in receiver.refs:
            if not isinstance(ref, ClassInfo):
                return set(scope.effects.nodes)
            found |= {c.methods["forward"] for c in ref.family() if "forward" in c.methods}
    return reachable(scope.facts.calls, found) if found else set(scope.effects.nodes)


def _assigned(scope: Scope, info: FunctionInfo, name: str) -> Iterator[str]:
    """How a function writes attributes of a name."""
    node = scope.effects.nodes.get(info)
    small: Any
    for small in tree.nodes(node.body, cst.Assign, cst.AugAssign, cst.AnnAssign) if node is not None else ():
        targets = [t.target for t in small.targets] if isinstance(small, cst.Assign) else [small.target]
        if any(n.attr.value == name for t in targets for n in tree.nodes(t, cst.Attribute)):
            at = isinstance(small, cst.Assign) and tree.code(small.value).startswith(f"{tree.code(targets[0])}.at[")
            yield "in place" if isinstance(small, cst.AugAssign) or at or id(small) in scope.facts.in_place else "bound"
