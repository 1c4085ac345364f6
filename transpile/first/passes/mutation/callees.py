"""Calls of the user's functions that write their arguments: taken back where that can be said, else refused where it is read."""

from __future__ import annotations

from collections.abc import Iterator, Set
from typing import Any

import libcst as cst

from ... import tree
from ...callables import Scope, Target
from ...computed_names import listed_names
from ...inplace import is_sequential
from ...memory import COMPUTED
from ...project import FunctionInfo
from ...values import Function, Method, Module, Sequence, Static, Tensor, beginning
from .aliases import follow, set_by_name
from .calls import applied, given_by_torch, handed_on, may_run, writes_of
from .frame import Frame
from .order import elsewhere
from .rebinding import written_name


def call_taken_back(frame: Frame, node: cst.Expr, call: cst.Call) -> cst.Assign | None:
    """`x = clip_(x, 2.0)` for `clip_(x, 2.0)` as a statement, of a function that returns the argument it writes."""
    value = frame.value(call.func)
    written = frame.mutations.writes.get(value.info) if isinstance(value, Function) else None
    if not written or not isinstance(value, Function):
        return None
    names = [p.name.value for p in value.info.parameters()]
    reached = [(n, a) for n, a in zip(names, call.args) if n in written and a.keyword is None]
    if len(reached) == 1 and value.info.given_back() == reached[0][0] and isinstance(reached[0][1].value, (cst.Name, cst.Attribute)):
        subject = reached[0][1].value
        follow(frame, subject, node)
        return cst.Assign([cst.AssignTarget(subject)], call)
    return None


def check_arguments(frame: Frame, node: cst.Call) -> Any:
    """A callee that writes its argument, where the caller reads it afterwards: what stands for the call, if that is in the same expression."""
    call = handed_on(frame.facts, node)
    for target in _callees(frame, call):
        if (instead := _check_elements(frame, target, call)) is not None:
            return instead
        written = writes_of(frame.facts, frame.mutations, target)
        if not written or not frame.runs:
            continue
        if (twice := _passed_twice(frame, target, written, call)) is not None:
            return frame.context.unconverted("mutated-argument", node, f"{target.name} changes {twice} in place, and is given the same memory twice")
        taken_back = target.function in frame.mutations.returned and _is_taken_back(frame, node)
        for name, argument in _arguments(target, written, call):
            if taken_back and isinstance(argument.value, (cst.Name, cst.Attribute, cst.Subscript)):
                continue
            if _is_given_back(frame, node, argument.value):
                continue
            message = f"{target.name} changes {name} in place, and "
            for own in _owns(frame, argument.value):
                below = own in frame.inside or bool(frame.memory.sharing(own, frame.inside))
                if "after" in elsewhere(frame, node, own) and node is not frame.assigned or below:
                    return frame.context.unconverted("mutated-argument", node, f"{message}{own} is read afterwards")
                _refuse(frame, node, own, f"{message}{own} is read afterwards")
                frame.record_write(own)
    return None


def _is_given_back(frame: Frame, node: cst.Call, subject: Any) -> bool:
    """Let z follow in `w = relu_(z)`, of a function of the user's that is certain to return what it writes; whether that is so."""
    target: Any = frame.current.body[0].targets[0].target if node is frame.assigned and frame.current is not None else None  # type: ignore[attr-defined]
    if not isinstance(target, cst.Name) or not isinstance(subject, cst.Name) or frame.memory.given_back(node) != frame.memory.places(subject.value):
        return False
    if target.value != subject.value and frame.is_read_later(subject.value):
        frame.after.append(tree.assignment(subject.value, cst.Name(target.value)))
        frame.facts.carry(subject, frame.after[-1].body[0].value)
    follow(frame, subject, node)
    return True


def _owns(frame: Frame, argument: Any) -> list[str]:
    """The names whose memory an argument may be: x of `x`, `x[0]`, `x.view(-1)`, `[x, x + 1]`."""
    own = written_name(frame, argument)
    return [own] if own is not None else frame.memory.names_of(argument)


def _check_elements(frame: Frame, target: Target, node: cst.Call) -> Any:
    """A callee that writes what a list or dict holds: it puts the new tensors into that, and other names for the old ones cannot follow.

    What stands for the call, where a property makes that list: the new tensors are given to what it lists.
    """
    held = frame.mutations.elements.get(target.function, set()) if frame.runs and isinstance(target.function, FunctionInfo) else set()
    for name, argument in _arguments(target, held, node):
        message = f"{target.name} changes what {name} holds in place, and it is read afterwards"
        given: Any = argument.value
        if isinstance(given, cst.Attribute) and isinstance(base := frame.value(given.value), Module) and (prop := frame.facts.by_property(base, given.attr.value)) is not None:
            return _listed_by_property(frame, node, argument, prop, message)
        parts = [e.value for e in given.elements] if isinstance(given, (cst.List, cst.Tuple, cst.Dict)) else []
        if name not in target.parameters() and not argument.star:
            parts = [given]  # `*xs` makes a tuple of its own
        for own in [own for part in parts for own in _owns(frame, part)]:
            _refuse(frame, node, own, message)
            frame.record_write(own)
        if not parts and (holder := written_name(frame, given)) is not None:
            _refuse(frame, node, holder, message, itself=False)
    return None


def _listed_by_property(frame: Frame, node: cst.Call, argument: cst.Arg, prop: Any, message: str) -> Any:
    """`us = self.us`, then the call of those, then `setattr(self, f"u{i}", us[i])` of each: for a property that lists attributes by computed names."""
    given: Any = argument.value
    listed = listed_names(prop.info.node, prop.info.self_name) if frame.is_on_self(given) else None
    alone = frame.current is not None and not frame.chosen and not [n for a in node.args if a is not argument for n in tree.nodes(a.value, cst.Call)]
    if listed is None or not alone or frame.reached(COMPUTED):
        return frame.context.unconverted("mutated-argument", node, f"{message}, by a property")
    name = cst.Name(frame.fresh(given.attr.value))
    frame.facts.carry(given, name)
    frame.before(cst.Assign([cst.AssignTarget(name)], given))
    frame.after.append(_given_back(frame, given, name, *listed))
    frame.record_write(COMPUTED)
    return tree.replace(node, args=[tree.replace(a, value=name) if a is argument else a for a in node.args])


def _given_back(frame: Frame, given: cst.Attribute, name: cst.Name, clause: cst.CompFor, asked: cst.Call) -> cst.For:
    """`for i in range(n): setattr(self, f"u{i}", us[i])`"""
    one = tree.expression(f"{name.value}[{tree.code(clause.target)}]")
    frame.facts.tell(one, Tensor())
    line = cst.SimpleStatementLine([set_by_name(frame, tree.replace(asked, args=[tree.replace(asked.args[0], value=given.value), asked.args[1]]), one)])
    return cst.For(clause.target, tree.replace(clause.iter), cst.IndentedBlock([line]))


def _callees(frame: Frame, node: cst.Call) -> list[Target]:
    """What of the user's a call may run."""
    value, scope = frame.value(node.func), Scope(frame.context.module, frame.info)
    if (forward := applied(frame.facts, node)) is not None:
        return [Target(forward, scope, given_by_torch(forward))]
    targets = may_run(frame.facts, frame.mutations, node, scope)
    if isinstance(value, Module):
        targets = [*(Target(f, scope) for f in _forwards(frame, value)), *targets]
    if isinstance(value, Method) and not isinstance(value.receiver, (Tensor, Sequence, Static, Module)) and frame.runs:
        targets = [*targets, *(Target(f, scope) for f in frame.mutations.writes if f.name == value.name and f.owner is not None)]  # of an object of some class
    return list(dict.fromkeys(targets))


def _forwards(frame: Frame, value: Module) -> list[FunctionInfo]:
    """What a module runs on its argument: its forward, or that of the first layer of a Sequential."""
    found = [f for ref in value.refs if (f := frame.facts.forward_of(ref)) is not None]
    if not is_sequential(value):
        return found
    begins = beginning(value)
    if begins is None and isinstance(value.element, Module) and len(value.element.classes) == 1:
        return [*found, *_forwards(frame, value.element)]  # all are of one class: the first is of it
    return [*found, *(f for first in (begins.places[0] if begins is not None else ()) if isinstance(first, Module) for f in _forwards(frame, first))]


def _arguments(target: Target, written: Set[str], node: cst.Call) -> Iterator[tuple[str, cst.Arg]]:
    """The arguments of a call that the callee writes, each once, with the parameters that they are passed as."""
    seen: set[int] = set()  # `*xs` may be passed as several
    for name, argument in target.bound(node):
        plain = tree.code(argument.value) in ("True", "False", "None")  # a flag, which `flag |= other` binds anew
        if name in written and not plain and id(argument) not in seen:
            seen.add(id(argument))
            yield name, argument


def _passed_twice(frame: Frame, target: Target, written: Set[str], node: cst.Call) -> str | None:
    """The parameter that the callee writes, where the call gives the same memory for another as well: `mix(x, x)`, `mix(x[0], x)`."""
    for name, argument in _arguments(target, written, node):
        if any(a is not argument and frame.memory.holds_one(a.value, argument.value) for a in node.args):
            return name
    return None


def _is_taken_back(frame: Frame, call: cst.Call) -> bool:
    small = frame.current.body[0] if frame.current is not None else None
    return isinstance(small, cst.Assign) and id(small) in frame.mutations.taken and small.value is call


def _refuse(frame: Frame, node: cst.Call, own: str, message: str, itself: bool = True) -> None:
    """What the callee has written, and what may be the same memory, raises where it is read; not `itself`, where that holds the new values."""
    assigned = frame.assigned is not None and any(n is node for n in tree.nodes(frame.assigned, cst.Call))
    live = frame.live - frame.rebound if assigned else frame.live  # `q = fn(q)[-n:]`
    lost = [own] if itself and (own in live or own.startswith("self.") or frame.memory.is_unheld(own)) else []
    for name in [*lost, *frame.memory.sharing(own, live)]:
        poison = frame.context.unconverted("mutated-argument", node, message)
        if "." in name:  # of a module
            continue
        line = tree.assignment(name, poison)
        if not any(line.deep_equals(one) for one in frame.after):  # several functions that the call may run write it
            frame.after.append(line)
