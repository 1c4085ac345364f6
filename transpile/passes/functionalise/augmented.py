"""Augmented assignments: `x += y` binds x, and its other names follow; of a part or an array of a
module it is a write."""

from typing import Any

from ...facts.memory import indices
from ...facts.memory.access_paths import of
from ...facts.memory.writes import is_data, is_element, may_be_number, stripped, writes_augmented
from ...facts.values.lattice import UNKNOWN, Method, Tensor
from ...model.copy import clone
from ...model.effects import Read
from ...model.expressions import Attribute, Name, Subscript
from ...model.node import Expression, Statement
from ...model.statements import Assign
from . import nodes
from .aliases import element_written, follow
from .expressions import visit
from .frame import Frame
from .rebinding import is_detached, rebind

# For each augmented assignment the way to put something into an array.
_HOW = {"+": "add", "-": "subtract", "*": "multiply", "/": "divide", "**": "power"}


def augmented(frame: Frame, node: Assign) -> list[Statement]:
    target, value = node.targets[0], node.expression
    assert value is not None
    if isinstance(target, Subscript):
        visit(frame, target.index)
    writes = writes_augmented(frame.state, node)
    visit(frame, value)
    value = node.expression or value
    if not writes:
        _tell_number(frame, node)
        if isinstance(target, Read):
            return [nodes.store(clone(target), nodes.binary(target, node.operator, value))]
        return [node]
    if is_element(target):
        return _augmented_store(frame, node, target, value)
    if isinstance(target, Read) or is_data(target) or not _binds(frame, target):
        if _is_object_field(frame, target):
            element_written(frame, target, node)
            return [node]
        new = nodes.binary(_plain(frame, target), node.operator, value)
        return rebind(frame, target, new, node)
    if frame.goes_over_params(target) or frame.is_elsewhere(target) or frame.is_outer(target):
        return rebind(frame, target, nodes.binary(clone(target), node.operator, value), node)
    follow(frame, target, node)
    new = nodes.binary(clone(target), node.operator, clone(value))  # the node keeps its own
    kept = nodes.in_dtype(target, new)
    return [node] if kept is new else [Assign([clone(target)], kept)]


def _binds(frame: Frame, target: Expression) -> bool:
    """Whether `target += value` binds what it names: `x`, `self.h`."""
    return (
        isinstance(target, Name)
        or isinstance(target, Attribute)
        and (frame.state.path(target) is not None and not frame.state.paths.is_array(target))
    )


def _is_object_field(frame: Frame, target: Expression) -> bool:
    """`obj.h += x`, `d["a"] += x`: the field gets the new value as it is written."""
    if isinstance(target, Subscript):
        return not is_element(target)
    unknown = of(target) == UNKNOWN or isinstance(of(target), (Method, Tensor))
    plain = isinstance(target, Attribute) and not isinstance(target, Read) and not is_data(target)
    array = frame.state.paths.is_array(target)
    return plain and unknown and not array and target.name not in ("T", "mT")  # type: ignore[attr-defined]


def _plain(frame: Frame, target: Expression) -> Expression:
    plain: Expression = clone(stripped(target, frame.views))
    return plain


def _tell_number(frame: Frame, node: Assign) -> None:
    target = node.targets[0]
    known = of(target)
    others: list[str] = []
    if isinstance(target, Attribute) and (known == UNKNOWN or isinstance(known, Method)):
        others = _held_by(frame, target)
    elif isinstance(target, Name) and not (isinstance(known, Tensor) and known.number is True):
        others = frame.reached(target.id) if may_be_number(frame.state, node) else []
    if others:
        message = (
            f"{nodes.source(target)} is taken for a number: where it is a tensor, "
            f"{', '.join(others)} may change as well"
        )
        frame.changes.report("taken-for-granted", node, message)


def _held_by(frame: Frame, target: Attribute) -> list[str]:
    """The tensors that a local object may hold: z of `a = A(z)`, for `a.t += 1`."""
    holder = target.object
    if not isinstance(holder, Name) or frame.state.path(target) is not None:
        return []
    return [o for o in frame.reached(holder.id) if frame.is_tensor(frame.named(o))]


def _augmented_store(frame: Frame, node: Assign, target: Any, value: Expression) -> list[Statement]:
    """`x[i] += v`. Of repeats in i the last one wins, so that only known places are added to."""
    base, kind = stripped(target.object, frame.views), indices.kind(target.index, target.object)
    how = _HOW.get(node.operator)
    index = clone(target.index)
    if how is not None and kind in ("basic", "mask", "bools"):
        made = nodes.put(clone(base), index, how, value)
    else:
        old = Subscript(clone(base), clone(target.index))
        old.value = target.value or Tensor()
        made = nodes.put(clone(base), index, "set", nodes.binary(old, node.operator, value))
    return rebind(frame, target.object, made, node, is_detached(frame, target))
