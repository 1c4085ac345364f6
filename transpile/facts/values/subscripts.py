"""Subscripts, by what they are taken of."""

import dataclasses
from collections.abc import Callable
from typing import Any

from ...model import program
from ...model.constants import is_constant
from ...model.expressions import Display, Slice, Starred, Subscript
from ...model.node import Expression
from ...model.project import is_own_module
from .frame import Env, Frame
from .lattice import (
    INT,
    MISSING,
    NONE,
    NUMPY,
    SHAPE,
    UNKNOWN,
    Class,
    Mapping,
    Module,
    Package,
    Sequence,
    Static,
    Tensor,
    Value,
    least_dims,
)


def indices(node: Subscript) -> list[Expression]:
    """The indices of `x[a, b:c]`, one by one; a tuple in parentheses is one."""
    index = node.index
    if isinstance(index, Display) and index.kind == "tuple" and index.enclosed is None:
        return index.elements if index.elements else [index]
    return [index]


def subscript(frame: Frame, node: Subscript, env: Env) -> Value:
    base = frame.expression(node.object, env)
    if is_own_module(node):
        return Package(frame.file)
    parts, is_slice, index = indices(node), False, UNKNOWN
    for part in parts:
        if isinstance(part, Slice):
            is_slice = True
            for bound in part.children():
                frame.expression(bound, env)  # type: ignore[arg-type]
        else:
            inner = part.expression if isinstance(part, Starred) else part
            index = frame.expression(inner, env)
    if isinstance(base, Tensor):
        dims = _dims(frame, base, parts)
        assumed = base.assumed and not (
            is_slice and len(parts) > 1
        )  # no list is asked for `x[:, 0]`
        return Tensor(assumed, kind=base.kind, host=base.host, dims=dims, width=base.width)
    of_base = _BY_BASE.get(base.__class__)
    constant = index.const if isinstance(index, Static) and not is_slice else MISSING
    return of_base(frame, base, constant, is_slice) if of_base is not None else UNKNOWN


def _dims(frame: Frame, base: Tensor, parts: list[Expression]) -> int:
    """How many dims an index leaves at least: `x[:, None]`, `x[mask]`."""
    made, taken = 0, 0
    for part in parts:
        index = NONE if isinstance(part, Slice) else frame.facts.of(part)
        mask = isinstance(index, Tensor) and (index.kind == "b" or least_dims(index) > 0)
        kept = index == NONE or mask
        more = is_constant(part, ...)
        made, taken = made + (kept and not more), taken + (not kept and not more)
    return max(made, least_dims(base) - taken)


def _of_sequence(frame: Frame, base: Sequence, index: Any, is_slice: bool) -> Value:
    if is_slice:
        return Sequence(base.element, None, base.tuple)
    if base.items is not None and isinstance(index, int) and not isinstance(index, bool):
        if -len(base.items) <= index < len(base.items):
            return base.items[index]
    return base.element


def _of_static(frame: Frame, base: Static, index: Any, is_slice: bool) -> Value:
    if base.type in ("shape", "range"):
        return SHAPE if is_slice else INT
    if base == NUMPY:
        return base
    return Static() if base.type else UNKNOWN


def _of_module(frame: Frame, base: Module, index: Any, is_slice: bool) -> Value:
    """A submodule of a container; a slice is a container itself."""
    if is_slice:
        return dataclasses.replace(base, items=None, is_self=False)
    if base.items is not None:
        if isinstance(index, str) and index in dict(base.items):
            return dict(base.items)[index]
        if isinstance(index, int) and -len(base.items) <= index < len(base.items):
            return base.items[index][1]
    if base.element is not None:
        return base.element
    classes = (ref for ref in base.refs if isinstance(ref, program.Class))
    held = (frame.facts.contents(ref) for ref in classes)
    return next((h for h in held if h is not None), Module(open=True))


def _of_mapping(frame: Frame, base: Mapping, index: Any, is_slice: bool) -> Value:
    return base.element


def _of_class(frame: Frame, base: Class, index: Any, is_slice: bool) -> Value:
    """`Box[nn.Linear](layer)`: hints choose nothing; an enum's member is another thing."""
    generic = isinstance(base.ref, program.Class) and not frame.facts.project.is_enum(base.ref)
    return base if generic else UNKNOWN


_BY_BASE: dict[type, Callable[[Frame, Any, Any, bool], Value]] = {
    Sequence: _of_sequence,
    Static: _of_static,
    Module: _of_module,
    Mapping: _of_mapping,
    Class: _of_class,
}
