"""Arrays that are taken from a layer after it is made: `conv.bias = None`, which is what a layer made with `bias=False` has."""

from __future__ import annotations

from typing import Any

import libcst as cst

from ...context import Context
from ...project import ClassInfo
from ...values import Module
from .initial_values import is_none
from .questions import NO_ARRAYS, below_self, foreign_array


def taken_away(context: Context, line: cst.SimpleStatementLine, own: str | None) -> Any:
    """A line that takes an array from another module: itself where the layer asks a flag of that name, else what raises; None for other lines."""
    small: Any = line.body[0]
    target: Any = small.target if isinstance(small, cst.Del) else None
    if isinstance(small, cst.Assign) and len(small.targets) == 1 and is_none(small.value):
        target = small.targets[0].target
    array = foreign_array(context, target, own) or below_self(context, target, own)
    if array is None or getattr(context.value(target.value), "is_bare", False):
        return None
    layer = context.value(target.value)
    if isinstance(small, cst.Assign) and isinstance(layer, Module) and not layer.open and layer.classes and all(is_flag(context, ref, array.name) for ref in layer.refs):
        return line
    return cst.SimpleStatementLine([cst.Expr(context.unconverted("module-value", small, NO_ARRAYS))], leading_lines=line.leading_lines)


def is_flag(context: Context, ref: ClassInfo | str, name: str) -> bool:
    """Whether such a layer keeps under the array's name whether it is made with one: `bias=True`."""
    definition = context.facts.layer_of(ref) if isinstance(ref, ClassInfo) else context.rulebook.layer(ref)
    return definition is not None and any(p.name == name for p in context.rulebook.constructor(definition)) and name in context.rulebook.optional(definition.name)
