"""All calls on which a rule is compared: few of each kind, in an order in which the first ones
already show every kind.

A call counts if torch takes it; what torch refuses is kept apart, since a rule that takes it is
worth a word.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import torch

from ..arrays import has_nan_or_inf, to_numpy
from ..oracle import Answer, answer
from . import arguments, edges
from .calls import Call
from .targets import Target

OWN, MADE, NARROW = (
    40,
    40,
    30,
)  # calls of different structure: of OpInfo's, made in float64, made in other dtypes
BASES = 6  # calls from which others are made
TURNS = 24  # calls of one structure with other numbers
REFUSED = 200


@dataclass(eq=False)
class Gathered:
    """Calls with torch's answers, and calls that torch refuses with its words."""

    taken: list[tuple[Call, Answer]] = field(default_factory=list)
    refused: list[tuple[Call, Exception]] = field(default_factory=list)

    def ask(self, target: Target, call: Call, random: bool | None = None) -> bool:
        """Whether torch takes a call, which is then kept; `random` where it is known whether torch
        draws."""
        try:
            found = answer(target, call, random)
        except Exception as error:
            if len(self.refused) < REFUSED:
                self.refused.append((call, error))
            return False
        self.taken.append((call, found))
        return True


def gather(
    target: Target, rules: list[Callable[..., Any]], own: Iterable[Call], by_hand: Iterable[Call]
) -> Gathered:
    """torch's own calls, those written by hand, and what is made of them: no two of the same
    structure and numbers."""
    found = Gathered()
    words = arguments.strings(rules)
    signatures = arguments.of(target, rules)
    for call in by_hand:
        found.ask(target, call)
    seen: set[str] = {call.signature for call, _ in found.taken}
    for some in _by_precision(own):
        for call in _spread(some, _structure):
            if sum(c.wide == call.wide and c.origin == "OpInfo" for c, _ in found.taken) < OWN:
                _ask_new(found, target, call, seen)
    first = [call for call, _ in found.taken if call.wide and call.tensors()]
    first = first or list(arguments.first_calls(target, signatures, words))
    bases = list(itertools.islice(_spread(sorted(first, key=lambda c: c.size), _structure), BASES))
    for call in bases:
        _ask_new(found, target, call, seen)
    _add_structures(found, target, bases, signatures, words, seen)
    _add_numbers(found, target)
    return found


def _by_precision(calls: Iterable[Call]) -> tuple[list[Call], list[Call]]:
    every = sorted(calls, key=lambda c: c.size)
    return [c for c in every if c.wide], [c for c in every if not c.wide]


def _structure(call: Call) -> str:
    """The ranks of the tensors and the names of the options."""
    tensors = call.tensors()
    ranks, dtype = [t.ndim for t in tensors], [t.dtype for t in tensors][:1]
    return f"{ranks} {len(call.args)} {sorted(call.kwargs)} {dtype}"


def _spread(calls: Iterable[Any], key: Callable[[Any], Any]) -> Iterator[Any]:
    """All of them, one of each kind first, then the second of each."""
    groups: dict[Any, list[Any]] = {}
    for call in calls:
        groups.setdefault(key(call), []).append(call)
    for row in itertools.zip_longest(*groups.values()):
        yield from (call for call in row if call is not None)


def _ask_new(found: Gathered, target: Target, call: Call, seen: set[str]) -> bool:
    """Whether a call of a new structure is taken."""
    if call.signature in seen:
        return False
    seen.add(call.signature)
    return found.ask(target, call)


def _add_structures(
    found: Gathered,
    target: Target,
    bases: list[Call],
    signatures: list[list[arguments.Argument]],
    words: list[str],
    seen: set[str],
) -> None:
    """Calls of other structure than the bases, each way of making them in turn."""
    made = [
        (way, call)
        for base in bases
        for way, call in edges.structures(base, _matching(base, signatures), words)
    ]
    count = {True: 0, False: 0}
    for _, call in _spread(made, lambda pair: (pair[0], pair[1].wide)):
        if count[call.wide] < (MADE if call.wide else NARROW) and _ask_new(
            found, target, call, seen
        ):
            count[call.wide] += 1


def _matching(call: Call, signatures: list[list[arguments.Argument]]) -> list[arguments.Argument]:
    """The signature that a call is by, as far as its number of arguments and its keywords tell."""
    fits = [
        s
        for s in signatures
        if len(call.args) <= sum(not a.keyword for a in s)
        and set(call.kwargs) <= {a.name for a in s}
        and sum(a.required for a in s) <= len(call.args) + len(call.kwargs)
    ]
    return max(fits, key=len, default=[])


def _add_numbers(found: Gathered, target: Target) -> None:
    """The same structures with special numbers: several of them in float64, a few in the others."""
    turns = 0
    for call, known in list(found.taken):
        floats = call.wide or any(t.dtype == torch.float32 for t in call.tensors())
        for made in itertools.islice(
            _turned(edges.numbers(call), turns), TURNS if floats else TURNS // 4
        ):
            if not _casts_infinite(made):
                found.ask(target, made, known.random)
        turns += 1


def _casts_infinite(call: Call) -> bool:
    """Whether a call may cast numbers that are not finite to whole ones, which gives anything."""
    options = [x for x in call.flat()[0] if isinstance(x, torch.dtype)]
    whole = any(not (d.is_floating_point or d.is_complex) for d in options)
    return whole and any(has_nan_or_inf(to_numpy(t)) for t in call.tensors())


def _turned(calls: Iterable[Call], by: int) -> list[Call]:
    """The calls in another order for each structure, so that all numbers are met by some."""
    every = list(calls)
    by = by * 7 % len(every) if every else 0
    return every[by:] + every[:by]
