"""Pieces of memory, what of it names may stand for, and what calls pass on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from ...model.node import Expression, Node
from ..values.lattice import Value

Places = frozenset["Place"]
NOTHING: Places = frozenset()


@dataclass(frozen=True, eq=False)
class Place:
    """A piece of memory: fresh, or part of others.

    A place is one evaluation of an expression: two names of one place are the same array for
    certain, those of different places may be, where they have a place below them in common.
    """

    parents: Places = NOTHING
    view: Any = None  # the expression that made it from its only parent
    base: str | None = None  # the path of the parent in the view expression
    others: tuple[tuple[str, Places], ...] = ()  # other names in it, and what they were
    parameter: str | None = None
    entry: Any = None  # what took it out of what holds it, which goes by `base`: `d["h"]`
    unheld: bool = False  # taken by a loop out of a dict that has no name
    free: str | None = None  # a name of the function around, or `self.x` of any method
    foreign: bool = False  # what an unknown function gives: others may hold it
    computed: Value | None = None  # what an operator has made of what is not known
    parts: bool = False  # a tuple of different parts of one tensor: `x.chunk(2)`
    part: tuple[Any, int] | None = None  # one of those: the expression that makes them, its number
    key: str | None = None  # of what a dict holds, where it is written out: `d["h"] = x`
    either: bool = False  # where two ways meet: one of its parents itself
    repeated: bool = False  # a list two elements of which may be the same: `[h, h]`
    grown: Places = NOTHING  # what this was, of a list that has got more: `acc.append(t)`

    def closure(self) -> set[Place]:
        """All memory that it may lie in, itself first."""
        return _closed([self], lambda place: place.parents)

    def under(self, key: str | None) -> set[Place]:
        """Of the closure of a dict, what it may hold under a key."""
        if key is None:
            return self.closure()
        # on different ways, with more and more entries
        dicts = _closed([self], lambda p: p.parents if p.either else p.grown)
        held = {q for place in dicts for q in place.parents - dicts if q.key in (None, key)}
        return dicts | closed(held)

    def holders(self) -> set[Place]:
        """What gets more where this does: itself, as it was, and what it was taken out of."""
        return _closed([self], lambda p: p.grown | (p.parents if p.entry is not None else NOTHING))


def _closed(start: list[Place], further: Any) -> set[Place]:
    found: set[Place] = set()
    todo = list(start)
    while todo:
        current = todo.pop()
        if current not in found:
            found.add(current)
            todo.extend(further(current))
    return found


Env = dict[str, Places]


@dataclass(frozen=True)
class Passed:
    """What the result of a function may be, or be a view of: parameters, and names around it."""

    parameters: frozenset[str] = frozenset()
    free: frozenset[str] = frozenset()  # `self.x` of a method
    repeated: bool = False  # two elements of the result may be the same memory
    left: frozenset[str] = frozenset()  # `self.x` as it is after the call
    exact: bool = False  # it is the only one of these, and no view of it
    items: tuple[Passed, ...] = ()  # where it is always a tuple of as many
    kept: tuple[tuple[str, Passed], ...] = ()  # what a call leaves in `self.x`, or in a list

    def __or__(self, other: Passed) -> Passed:
        alike = len(self.items) == len(other.items)
        return Passed(
            self.parameters | other.parameters,
            self.free | other.free,
            self.repeated or other.repeated,
            self.left | other.left,
            self.exact and self == other,
            tuple(a | b for a, b in zip(self.items, other.items)) if alike else (),
        )


@dataclass(frozen=True)
class Result:
    """What a function gives out at one place: what it may share, what it is, its parts."""

    shared: Places
    places: Places
    parts: tuple[Result, ...] = ()


@dataclass(frozen=True, eq=False)
class Part:
    """One of several values unpacked from, or looped over, an expression."""

    value: Expression


@dataclass
class Summary:
    """What a function does to memory that was there before it.

    `parameters` are written themselves, of `elements` what they hold; `fields` are the paths of
    arrays, below self or another root, that it writes, and `bound` those of them that it gives
    other memory. `passed` says what its result may be, and what it keeps. `causes`: for what is
    written, the node that does it.
    """

    parameters: set[str] = field(default_factory=set)
    elements: set[str] = field(default_factory=set)
    fields: set[str] = field(default_factory=set)
    bound: set[str] = field(default_factory=set)
    passed: Passed = Passed()
    causes: dict[str, Node] = field(default_factory=dict)

    def size(self) -> int:
        """How much is known; it grows from round to round."""
        return len(self.parameters) + len(self.elements) + len(self.fields)

    def __bool__(self) -> bool:
        return bool(self.size())


def merge(a: Env, b: Env) -> Env:
    """The environment where two paths meet.

    A name that is not the same place on both is one place from there on, which may be any of them:
    what is made a view of it later is a view of just that. Names that were the same on either path
    stay the same.
    """
    met: dict[tuple[Places, Places], Places] = {}
    found: Env = {}
    for name in {**a, **b}:
        if name not in a or name not in b:
            found[name] = a[name] if name in a else b[name]
        elif a[name] == b[name]:
            found[name] = a[name]
        else:
            pair = a[name], b[name]
            found[name] = met.setdefault(pair, frozenset([Place(a[name] | b[name], either=True)]))
    return found


def union(sets: Iterable[Places]) -> Places:
    return NOTHING.union(*sets)


def fresh(*parents: Place, **more: Any) -> Places:
    """One new place."""
    return frozenset([Place(frozenset(parents), **more)])


def closed(places: Iterable[Place]) -> set[Place]:
    """All memory that several places may lie in."""
    return {p for place in places for p in place.closure()}
