"""Assignments that take back what a call has changed: `z, x = shifted(x)` for `z = shifted(x)`."""

from __future__ import annotations

from typing import Any

import libcst as cst

from ... import tree
from ...emit import display, enclosed
from ...values import UNKNOWN, Method
from .aliases import element_written, follow
from .expressions import rewritten
from .frame import Frame
from .rebinding import written_name
from .stores import holds_objects, store


def taken_back(frame: Frame, node: cst.Assign, target: Any) -> Any:
    """Other names for what the call has changed follow, and parts of others are put back.

    What the assignment itself sets is no write. Where it gives the name of what was changed to the result, `x = shifted(x)`,
    that is set last: it is `x, _ = shifted(x)`, or goes by another name for the result where others for the old x are read later.
    """
    value = rewritten(frame, node.value)
    if not frame.mutations.taken[id(node)]:
        return _assigned(frame, node, None, [e.value for e in target.elements] if isinstance(target, cst.Tuple) else [target], value)
    own, *changed = [e.value for e in target.elements]
    live, rebound = frame.live, frame.liveness.writes(cst.Assign([cst.AssignTarget(own)], own))
    frame.live = live - rebound
    lost = [one for one in changed if tree.code(one) == tree.code(own) or written_name(frame, one) in rebound]
    if any(_is_read_elsewhere(frame, one) for one in lost):
        made = _in_two_steps(frame, node, own, changed, value)
    else:
        for name in filter(None, (written_name(frame, one) for one in lost)):
            frame.record_write(name)
        made = _assigned(frame, node, own, [cst.Name("_") if one in lost else one for one in changed], value)
    frame.live = live
    frame.memory.bind(own, node.value)
    return made


def _is_read_elsewhere(frame: Frame, subject: Any) -> bool:
    """Whether what a call has changed may be read later under another name than that of its result."""
    if frame.is_held_by_object(subject) and not frame.is_owned(subject.attr.value):
        return True
    name = written_name(frame, subject)
    return name is not None and bool(frame.reached(name))


def _in_two_steps(frame: Frame, node: cst.Assign, own: Any, changed: list[Any], value: Any) -> Any:
    """`result, x = shifted(x)`, then other names for the old x follow, then `x = result`."""
    if any(frame.is_element(one) for one in (own.elements if isinstance(own, cst.Tuple) else [own])):
        message = "a call changes an argument in place, whose old value is read later under another name, and its result is stored in it"
        return cst.Expr(frame.context.unconverted("aliased-write", node.value, message))
    result = cst.Name(frame.fresh("result"))
    frame.facts.carry(node.value, result)
    frame.before_with_followers(_assigned(frame, node, result, changed, value))
    return cst.Assign([cst.AssignTarget(own)], result)


def _assigned(frame: Frame, node: cst.Assign, own: Any, changed: list[Any], value: Any) -> Any:
    """The assignment of a call to the target of its own, if it has one, and to what it has changed: elements of tensors by names in between."""
    targets, stores = [], []
    for i, one in enumerate([own, *changed] if own is not None else changed):
        if frame.is_element(one) and not holds_objects(frame, one, node.value):
            name = cst.Name(frame.fresh(f"part_{i}" if i else "part"))
            frame.facts.carry(one, name)
            stores.append((one, name))
            targets.append(name)
        else:
            targets.append(one)
    for one in changed:
        of_object = isinstance(one, cst.Attribute) and (frame.value(one) == UNKNOWN or isinstance(frame.value(one), Method))
        if isinstance(one, (cst.Name, cst.Attribute)) and (frame.is_tensor(one) or of_object):
            follow(frame, one, node.value)
        elif isinstance(one, cst.Subscript) and not frame.is_element(one):
            element_written(frame, one, node.value)
    made = cst.Assign([cst.AssignTarget(targets[0] if len(targets) == 1 else display(list(map(enclosed, targets))))], value)
    for one, name in stores:
        frame.before(made)
        made = store(frame, cst.Assign([cst.AssignTarget(one)], name), one, name)
    return made
