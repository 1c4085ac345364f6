"""Pieces of memory, what of it names may stand for, and what calls pass on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..values import Value


@dataclass(frozen=True, eq=False)
class Place:
    """A piece of memory: fresh, or part of others. `view` is the expression that made it from its only parent."""

    parents: frozenset[Place] = frozenset()
    view: Any = None
    base: str | None = None  # the name of the parent in the view expression
    others: tuple[tuple[str, frozenset[Place]], ...] = ()  # other names in it, and what they were
    parameter: str | None = None
    entry: Any = None  # the expression that took it out of what holds it, which goes by `base`: `d["h"]`, `obj.h`
    unheld: bool = False  # taken by a loop out of a dict that has no name: `for v in unwrap(m).state_dict().values()`
    free: str | None = None  # of a function inside, or a lambda: a name of the function around it, or `self.x` of any method
    foreign: bool = False  # an element of what an unknown function gives, or that itself: `for h in helper.hidden()`
    computed: Value | None = None  # what an operator has made of what is not known: a number, where that is a number
    parts: bool = False  # a tuple of different parts of one tensor: `x.chunk(2)`
    part: tuple[Any, int] | None = None  # one of several that are made of different parts: of the expression that makes them, and its number
    repeated: bool = False  # a list two elements of which may be the same memory: `[h, h]`, `[torch.zeros(3)] * 2`
    grown: frozenset[Place] = frozenset()  # what this was, of a list that has got more: `acc.append(t)`

    def closure(self) -> set[Place]:
        found: set[Place] = set()
        todo = [self]
        while todo:
            current = todo.pop()
            if current not in found:
                found.add(current)
                todo.extend(current.parents)
        return found

    def holders(self) -> set[Place]:
        """What gets more where this does: itself, as it was before, and what it was taken out of."""
        found: set[Place] = set()
        todo = [self]
        while todo:
            current = todo.pop()
            if current not in found:
                found.add(current)
                todo.extend([*current.grown, *(current.parents if current.entry is not None else ())])
        return found


Env = dict[str, frozenset[Place]]
COMPUTED = "self.getattr"  # stands for what holds the attributes of self with computed names


@dataclass(frozen=True)
class Passed:
    """What the result of a function may be, or be a view of: parameters, and names around it."""

    parameters: frozenset[str] = frozenset()
    free: frozenset[str] = frozenset()  # `self.x` of a method
    repeated: bool = False  # two elements of the result may be the same memory
    left: frozenset[str] = frozenset()  # `self.x` of a method, as it is after the call: `self.h = y * 2; return self.h`
    exact: bool = False  # it is the only one of these, and no view of it
    items: tuple[Passed, ...] = ()  # where it is always a tuple of as many
    kept: tuple[tuple[str, Passed], ...] = ()  # what a call leaves in `self.x`, and adds to what a parameter holds: `self.x = t`, `acc.append(t)`

    def __or__(self, other: Passed) -> Passed:
        return Passed(self.parameters | other.parameters, self.free | other.free, self.repeated or other.repeated, self.left | other.left, self.exact and self == other, self._both_items(other))

    def _both_items(self, other: Passed) -> tuple[Passed, ...]:
        return tuple(a | b for a, b in zip(self.items, other.items)) if len(self.items) == len(other.items) else ()


@dataclass(frozen=True)
class Result:
    """What a function gives out at one place: what it may share memory with, what it is, and the parts of a tuple."""

    shared: frozenset[Place]
    places: frozenset[Place]
    parts: tuple[Result, ...] = ()


@dataclass(frozen=True)
class Part:
    """One of several values unpacked from, or looped over, an expression."""

    value: Any


def merge(a: Env, b: Env) -> Env:
    """The environment where two paths meet.

    A name that is not the same place on both is one place from there on, which may be any of them: what is made a view of
    it later is a view of just that. Names that were the same on either path stay the same.
    """
    met: dict[tuple[frozenset[Place], frozenset[Place]], frozenset[Place]] = {}
    found: Env = {}
    for name in {*a, *b}:
        if name not in a or name not in b:
            found[name] = a[name] if name in a else b[name]
        elif a[name] == b[name]:
            found[name] = a[name]
        else:
            pair = a[name], b[name]
            found[name] = met.setdefault(pair, frozenset([Place(a[name] | b[name])]))
    return found


def union(sets: Any) -> frozenset[Place]:
    found: frozenset[Place] = frozenset()
    for s in sets:
        found |= s
    return found
