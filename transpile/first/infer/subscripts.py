"""Subscripts, by what they are taken of."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import libcst as cst

from ..beginnings import PLACES, Beginning
from ..project import ClassInfo, is_own_module
from ..values import (
    MISSING,
    NONE,
    NUMPY,
    UNKNOWN,
    External,
    Mapping,
    Module,
    Sequence,
    Static,
    Tensor,
    Value,
    beginning,
    least_dims,
    members,
)
from .frame import Env, Frame, Handlers


def _subscript(frame: Frame, node: cst.Subscript, env: Env) -> Value:
    base = frame.expression(node.value, env)
    if is_own_module(node):
        return External("module:" + frame.module.dotted)
    is_slice, index, bounds = False, UNKNOWN, MISSING
    for element in node.slice:
        part: Any = element.slice
        if isinstance(part, cst.Index):
            index = frame.expression(part.value, env)
        else:
            is_slice, bounds = True, _bounds(part)
            for bound in (part.lower, part.upper, part.step):
                if bound is not None:
                    frame.expression(bound, env)
    of_base = _BY_BASE.get(base.__class__)
    constant = bounds if is_slice else index.const if isinstance(index, Static) else MISSING
    if isinstance(base, Tensor) and is_slice and len(node.slice) > 1:
        return Tensor(kind=base.kind, host=base.host, dims=_dims(frame, base, node))  # no list and no dict is asked for `x[:, 0]`
    found = of_base(frame, base, constant, is_slice) if of_base is not None else UNKNOWN
    return dataclasses.replace(found, dims=_dims(frame, base, node)) if isinstance(found, Tensor) and isinstance(base, Tensor) else found


HANDLERS: Handlers = {cst.Subscript: _subscript}


def _dims(frame: Frame, base: Tensor, node: cst.Subscript) -> int:
    """How many dims an index leaves at least: `x[:, None]`, `x[mask]`."""
    made, taken = 0, 0
    for element in node.slice:
        index = frame.facts.of(element.slice.value) if isinstance(element.slice, cst.Index) else NONE
        kept = index == NONE or isinstance(index, Tensor) and (index.kind == "b" or least_dims(index) > 0)
        more = isinstance(element.slice, cst.Index) and isinstance(element.slice.value, cst.Ellipsis)
        made, taken = made + (kept and not more), taken + (not kept and not more)
    return max(made, least_dims(base) - taken)


def _bounds(part: cst.Slice) -> Any:
    """Where a slice begins, and whether it goes on to the end: (2, True) for `[2:]`; MISSING where that is not known, or goes backwards."""
    if part.step is not None or part.lower is not None and not isinstance(part.lower, cst.Integer):
        return MISSING
    return 0 if part.lower is None else int(part.lower.value), part.upper is None


def _cut(base: Sequence | Module, bounds: Any) -> Beginning | None:
    """How a slice begins."""
    whole = beginning(base)
    if whole is None or bounds is MISSING:
        return None
    lower, to_end = bounds
    cut = whole.from_place(lower, [base.element] if base.items is None else members(base)[PLACES:])
    return cut if cut is None or to_end else cut.up_to_any()


def _of_tensor(frame: Frame, base: Tensor, index: Any, is_slice: bool) -> Value:
    return Tensor(base.assumed, kind=base.kind, host=base.host)


def _of_sequence(frame: Frame, base: Sequence, index: Any, is_slice: bool) -> Value:
    if is_slice:
        return Sequence(base.element, None, base.tuple, _cut(base, index))
    if base.items is not None and isinstance(index, int) and not isinstance(index, bool):
        if -len(base.items) <= index < len(base.items):
            return base.items[index]
    return base.element


def _of_static(frame: Frame, base: Static, index: Any, is_slice: bool) -> Value:
    if base.type in ("shape", "range"):
        return Static(MISSING, "shape" if is_slice else "int")
    if base == NUMPY:
        return base
    return Static() if base.type else UNKNOWN


def _of_module(frame: Frame, base: Module, index: Any, is_slice: bool) -> Value:
    """A submodule of a container; a slice is a container itself."""
    if is_slice:
        return dataclasses.replace(base, items=None, is_self=False, beginning=_cut(base, index))
    if base.items is not None:
        if isinstance(index, str) and index in dict(base.items):
            return dict(base.items)[index]
        if isinstance(index, int) and -len(base.items) <= index < len(base.items):
            return base.items[index][1]
    if base.element is not None:
        return base.element
    held = (frame.facts.held(ref) for ref in base.refs if isinstance(ref, ClassInfo))
    return next((h for h in held if h is not None), Module(open=True))


def _of_mapping(frame: Frame, base: Mapping, index: Any, is_slice: bool) -> Value:
    return base.element


_BY_BASE: dict[type, Callable[[Frame, Any, Any, bool], Value]] = {
    Tensor: _of_tensor,
    Sequence: _of_sequence,
    Static: _of_static,
    Module: _of_module,
    Mapping: _of_mapping,
}
