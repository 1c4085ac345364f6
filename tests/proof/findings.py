"""The report on one rule, as a compact table, with the smallest call of each kind that differs."""

from __future__ import annotations

import inspect
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from .arrays import leaves, to_numpy
from .samples.by_hand import FILE
from .verdicts import Finding, Verdict, given, is_fault

if TYPE_CHECKING:
    from .rule import Proof
    from .samples.modules import Sample

COLUMNS = ("right", "gradients", "differ", "known", "refused")
NOTHING = (
    "nothing was compared: torch has no samples of {name}, or none that the rule takes, "
    "and none could be made.\n"
    "Give some by hand in {file}:\n\n"
    "    from tests.proof.samples.by_hand import given\n\n"
    '    SAMPLES = {{"{name}": lambda: [given(torch.ones(2, 3, dtype=torch.float64), 1)]}}'
)
NOTHING_BUILT = (
    "nothing was compared: torch has no samples of {name}, or none that the layer takes.\n"
    "Give some by hand in {file}:\n\n"
    "    from tests.proof.samples.by_hand import built\n\n"
    '    SAMPLES = {{"{name}": lambda: [built(3, bias=False).called(torch.ones(2, 3))]}}'
)
SHOWN = 3  # findings, and notes of one kind


def show(proof: Proof, seconds: float) -> None:
    """Print what was found for one torch name."""
    print(f"{proof.name}: {', '.join(map(_place, proof.rules))}\n")
    print("".join(f"{word:>11}" for word in ("calls", *COLUMNS)))
    for origin in ("OpInfo", "edges", "by hand"):
        some = [v for v in proof.verdicts if v.case.call.origin == origin]
        if some:
            _row(origin, some)
    if proof.eager:
        _row("no jit", proof.eager)
    _notes(proof)
    _known(proof)
    wrong = sorted(
        (f for f in proof.findings if not f.known),
        key=lambda f: (not is_fault(f), f.case.call.size),
    )
    kinds = Counter(f.kind for f in wrong)
    smallest: dict[str, Finding] = {}
    for finding in wrong:
        smallest.setdefault(finding.kind, finding)
    for finding in [*smallest.values()][:SHOWN]:
        _finding(proof.name, finding, kinds[finding.kind])
    for fault in proof.faults:
        print(f"\n{fault}")
    if proof.left:
        print(f"\n{proof.left} calls were left out for time; --all runs them")
    print(f"\n{'right' if proof.ok else 'WRONG'}, {seconds:.1f} s")


def show_layer(
    name: str, layers: list[Any], found: list[tuple[Sample, bool, Exception | None]], seconds: float
) -> bool:
    """Print what was found for a layer. Returns whether it is right: at least one sample, and no
    difference."""
    print(f"{name}: {', '.join(layer.__name__ for layer in layers)}\n")
    print("".join(f"{word:>11}" for word in ("calls", "right", "differ", "refused")))
    refused = [(s, e) for s, _, e in found if isinstance(e, NotImplementedError)]
    wrong = [f for f in found if f[2] is not None and not isinstance(f[2], NotImplementedError)]
    for word, training in (("training", True), ("evaluation", False)):
        every = [e for _, t, e in found if t == training]
        kept = [e for e in every if isinstance(e, NotImplementedError)]
        right = every.count(None)
        counts = (right, len(every) - right - len(kept), len(kept))
        print(f"{word:>11}" + "".join(f"{n or '-':>11}" for n in counts))
    for why in list(dict.fromkeys(str(e) for _, e in refused))[:SHOWN]:
        sample = next(s for s, e in refused if str(e) == why)
        print(f"\nrefused: {name}{sample.text()}: {why}")
    for sample, training, error in sorted(wrong, key=lambda f: f[0].size)[:1]:
        words = " ".join(str(error).split())[:400]
        mode = "training" if training else "evaluation"
        print(f"\ndiffers ({len(wrong)} calls, the smallest in {mode}):")
        print(f"    {name}{sample.text()}\n    {type(error).__name__}: {words}")
    compared = len(found) > len(refused)
    if not compared:
        print("\n" + NOTHING_BUILT.format(name=name, file=FILE))
    ok = compared and not wrong
    print(f"\n{'right' if ok else 'WRONG'}, {seconds:.1f} s")
    return ok


def _place(rule: Any) -> str:
    code = inspect.unwrap(rule).__code__
    return f"{rule.__name__} ({Path(code.co_filename).name}:{code.co_firstlineno})"


def _row(origin: str, some: list[Verdict]) -> None:
    counts = {
        "right": sum(v.finding is None and v.refused is None for v in some),
        "gradients": sum(v.gradient and v.finding is None for v in some),
        "differ": sum(v.finding is not None and not v.finding.known for v in some),
        "known": sum(v.finding is not None and bool(v.finding.known) for v in some),
        "refused": sum(v.refused is not None for v in some),
    }
    print(f"{origin:>11}" + "".join(f"{counts[c] or '-':>11}" for c in COLUMNS))


def _notes(proof: Proof) -> None:
    refused = Counter(v.refused for v in proof.verdicts if v.refused is not None)
    for why, count in refused.most_common(SHOWN):
        example = next(v.case.call for v in proof.verdicts if v.refused == why)
        print(f"\nrefused ({count}): {example.brief(proof.name)}: {why}")
    slopes = [(n, v) for v in proof.verdicts for n in v.notes]
    if slopes:
        note, verdict = slopes[0]
        print(f"\nnote ({len(slopes)}): {verdict.case.call.brief(proof.name)}: {note[:200]}")
    for text in proof.notes:
        print(f"\nnote: {text}")


def _known(proof: Proof) -> None:
    count = Counter(f.known for f in proof.findings if f.known)
    for rule in proof.rules:
        for key, reason in getattr(rule, "differs", {}).items():
            print(f"\nknown ({count[key]}): {key}: {reason}")


def _finding(name: str, finding: Finding, count: int) -> None:
    call = finding.case.call
    how = {"jit": "under jit", "run": "without jit"}[finding.how]
    how += ", wide" if call.wide else ", x64 off"
    told = "" if is_fault(finding) else "; told, but no fault"
    print(f"\n{finding.kind} ({count} calls, the smallest {how}{told}):")
    print(f"    {call.text(name)}")
    print(f"    words: {' '.join(sorted(call.words(given(finding.case))))}")
    print(f"    torch  {_numbers(finding.want)}")
    print(
        f"    rule   {_numbers(finding.got) if finding.got is not None else finding.message[:300]}"
    )
    if finding.got is not None and finding.kind not in ("values", "gradient"):
        print(f"    {finding.message[:200]}")


def _numbers(value: Any) -> str:
    """Arrays by dtype and numbers, others as they are."""
    shown = []
    for leaf in leaves(value, (torch.Tensor, np.ndarray)):
        array = to_numpy(leaf.clone()) if isinstance(leaf, torch.Tensor) else leaf
        if hasattr(array, "dtype"):
            with np.printoptions(precision=8, threshold=12, linewidth=10_000):
                shown.append(
                    f"{array.dtype}{list(array.shape)} {' '.join(str(np.asarray(array)).split())}"
                )
        else:
            shown.append(repr(leaf))
    return "; ".join(shown)
