"""What only reports: tests by Python of what is an array under jit.

    if self.hits > 3:     where `forward` counts `self.hits`, a number in torch
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..facts.values.lattice import Tensor
from ..model.effects import BUFFER, MIXED, Read, Write
from ..model.expressions import Attribute, is_none
from ..model.node import Expression
from ..model.operators import Compare, Conditional
from ..model.program import Scope
from ..model.project import Project
from ..model.statements import If, While
from .pass_ import Changes, Pass

_STATIC = frozenset(("dtype", "ndim", "shape", "size"))  # which Python knows of any array
_WHY = "is changed while the model runs: jax.jit makes an array of it, by which Python cannot decide"


def run(project: Project, facts: Any) -> list[Changes]:
    """The reports for all functions."""
    traced = [f for f in project.functions() if facts.stages.stage(f) == "traced"]
    written = {w.target.name for f in traced for w in f.nodes(Write) if isinstance(w.target, Read)}
    found = []
    for function in traced if written else ():
        changes = Changes(function)
        for read in _tested(function):
            if read.kind in (BUFFER, MIXED) and read.name in written:
                if not isinstance(read.value, Tensor):
                    changes.report("unsupported", read, f"{read.name} {_WHY}")
        found.append(changes)
    return found


def _tested(function: Scope) -> Iterator[Read]:
    """The arrays in tests that Python decides."""
    tests = [n.test for n in function.nodes(Conditional)]
    tests += [n.test for n in function.nodes(If)] + [n.test for n in function.nodes(While)]
    for test in tests:
        yield from (n for n in test.walk() if isinstance(n, Read) and not _is_known(n))


def _is_known(read: Expression) -> bool:
    """Whether Python decides by what it knows of it: `self.last is None`, `self.last.dtype`."""
    around = read.parent
    if isinstance(around, Attribute):
        return around.name in _STATIC
    return isinstance(around, Compare) and any(map(is_none, around.operands))


PASS = Pass("checks", ("stages",), run, of_project=True)
