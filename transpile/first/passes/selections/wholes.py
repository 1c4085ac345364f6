"""What is known of an expression that stands for a selection, of what is reduced from one, and of the names of a function."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from .ranks import Ranks

RAW, FINITE = "raw", "finite"  # what is outside of the mask: anything, or some number; or this very number
Origins = frozenset[int]  # the ids of the subscripts and calls that select


@dataclass(frozen=True)
class Mask:
    """A mask by its name or attribute, at one of the values that it has."""

    text: str
    versions: tuple[tuple[str, int], ...]
    ranks: Ranks
    flat: bool = False  # of `torch.masked_select`, which broadcasts it; an index puts it above the leading dims


class Root(NamedTuple):
    """Where a name was selected from."""

    statement: int  # counted from the start of the function
    block: int
    name: str


@dataclass(frozen=True)
class Chosen:
    """Of an expression that stands whole for what a mask selects."""

    mask: Mask
    origins: Origins
    ranks: Ranks
    outside: Any = RAW
    subject: tuple[str, int] | None = None  # a name with the rank of the whole, and its version
    binding: Any = None  # the place where the name was bound that this is
    kind: str | None = None
    root: Root | None = None


@dataclass(frozen=True)
class Number:
    """Of a number that is reduced from a selection; `counted` where to torch it is one of Python's."""

    origins: Origins
    counted: bool = False


@dataclass(frozen=True)
class Mixed:
    """Of a name that is a selection on some ways only."""

    origins: Origins


Info = Chosen | Number | Mixed | None


@dataclass(frozen=True)
class Entry:
    """A name at one place."""

    version: int
    ranks: Ranks
    info: Info = None


@dataclass
class Env:
    """The names of a function at one place."""

    names: dict[str, Entry] = field(default_factory=dict)
    same: dict[Ranks, Ranks] = field(default_factory=dict)  # ranks that are known to be equal
    hoisted: dict[Any, Mask] = field(default_factory=dict)  # masks that got a name, by their text and the versions of its names

    def copy(self) -> Env:
        return Env(dict(self.names), dict(self.same), dict(self.hoisted))

    def resolve(self, ranks: Ranks) -> Ranks:
        """The ranks that stand for all that are known to be equal to these."""
        seen: set[Ranks] = set()
        while ranks not in seen:
            seen.add(ranks)
            ranks = frozenset(r for one in ranks for r in self.same.get(frozenset([one]), frozenset([one])))
            ranks = self.same.get(ranks, ranks)
        return ranks

    def covers(self, chosen: Chosen) -> bool:
        """Whether a mask has the rank of what it selects from: an index takes it for no more, and here it has no less."""
        return self.resolve(chosen.ranks) <= self.resolve(chosen.mask.ranks)

    def is_loose(self, chosen: Chosen) -> bool:
        """Whether what is selected may have dims beside the one of the selected places."""
        return not chosen.mask.flat and not self.covers(chosen)


def origins(info: Info) -> Origins:
    return frozenset() if info is None else info.origins


def joined(a: Entry, b: Entry, version: int) -> Entry:
    """A name where two ways meet."""
    if a == b:
        return a
    ranks = a.ranks if a.ranks == b.ranks else frozenset([(("joined", version), 0)])
    return Entry(version, ranks, _joined(a, b))


def _joined(a: Entry, b: Entry) -> Info:
    one, other = a.info, b.info
    both = origins(one) | origins(other)
    if isinstance(one, Chosen) and isinstance(other, Chosen) and (one.mask, one.ranks, a.ranks) == (other.mask, other.ranks, b.ranks):
        return dataclasses.replace(one, origins=both, outside=FINITE, subject=None, binding=None, root=None)
    counted = any(isinstance(i, Number) and i.counted for i in (one, other))
    if isinstance(one, Number) and isinstance(other, Number) and one.counted == other.counted:
        return Number(both, counted)
    plain = all(i is None or isinstance(i, Number) for i in (one, other))
    return None if plain and not counted else Mixed(both)
