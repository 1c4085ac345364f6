"""What is to be said of a rule's outcome beside torch's answer: the same, refused, or a
difference, and whether it is a known one.

A known difference stands in the mark of its rule, with the reason:

    @rule("torch.softmax", differs={"raises 0-dim": "jax.nn.softmax has no axis 0 there"})

All its words must hold of the call: the kind of the difference (count, shape, dtype, values,
gradient, raises, jit) and words of the arguments (0-dim, empty, size-1, nan, inf, zeros, ties,
big, small, negative, half, int, bool, complex, shapes, dtypes, names of arguments as `dim` or
`dim=0`). One that no call shows any more is a fault.
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from transpile.rule import Unsupported

from .arrays import leaves
from .comparison import Difference, check_slopes, check_values, tolerance_of
from .functions import plain_keywords
from .oracle import Answer
from .runs import Case, Outcome

KINDS = ("raises", "jit", "count", "shape", "dtype", "values", "gradient")
NOTHING = Answer(None, False, None)


@dataclass(eq=False)
class Finding:
    """A difference of one call: its kind, how it was run, what was said of it, and both sides'
    values or slopes."""

    case: Case
    kind: str
    how: str
    message: str
    got: Any = None
    want: Any = None
    known: str | None = None


@dataclass(eq=False)
class Verdict:
    """What is said of one call: a finding, or why it was refused, or neither; and what is to be
    told beside."""

    case: Case
    finding: Finding | None = None
    refused: str | None = None
    gradient: bool = False  # whether there was one to compare
    notes: tuple[str, ...] = ()


def judge(case: Case, outcome: Outcome, how: str) -> Verdict:
    """Compare an outcome with torch's answer: values first, then gradients."""
    if isinstance(outcome.raised, Unsupported):
        return Verdict(case, refused=str(outcome.raised))
    if outcome.raised is not None:
        return Verdict(
            case, Finding(case, "raises", how, _named(outcome.raised), want=case.answer.value)
        )
    try:
        _check(case, outcome.results)
    except Exception as error:
        kind = error.kind if isinstance(error, Difference) else "values"
        text = " ".join(str(error).split())
        return Verdict(case, Finding(case, kind, how, text, outcome.results, case.answer.value))
    return _judged_slopes(case, outcome, how)


def _judged_slopes(case: Case, outcome: Outcome, how: str) -> Verdict:
    wanted = case.answer.slopes
    if wanted is None or outcome.slopes is None and outcome.slopes_raised is None:
        return Verdict(case)
    if isinstance(outcome.slopes_raised, Unsupported):
        return Verdict(case, refused=str(outcome.slopes_raised))
    if outcome.slopes is None:
        message = _named(outcome.slopes_raised)
        return Verdict(case, Finding(case, "gradient", how, message, want=wanted.slopes))
    try:
        notes = check_slopes(outcome.slopes, wanted.slopes)
    except Exception as error:
        text = " ".join(str(error).split())
        if any(bool(t.isnan().any()) for t in case.call.tensors()):
            return Verdict(case, notes=(f"another gradient beside NaN: {text}",))
        found = Finding(case, "gradient", how, text, outcome.slopes, wanted.slopes)
        return Verdict(case, found, gradient=True)
    return Verdict(case, gradient=True, notes=tuple(notes))


def _check(case: Case, results: list[Any]) -> None:
    """Raises Difference, unless both agree in what is determined of the results."""
    want, values = case.answer.value, not case.answer.random
    inputs = [t.dtype for t in case.call.tensors()]
    outputs = [y.dtype for y in leaves(want, torch.Tensor) if isinstance(y, torch.Tensor)]
    tolerance = tolerance_of([*inputs, *outputs])
    try:
        check_values(results, want, tolerance, values, widths=True)
    except Difference as error:
        if error.kind != "values" or case.call.settled is None:
            raise
        settled = case.call.settled(want)
        arrays = [
            torch.tensor(y.tolist(), dtype=w.dtype)
            for y, w in zip(results, leaves(want, torch.Tensor))
        ]
        ours = case.call.settled(
            type(want)(arrays) if isinstance(want, (list, tuple)) else arrays[0]
        )
        check_values([y.numpy() for y in leaves(ours, torch.Tensor)], settled, tolerance)


def _named(error: Exception | None) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())}"


def known(finding: Finding) -> str | None:
    """The known difference of the rule that covers a finding."""
    words = finding.case.call.words(given(finding.case)) | {finding.kind}
    return next((key for key in differs(finding.case.rule) if set(key.split()) <= words), None)


def is_fault(finding: Finding) -> bool:
    """Whether a difference is one that nobody knows of. A rule may raise at edges that were made
    here: that is loud."""
    loud = finding.kind in ("raises", "jit") and finding.case.call.origin == "edges"
    return finding.known is None and not loud


def differs(rule: Callable[..., Any]) -> Mapping[str, str]:
    """The known differences of a rule, and their reasons."""
    return getattr(rule, "differs", {})


def given(case: Case) -> dict[str, Any]:
    """The arguments of a call by the names that the rule has for them, but those left out."""
    call, signature = case.call, inspect.signature(case.rule)
    try:
        bound = signature.bind_partial(*call.args, **plain_keywords(case.rule, call.kwargs))
    except TypeError:
        return dict(call.kwargs)
    return dict(bound.arguments)


def shows_known(case: Case) -> bool:
    """Whether a known difference of its rule may show in a call."""
    keys = differs(case.rule)
    words = case.call.words(given(case)) if keys else frozenset()
    return any(set(key.split()) - set(KINDS) <= words for key in keys)
