"""What may be given in the place of a default: of the same kind, and another value."""

import dataclasses

from .frame import Frame
from .lattice import (
    ARRAY_TYPE,
    FUNCTION,
    INITIALISER,
    MISSING,
    NONE,
    UNKNOWN,
    Class,
    Function,
    Mapping,
    Module,
    Open,
    Sequence,
    Static,
    Torch,
    Value,
    is_initialiser,
)


def of_kind(frame: Frame, default: Value) -> Value:
    """What may be given where a default stands: another function, another layer, other numbers."""
    rulebook = frame.facts.rulebook
    if isinstance(default, Static):
        return Static(MISSING, default.type, loose=True) if default != NONE else default
    if isinstance(default, Torch):
        if is_initialiser(default):
            return INITIALISER
        if rulebook.constant(f"{default.name}[dtype]"):
            return ARRAY_TYPE
        layer = rulebook.layer(default.name)
        if layer is not None:
            return Class(Open(default.name)) if rulebook.is_module(layer) else UNKNOWN
        return FUNCTION if rulebook.is_function(default.name) else UNKNOWN
    if isinstance(default, Class):
        return Class(Open(default.ref))
    if isinstance(default, Module):
        return dataclasses.replace(default, open=True, items=None, element=None)
    if isinstance(default, Function):
        return UNKNOWN
    if isinstance(default, Sequence):
        items = default.items
        items = None if items is None else tuple(of_kind(frame, item) for item in items)
        return Sequence(of_kind(frame, default.element), items, default.tuple, loose=True)
    if isinstance(default, Mapping):
        return Mapping(of_kind(frame, default.element), default.placed)
    return default
