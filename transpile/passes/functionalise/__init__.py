"""Writes in place become bindings, parts put into arrays, and writes of modules' arrays.

    x.add_(y)                   x = x.add(y)
    x[:, 1:].mul_(2)            x = Put(x, [:, 1:], multiply, 2)
    self.hits += 1              Write(self.hits, self.hits + 1)
    w = x[0]; w.relu_()         w = x[0]; w = w.relu(); x = Put(x, [0], set, w)
    clip_(x)                    x = clip_(x), which returns what it writes

Other names for the same memory that are read later follow, or raise where they are read.
"""

from ...facts.program import ProgramFacts
from ...model.program import Class, File, Function, Scope
from ..pass_ import Changes, Pass
from .frame import Frame
from .reassigned_results import returning
from .statements import block

__all__ = ["FUNCTIONALISE", "run"]


def run(scope: Scope, facts: ProgramFacts) -> Changes:
    """The edits of one scope that leave nothing that is written in place."""
    if not isinstance(scope, (Function, File)) or isinstance(scope, Class):
        return Changes(scope)
    frame = Frame(scope, facts)
    if isinstance(scope, Function):
        returns = facts.memory.results.of(scope)
        if returns is not None:
            returning(frame, scope, returns)
    block(frame, scope.body)
    return frame.changes


FUNCTIONALISE = Pass("functionalise", ("memory", "stages"), run)
