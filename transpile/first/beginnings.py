"""How a list or container begins, where it is not written out: what may stand at its first places, and how long it may be.

    rep = []
    if grow_first:
        rep += [relu, conv]              lengths {0, 2}; first {relu}, then {conv}
    for _ in range(n):
        rep += [relu, conv]              lengths {0, 2, 3 or more}; first {relu}, then {conv}
    if not start_with_relu:
        rep = rep[1:]                    first {conv}

Whether a Sequential writes its argument hangs on what it begins with.
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from dataclasses import dataclass
from typing import Any

PLACES = 3  # that are told apart; a length of PLACES stands for any that is not less
_MOST = 8  # values at one place


@dataclass(frozen=True)
class Beginning:
    """The lengths that a list may have, and for each of its first places the values that may stand there."""

    lengths: frozenset[int]
    places: tuple[frozenset[Any], ...]

    def joined(self, other: Beginning) -> Beginning | None:
        """This or the other; None where too much may be."""
        return _of(self.lengths | other.lengths, [a | b for a, b in zip(self.places, other.places)])

    def followed_by(self, other: Beginning) -> Beginning | None:
        """A list that begins so, and goes on with another."""
        places = [set(p) for p in self.places]
        for length in self.lengths:
            for i in range(length, PLACES):
                places[i] |= other.places[i - length]
        return _of({min(a + b, PLACES) for a in self.lengths for b in other.lengths}, places)

    def from_place(self, lower: int, rest: Iterable[Any]) -> Beginning | None:
        """The list from a place on; `rest` is what may stand after the places that are told apart."""
        kept = [*self.places[lower:], *[frozenset(rest)] * min(lower, PLACES)]
        longer = set(range(max(PLACES - lower, 0), PLACES + 1)) if PLACES in self.lengths else set()
        return _of({max(n - lower, 0) for n in self.lengths - {PLACES}} | longer, kept)

    def up_to_any(self) -> Beginning:
        """The list cut off at some place."""
        return Beginning(frozenset(range(max(self.lengths, default=0) + 1)), self.places)

    def with_value(self, place: int, value: Any) -> Beginning:
        """The list with another value at a place."""
        if place >= PLACES:
            return self
        return Beginning(self.lengths - set(range(place + 1)), (*self.places[:place], frozenset([value]), *self.places[place + 1 :]))


def of_items(items: Iterable[Any]) -> Beginning:
    """The beginning of a list that is written out."""
    given = list(items)
    return Beginning(frozenset([min(len(given), PLACES)]), tuple(frozenset(given[i : i + 1]) for i in range(PLACES)))


def _of(lengths: Set[int], places: Iterable[Set[Any]]) -> Beginning | None:
    found = tuple(map(frozenset, places))
    return None if any(len(p) > _MOST for p in found) else Beginning(frozenset(lengths), found)
