"""What the definitions of layers compute with, as far as what layers hold and do hangs on it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Value:
    """Nothing is known."""


UNKNOWN = Value()


@dataclass(frozen=True)
class Constant(Value):
    """A constant of Python's."""

    constant: Any


NONE = Constant(None)


@dataclass(frozen=True)
class Given(Value):
    """An argument of the constructor."""

    name: str


@dataclass(frozen=True)
class Pattern(Value):
    """A string with holes: `weight_ih_{suffix}`."""

    text: str


@dataclass(frozen=True)
class Keys(Value):
    """A dict, by its keys, each with whether it is there for certain, and its value."""

    keys: tuple[tuple[str, bool, Value], ...]


@dataclass(frozen=True)
class Function(Value):
    """A function of the rule files, or of a library."""


@dataclass(frozen=True)
class Self(Value):
    """The layer itself."""


@dataclass(frozen=True)
class Array(Value):
    """A `Parameter` or a `Buffer`."""

    kind: str  # "param" or "buffer"
    certain: bool = True  # there under every configuration


@dataclass(frozen=True)
class Part(Value):
    """A layer inside."""

    layer: str | None  # its name; None for one that is given
    elements: tuple[Value, ...] = ()  # what it is given to hold
    other: bool = False  # where another one may be given
    flat: bool = False  # its arrays are named as if they were the owner's


@dataclass(frozen=True)
class Tuple(Value):
    """A tuple or list that is written out."""

    items: tuple[Value, ...]


@dataclass(frozen=True)
class Held(Value):
    """A list of any length, by what is in it."""

    element: Value


def join(a: Value, b: Value) -> Value:
    """What holds where two ways meet."""
    if a == b:
        return a
    if isinstance(a, Array) or isinstance(b, Array):
        first = a if isinstance(a, Array) else b
        assert isinstance(first, Array)
        return dataclasses.replace(first, certain=False)
    if isinstance(a, Part) or isinstance(b, Part):
        first, second = (a, b) if isinstance(a, Part) else (b, a)
        assert isinstance(first, Part)
        if isinstance(second, Part) and second.layer != first.layer:
            return Part(None)
        absent = second == NONE or isinstance(second, Part)
        return first if absent else dataclasses.replace(first, other=True)
    if isinstance(a, Tuple) and isinstance(b, Tuple) and len(a.items) == len(b.items):
        return Tuple(tuple(map(join, a.items, b.items)))
    if isinstance(a, Keys) and isinstance(b, Keys):
        there = {key: sure for key, sure, _ in b.keys}
        kept = [(key, sure and there.get(key, False), value) for key, sure, value in a.keys]
        old = {key for key, _, _ in a.keys}
        added = [(key, False, value) for key, _, value in b.keys if key not in old]
        return Keys((*kept, *added))
    return UNKNOWN


def joined(values: Iterable[Value | None]) -> Value | None:
    """What holds of all of these; None where there are none."""
    found: Value | None = None
    for value in values:
        if value is not None:
            found = value if found is None else join(found, value)
    return found


def truth(value: Value) -> bool | None:
    """Whether a value counts as true, where that is known."""
    if isinstance(value, Constant):
        return bool(value.constant)
    if isinstance(value, (Part, Function, Self)):
        return None if isinstance(value, Part) and value.other else True
    return None


def is_none(value: Value) -> bool | None:
    """Whether a value is None, where that is known."""
    if isinstance(value, Constant):
        return value.constant is None
    if isinstance(value, Array):
        return False if value.certain else None
    return False if isinstance(value, (Pattern, Keys, Function, Self, Tuple, Held)) else None


def element_of(value: Value) -> Value:
    """What iterating over a value gives."""
    if isinstance(value, Held):
        return value.element
    if isinstance(value, Tuple):
        return joined(value.items) or UNKNOWN
    if isinstance(value, Part):
        return joined(value.elements) or Part(None)
    return Part(None) if isinstance(value, Self) else UNKNOWN


def name_of(value: Value) -> str | None:
    """The name that a value gives an attribute, or the pattern of it."""
    if isinstance(value, Pattern):
        return value.text
    text = value.constant if isinstance(value, Constant) else None
    return text if isinstance(text, str) else None
