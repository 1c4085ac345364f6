"""What an in-place operation on an expression writes, and the assignment that gives it the new value."""

from __future__ import annotations

from typing import Any

import libcst as cst

from ... import tree
from ...casts import is_cast, is_copy
from ...emit import call
from ...indices import copies, index_expression, index_kind
from ...inplace import reshapes
from ...project import FunctionInfo
from ...values import Function, Module, Torch
from .aliases import computed_written, element_written, follow
from .frame import Frame
from .histories import is_detached, kept
from .views import at_index, is_part, is_transposed, put_back, written_back

_ELSEWHERE = "what is written by this name is an array of a module, and which is not known: write it by its path, self.fc.weight"
_PROPERTY = "what is written here is what a property gives, and which array that is, is not known: write it by the name of the array"
_PARAMS = "a loop writes the params of a module, which do not change here: return new ones, jax.tree.map(lambda old, new: ..., old, new)"

_UPDATES = {"add": "add", "sub": "subtract", "mul": "multiply", "div": "divide", "pow": "power"}  # methods of tensors, and those of `x.at[…]`


def rebind(frame: Frame, subject: Any, value: Any, node: Any, detached: bool = False) -> Any:
    """Assign a new value to what an in-place operation wrote, and let its aliases follow.

    `detached`: it was written through its data, and keeps its gradient.
    """
    detached = detached or is_detached(frame, subject)
    if (of_all := stripped(frame, subject)) is not subject and reshapes(frame.context, getattr(node, "value", node)) is not None:
        return _refuse(frame, subject)  # `x.data.resize_(3)` leaves x its shape, `x.contiguous().t_()` only where that is a copy
    subject = of_all
    if frame.is_elsewhere(subject) and not frame.is_of_params(subject):
        return cst.Expr(frame.context.unconverted("aliased-write", subject, _ELSEWHERE))
    listed = isinstance(subject, cst.Subscript) and not frame.is_element(subject)  # `self.sv[0][:] = v` of a list of buffers
    if (prop := _property(frame, subject.value if listed else subject)) is not None:
        held = _held_by(frame, subject, prop) if not listed else None
        return rebind(frame, held, value, node, detached) if held is not None else cst.Expr(frame.context.unconverted("aliased-write", subject, _PROPERTY))
    if isinstance(subject, cst.Subscript):
        return _rebind_element(frame, subject, value, node, detached)
    if is_cast(frame.context, subject):
        return cst.Expr(value) if is_copy(frame.context, subject) else _refuse(frame, subject)
    if frame.runs and frame.memory.is_computed(subject):
        return computed_written(frame, subject, kept(frame, subject, value) if detached else value, node)
    if isinstance(subject, cst.Call) and isinstance(subject.func, cst.Attribute) and not isinstance(frame.value(subject.func), Torch):
        back = put_back(frame, subject, value)
        return rebind(frame, subject.func.value, back, node, detached) if back is not None else _refuse(frame, subject)
    if not isinstance(subject, (cst.Name, cst.Attribute)):
        return _refuse(frame, subject)
    if is_transposed(subject):
        swapped = cst.Attribute(tree.fit(subject, "value", value), subject.attr)
        frame.facts.carry(subject, swapped)
        return rebind(frame, subject.value, swapped, node, detached)
    if frame.goes_over_params(subject):
        return cst.Expr(frame.context.unconverted("parameter-write", subject, _PARAMS))
    follow(frame, subject, node)
    assignment = cst.Assign([cst.AssignTarget(subject)], kept(frame, subject, value) if detached else value)
    frame.facts.kept.append(assignment)
    frame.facts.in_place.add(id(assignment))
    return assignment


def _property(frame: Frame, subject: Any) -> FunctionInfo | None:
    """The property of a module that gives what is written: `self.u` of `self.u[:] = v`."""
    base = frame.value(subject.value) if isinstance(subject, cst.Attribute) else None
    found = frame.facts.by_property(base, subject.attr.value) if isinstance(base, Module) else None
    return found.info if isinstance(found, Function) else None


def _held_by(frame: Frame, subject: cst.Attribute, prop: FunctionInfo) -> Any:
    """`self.sn_u` for `self.u`, a property that only returns that; None where it does more."""
    body = [s for s in tree.body_statements(prop.node) if not tree.is_docstring(s)]
    given: Any = tree.only_small(body[0]) if len(body) == 1 else None
    held: Any = given.value if isinstance(given, cst.Return) else None
    if not isinstance(held, cst.Attribute) or tree.dotted(held.value) != prop.self_name or not frame.is_tensor(held):
        return None
    made = tree.replace(held, value=subject.value)
    frame.facts.carry(held, made)
    return made


def _rebind_element(frame: Frame, subject: cst.Subscript, value: Any, node: Any, detached: bool) -> Any:
    """`x[0].add_(y)`: of a tensor, x gets the new row; of a list, its element is set."""
    if not frame.is_element(subject):
        if is_part(frame, subject):
            base: Any = subject.value
            return rebind(frame, base.func.value, written_back(frame, subject, value), node, detached)
        if isinstance(subject.value, cst.Call) and isinstance(frame.value(subject.value.func), Torch):
            return _refuse(frame, subject)
        element_written(frame, subject, node)
        return cst.Assign([cst.AssignTarget(subject)], kept(frame, subject, value) if detached else value)
    if index_kind(frame.context, subject.slice) == "basic":
        method, given = _updating(subject, value)
        return rebind(frame, subject.value, at_index(frame, stripped(frame, subject.value), subject, method, given), node, detached)
    if copies(frame.context, subject.slice):
        return cst.Expr(value) if isinstance(node, cst.Expr) else _refuse(frame, subject)  # nothing changes
    base = stripped(frame, subject.value)
    made = call(frame.context.name("write_item"), [base, index_expression(subject.slice), value])
    frame.facts.carry(base, made)
    return rebind(frame, subject.value, made, node, detached)


def memory_of(frame: Frame, subject: Any) -> str:
    """Whether an expression is a "view" of what it is taken from, a "copy", or "either", which only the run tells: `x[i]` of an i that may be an array."""
    subject = stripped(frame, subject)
    if isinstance(subject, cst.Call) and isinstance(subject.func, cst.Attribute):
        return memory_of(frame, subject.func.value)
    if not isinstance(subject, (cst.Subscript, cst.Attribute)):
        return "view"
    found = memory_of(frame, subject.value)
    if found == "copy" or not frame.is_element(subject) or index_kind(frame.context, subject.slice) == "basic":
        return found
    return "copy" if copies(frame.context, subject.slice) else "either"


def _updating(subject: cst.Subscript, value: Any) -> tuple[str, Any]:
    """The method of `x.at[0]` that gives the row a value: `multiply` by 2 for `x[0].mul(2)`, or `set`."""
    if isinstance(value, cst.Call) and isinstance(value.func, cst.Attribute) and value.func.value is subject and len(value.args) == 1:
        method, argument = _UPDATES.get(value.func.attr.value), value.args[0]
        if method is not None and argument.keyword is None and not argument.star:
            return method, argument.value
    return "set", value


def _refuse(frame: Frame, subject: Any) -> Any:
    return cst.Expr(frame.context.unconverted("aliased-write", subject, "an in-place operation on an expression whose memory is not known"))


def stripped(frame: Frame, subject: Any) -> Any:
    """`x.data`, `x.detach()` and the like are x itself, as far as a write goes."""
    while True:
        if frame.is_data(subject):
            subject = subject.value
        elif _is_same(frame, subject):
            subject = subject.func.value
        else:
            return subject


def _is_same(frame: Frame, node: Any) -> bool:
    """`x.detach()`, `x.contiguous()`, `x.requires_grad_()`."""
    name = node.func.attr.value if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) else ""
    return name in ("detach", "contiguous", "requires_grad_") and frame.views.get(name) == "same"


def lvalue(frame: Frame, subject: Any) -> Any:
    """The name or attribute that an in-place operation on this expression writes."""
    subject = stripped(frame, subject)
    while isinstance(subject, cst.Subscript):
        subject = stripped(frame, subject.value)
    return subject if isinstance(subject, (cst.Name, cst.Attribute)) else None


def written_name(frame: Frame, subject: Any) -> str | None:
    """That name for the alias analysis: `x`, or `self.x`."""
    root = lvalue(frame, subject)
    return frame.memory.path(root) if root is not None else None
