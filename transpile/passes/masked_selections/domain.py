"""What is known of an expression that stands for a selection, and of the names of a function."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from ...facts.shapes.ranks import Ranks
from ...model.expressions import Name
from ...model.node import Expression, Node, Statement

RAW, FINITE = "raw", "finite"  # outside of the mask: anything, or some number; or this very number


class Mask:
    """A mask at one of the values that it has. One that is no name of the user's gets one where it
    stands at several places, before the statement where it stands first."""

    def __init__(self, key: Any, node: Expression, ranks: Ranks, born: Statement) -> None:
        self.key, self.node, self.ranks, self.born = key, node, ranks, born
        self.uses: list[Statement] = []
        self.name = node.id if isinstance(node, Name) else None

    @property
    def is_several(self) -> bool:
        """Whether it stands at several places."""
        return len(self.uses) > 1 or any(use is not self.born for use in self.uses)


@dataclass(frozen=True)
class Chosen:
    """Of an expression that stands whole for what a mask selects."""

    mask: Mask
    flat: bool  # by `torch.masked_select`, which broadcasts; an index puts a mask above all others
    origins: frozenset[Node]  # the subscripts and calls that select
    ranks: Ranks
    outside: str | float = RAW
    kind: str | None = None
    binding: Node | None = None  # the target of the name that it is held by
    behind: bool = False  # whether there is a dim behind those of the mask: `x[mask, :]`


@dataclass(frozen=True)
class Count:
    """Of a number of what is selected: Python's in torch, an array here."""

    origins: frozenset[Node]


@dataclass(frozen=True)
class Mixed:
    """Of a name that is a selection on some ways only."""

    origins: frozenset[Node]


Info = Chosen | Count | Mixed | None


class Entry(NamedTuple):
    """A name at one place."""

    version: int
    ranks: Ranks
    info: Info = None


@dataclass
class Env:
    """What holds at one place of a function."""

    names: dict[str, Entry] = field(default_factory=dict)
    same: dict[Ranks, Ranks] = field(default_factory=dict)  # ranks that are known to be equal
    masks: dict[Any, Mask] = field(default_factory=dict)  # those that may have got a name, by key

    def copy(self) -> Env:
        return Env(dict(self.names), dict(self.same), dict(self.masks))

    def resolve(self, ranks: Ranks) -> Ranks:
        """The ranks that stand for all that are known to be equal to these."""
        seen: set[Ranks] = set()
        while ranks not in seen:
            seen.add(ranks)
            alone = (self.same.get(frozenset([one]), frozenset([one])) for one in ranks)
            ranks = frozenset[tuple[Any, int]]().union(*alone)
            ranks = self.same.get(ranks, ranks)
        return ranks

    def covers(self, chosen: Chosen) -> bool:
        """Whether a mask has the rank of what it selects from: an index takes it for no more, and
        here it has no less."""
        return self.resolve(chosen.ranks) <= self.resolve(chosen.mask.ranks)

    def is_loose(self, chosen: Chosen) -> bool:
        """Whether what is selected may have dims beside the one of the selected places."""
        return not chosen.flat and not self.covers(chosen)


def origins(*infos: Info) -> frozenset[Node]:
    return frozenset[Node]().union(*(info.origins for info in infos if info is not None))


def joined(a: Env, b: Env, before: Env, version: Iterable[int]) -> Env:
    """What holds where two ways meet."""
    names = {}
    for name in {**a.names, **b.names}:
        one, other = a.names.get(name), b.names.get(name)
        if one is None or other is None:  # bound on one way only: read on that alone, or an error
            one = other = one or other
        assert one is not None and other is not None
        names[name] = one if one == other else _joined(one, other, next(iter(version)))
    masks = {k: m for k, m in a.masks.items() if b.masks.get(k) is m}
    return Env(names, dict(before.same), masks)


def _joined(a: Entry, b: Entry, version: int) -> Entry:
    ranks = a.ranks if a.ranks == b.ranks else frozenset([(("joined", version), 0)])
    one, other, both = a.info, b.info, origins(a.info, b.info)
    if isinstance(one, Chosen) and isinstance(other, Chosen):
        named = isinstance(one.mask.node, Name) and one.mask.key == other.mask.key
        same = (one.flat, one.ranks) == (other.flat, other.ranks)
        if same and (named or one.mask is other.mask):
            outside = RAW if RAW in (one.outside, other.outside) else FINITE
            kind = one.kind if one.kind == other.kind else None
            info: Info = replace(one, origins=both, outside=outside, kind=kind, binding=None)
            return Entry(version, ranks, info)
    if isinstance(one, Count) and isinstance(other, Count):
        return Entry(version, ranks, Count(both))
    return Entry(version, ranks, Mixed(both) if one is not None or other is not None else None)
