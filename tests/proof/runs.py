"""Rules run as functions: many calls in one compiled program, some also one by one.

A program of its own for each call would cost more than all else. Calls of equal shapes, dtypes and
options share their part of it.
"""

import functools
import inspect
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import torch
from torch.utils import _pytree as pytree

from .arrays import leaves, precision, to_jax, to_numpy
from .comparison import evenly, weighted
from .functions import plain_keywords
from .oracle import Answer
from .samples.calls import Call


@dataclass(eq=False)
class Case:
    """A call, torch's answer, and the rule that is to give the same."""

    call: Call
    answer: Answer
    rule: Callable[..., Any]

    @functools.cached_property
    def arguments(self) -> tuple[list[Any], Any]:
        """The arguments for JAX, NumPy's arrays among them, lists and tuples taken apart; and how
        they go together."""
        flat, spec = self.call.flat()
        return [to_numpy(x) if isinstance(x, torch.Tensor) else to_jax(x) for x in flat], spec

    @functools.cached_property
    def places(self) -> list[int]:
        """Where the arrays are among them."""
        return [i for i, x in enumerate(self.call.flat()[0]) if isinstance(x, torch.Tensor)]

    @property
    def arrays(self) -> list[Any]:
        return [self.arguments[0][i] for i in self.places]

    def run(self, arrays: Iterable[Any]) -> list[Any]:
        """The rule's results for other arrays in the places of this call's. Raises what the rule
        raises."""
        flat, spec = self.arguments
        flat = list(flat)
        for place, array in zip(self.places, arrays):
            flat[place] = array
        args, kwargs = pytree.tree_unflatten(flat, spec)
        return leaves(apply(self.rule, args, kwargs), jax.Array)


@dataclass(eq=False)
class Outcome:
    """What a rule gave for a call: its results, its gradients, or what it raised instead of
    them."""

    results: list[Any] = field(default_factory=list)
    raised: Exception | None = None
    slopes: list[Any] | None = None
    slopes_raised: Exception | None = None


def apply(rule: Callable[..., Any], args: Iterable[Any], kwargs: dict[str, Any]) -> Any:
    """Call a rule as the tests call it: keywords as it has them, a key where it takes one."""
    names = inspect.signature(rule).parameters
    key = {"key": jax.random.key(0)} if "key" in names else {}
    return rule(*args, **plain_keywords(rule, kwargs), **key)


def at_once(cases: list[Case]) -> list[Outcome]:
    """The outcomes under jit of cases that are all wide or all narrow."""
    groups: dict[str, list[Case]] = {}
    for case in cases:
        groups.setdefault(case.call.signature, []).append(case)
    found: dict[Case, Outcome] = {}
    with precision(cases[0].call.wide), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = _together(list(groups.values()))
        except Exception:  # one of them does not compile
            for group in groups.values():
                found |= _alone(group)
    return [found[case] for case in cases]


def _alone(group: list[Case]) -> dict[Case, Outcome]:
    try:
        return _together([group])
    except Exception as error:
        return {case: Outcome(raised=error) for case in group}


def _together(groups: list[list[Case]]) -> dict[Case, Outcome]:
    """One program with a part for each group, run as often as the largest group has cases."""
    program = _Program([group[0] for group in groups])
    compiled = jax.jit(program.run)
    found: dict[Case, Outcome] = {}
    for turn in range(max(map(len, groups))):
        row = [group[min(turn, len(group) - 1)] for group in groups]
        results = compiled([case.arrays for case in row])
        for number, (group, case) in enumerate(zip(groups, row)):
            if turn < len(group):
                found[case] = program.outcome(number, results[number])
    return found


class _Program:
    """The cases of one program, and what of their outcomes tracing tells: what was raised, and
    results that are no arrays."""

    def __init__(self, cases: list[Case]) -> None:
        self.cases = cases
        self.traced: list[Outcome] = []

    def run(self, inputs: list[list[Any]]) -> list[Any]:
        """For each case the arrays among its results, and its gradients."""
        self.traced = []
        made: list[Any] = []
        for case, arrays in zip(self.cases, inputs):
            outcome = Outcome()
            self.traced.append(outcome)
            try:
                outcome.results = case.run(arrays)
            except Exception as error:
                outcome.raised = error
                made.append(([], []))
                continue
            made.append(
                (
                    [y for y in outcome.results if isinstance(y, jax.Array)],
                    _slopes(case, arrays, outcome),
                )
            )
        return made

    def outcome(self, number: int, result: Any) -> Outcome:
        """The outcome of one case, with the arrays that the program gave."""
        traced = self.traced[number]
        arrays, slopes = result
        given = iter(arrays)
        results = [next(given) if isinstance(y, jax.Array) else y for y in traced.results]
        slopes = (
            slopes if traced.slopes_raised is None and self.cases[number].answer.slopes else None
        )
        return Outcome(results, traced.raised, slopes, traced.slopes_raised)


def _slopes(case: Case, arrays: list[Any], outcome: Outcome) -> list[Any]:
    """The gradients by the inputs that torch has gradients for; none where the rule has none,
    which the outcome then tells."""
    wanted = case.answer.slopes
    if wanted is None:
        return []
    places = [case.places.index(i) for i in wanted.places]
    counts = wanted.counts

    def total(inputs: list[Any]) -> Any:
        full = list(arrays)
        for place, x in zip(places, inputs):
            full[place] = x
        outputs = [y for y, counted in zip(case.run(full), counts) if counted]
        return (weighted if case.call.settled is None else evenly)(outputs)

    try:
        return list(jax.grad(total)([arrays[p] for p in places]))
    except Exception as error:
        outcome.slopes_raised = error
        return []


def one_by_one(cases: Iterable[Case], slopes: bool = False) -> list[Outcome]:
    """The outcomes without jit, of cases wide and narrow."""
    found = []
    for case in cases:
        outcome = Outcome()
        found.append(outcome)
        with precision(case.call.wide), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            arrays = [jnp.asarray(x) for x in case.arrays]
            try:
                outcome.results = case.run(arrays)
            except Exception as error:
                outcome.raised = error
                continue
            if slopes and case.answer.slopes is not None:
                outcome.slopes = _slopes(case, arrays, outcome)
    return found
