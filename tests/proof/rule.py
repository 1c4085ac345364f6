"""Check one rule against torch, as a function, in seconds: the command for who has just written it.

    python -m tests.proof.rule torch.foo            # or the name of a rule's function
    python -m tests.proof.rule torch.nn.Foo         # a layer: torch's own module samples alone

The inputs are torch's own samples (OpInfo; importing them takes some seconds, once), calls at the
edges made from those and from torch's schema, and what tests/rules/samples.py gives by hand.
Compared are values, dtypes, shapes and, in float64, gradients; under jit, and some without it.
Where a rule raises at an edge that only this command made, that is told and no fault: nobody gets
a wrong number. Exit status 0: all is right, or differs as the rule says; 1: something differs, or
there was nothing to compare; 2: there is no such rule.
"""

import argparse
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jax
import torch

from . import findings, functions, layers, verdicts
from .arrays import precision
from .functions import select
from .runs import Case, at_once, one_by_one
from .samples import by_hand, opinfo, targets
from .samples.calls import Call
from .samples.gathered import Gathered, gather
from .samples.modules import Sample, Table
from .verdicts import Finding, Verdict, judge

SECONDS = 6.0  # of running, beside imports; the first programs show calls of every kind
TOGETHER = 12  # calls of different structure in one program
ALONE = 6  # calls of different structure that are run without jit, with all their numbers


@dataclass(eq=False)
class Proof:
    """What was found for one torch name."""

    name: str
    rules: list[Callable[..., Any]]
    verdicts: list[Verdict] = field(default_factory=list)  # of each call, under jit where it can be
    eager: list[Verdict] = field(default_factory=list)  # of some calls, without
    notes: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)  # that are of no one call
    left: int = 0  # calls for which there was no time

    @property
    def findings(self) -> list[Finding]:
        return [v.finding for v in [*self.verdicts, *self.eager] if v.finding is not None]

    @property
    def ok(self) -> bool:
        return not self.faults and not any(map(verdicts.is_fault, self.findings))


def prove(
    name: str,
    rules: list[Callable[..., Any]],
    samples: Iterable[Call] = (),
    own: Iterable[Call] | None = None,
    seconds: float = SECONDS,
) -> Proof:
    """Compare the rules of a torch name with torch. Raises targets.NotATarget where torch has no
    such function.

    `samples` are calls by hand; `own` torch's own, asked of OpInfo where they are not given.
    """
    target = targets.find(name)
    proof = Proof(name, rules)
    if own is None:
        spellings = [n for rule in rules for n in vars(rule)["torch_names"]]
        names = [target.operation, *map(targets.operation, spellings)]
        own = opinfo.calls(opinfo.operations(*names))
    found = gather(target, rules, own, samples)
    cases = list(_cases(proof, found))
    _run(proof, cases, time.process_time() + seconds)
    _note_refused(proof, found)
    _judge_all(proof)
    return proof


def _cases(proof: Proof, found: Gathered) -> Iterable[Case]:
    """The calls that a rule takes, each with that rule; those that none takes are refused."""
    for call, answer in found.taken:
        rule = select(proof.rules, call.args, call.kwargs)
        case = Case(call, answer, rule or proof.rules[0])
        if rule is None:
            proof.verdicts.append(Verdict(case, refused="no rule takes these arguments"))
        else:
            yield case


def _run(proof: Proof, cases: list[Case], until: float) -> None:
    """Run and judge: what shows known differences first, then a few structures without jit, then
    all under jit."""
    by_data = [case for case in cases if getattr(case.rule, "by_data", False)]
    groups: dict[str, list[Case]] = {}
    for case in sorted(cases, key=lambda c: not verdicts.shows_known(c)):
        groups.setdefault(case.call.signature, []).append(case)
    ordered = list(groups.values())
    for case, outcome in zip(by_data, one_by_one(by_data, slopes=True)):
        proof.verdicts.append(_judged(case, outcome, "run"))
    jitted = [group for group in ordered if group[0] not in by_data]
    for wide in (True, False):
        some = [group for group in jitted if group[0].call.wide == wide]
        for start in range(0, len(some), TOGETHER):
            if time.process_time() > until and start:
                proof.left += sum(map(len, some[start:]))
                break
            program = [case for group in some[start : start + TOGETHER] for case in group]
            proof.verdicts += [_judged(c, o, "jit") for c, o in zip(program, at_once(program))]
    for group in _some_alone(jitted):
        if time.process_time() > until:
            break
        proof.eager += [_judged(c, o, "run") for c, o in zip(group, one_by_one(group))]
    _raised_under_jit(proof)


def _some_alone(groups: list[list[Case]]) -> list[list[Case]]:
    step = max(1, len(groups) // ALONE)
    return groups[::step][:ALONE]


def _judged(case: Case, outcome: Any, how: str) -> Verdict:
    with precision(case.call.wide):
        return judge(case, outcome, how)


def _raised_under_jit(proof: Proof) -> None:
    """A rule that raises under jit may do so under jit alone, which is another fault."""
    raised = [
        v.finding for v in proof.verdicts if v.finding is not None and v.finding.kind == "raises"
    ]
    for finding in {f.message.split(":")[0]: f for f in raised if f.how == "jit"}.values():
        outcome = one_by_one([finding.case])[0]
        if outcome.raised is None:
            for other in raised:
                if other.message.split(":")[0] == finding.message.split(":")[0]:
                    other.kind = "jit"


def _note_refused(proof: Proof, found: Gathered) -> None:
    """Tell of calls that torch refuses and the rule takes; but for dtypes and for what torch's
    parser refuses."""
    taken: dict[str, str] = {}
    for call, error in found.refused:
        said = str(error).splitlines()[0][:90] if str(error) else type(error).__name__
        if (
            said in taken
            or len(taken) == 3
            or isinstance(error, TypeError)
            or "not implemented for" in said
        ):
            continue
        with precision(call.wide), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            rule = select(proof.rules, call.args, call.kwargs)
            if rule is None or getattr(rule, "by_data", False):
                continue
            case = Case(call, verdicts.NOTHING, rule)
            try:
                shapes = jax.eval_shape(case.run, case.arrays)
            except Exception:
                continue
        if all(hasattr(y, "shape") for y in shapes):
            taken[said] = f"torch raises, the rule does not: {call.brief(proof.name)}: {said}"
    proof.notes += taken.values()


def _judge_all(proof: Proof) -> None:
    """What is known, what is known and does not show, and whether there was anything to compare."""
    for finding in proof.findings:
        finding.known = verdicts.known(finding)
    shown = {(f.case.rule, f.known) for f in proof.findings if f.known}
    for rule in proof.rules:
        for key in verdicts.differs(rule):
            if (rule, key) not in shown and not proof.left:
                proof.faults.append(
                    f'{rule.__name__}: the known difference "{key}" does not differ any more'
                )
    if not any(v.refused is None and v.finding is None for v in proof.verdicts):
        proof.faults.append(findings.NOTHING.format(name=proof.name, file=by_hand.FILE))


def main(arguments: Sequence[str] | None = None) -> int:
    """The command. Returns its exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "name",
        help="a torch name, as torch.softmax or torch.nn.Linear, or the name of a rule's function",
    )
    parser.add_argument("--rules", type=Path, action="append", default=[], help="rules of your own")
    parser.add_argument("--samples", type=Path, default=by_hand.FILE, help="samples by hand")
    parser.add_argument("--all", action="store_true", help="all calls, however long it takes")
    options = parser.parse_args(arguments)
    began = time.monotonic()
    torch.set_num_threads(1)
    jax.config.update("jax_disable_most_optimizations", True)  # they cost more than they save here
    table = functions.table(*options.rules)
    names = functions.names_for(options.name, table)
    if not names:
        print(f"{options.name}: no rule has this name")
        return 2
    samples = by_hand.calls(options.samples)
    if any(isinstance(rule, type) for rule in table[names[0]]):
        return _layer(names[0], table, samples.get(names[0], []), began)
    try:
        proof = prove(
            names[0],
            table[names[0]],
            samples.get(names[0], ()),
            seconds=1e9 if options.all else SECONDS,
        )
    except targets.NotATarget as error:
        print(error)
        return 2
    findings.show(proof, time.monotonic() - began)
    return 0 if proof.ok else 1


def _layer(name: str, table: Table, samples: list[Sample], began: float) -> int:
    """Compare a layer with torch's module, and say so. Returns the exit status."""
    try:
        with precision(wide=True):
            found = list(layers.outcomes(name, table, samples))
    except AttributeError as error:
        print(f"torch {torch.__version__} has no {name}: {error}")
        return 2
    ok = findings.show_layer(name, table[name], found, time.monotonic() - began)
    return 0 if ok else 1


if __name__ == "__main__":
    raise SystemExit(main())
