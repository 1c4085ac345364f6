"""`return`, `break` and `continue` that data decide become plain branches, of which both sides
reach one place.

What follows a branch that may leave moves into the sides that go on:

    if x.sum() > 0:            if x.sum() > 0:
        return x                   return x
    y = x * 2           ->     else:
    return y                       y = x * 2
                                   return y

`continue` is the end of a turn. `break` sets a flag, which the loop asks. A `return` from a turn
breaks, and returns after the loop:

    for i in range(9):         running = True
        x = x / 2              for i in range(9):
        if x.sum() < 1:            if running:
            return x                   x = x / 2
    return y            ->             running = ~(x.sum() < 1)
                               if running:
                                   return y
                               else:
                                   return x

A raise that data decide is a check of values, which cannot be made under jit: it is left out, and
reported. What Python knows (modes, shapes, None) stays the user's, unless it stands around such a
jump. A name that a turn sets first, and that is read after the loop, starts `Unset`.
"""

from ...facts.program import ProgramFacts
from ...model.copy import clone
from ...model.operators import Boolean
from ...model.program import Function, Scope
from ...model.statements import Break, Continue, For, If, Raise, Return, While
from ...passes.truth import is_branch_on_data, is_loop_on_data
from ..pass_ import Changes, Pass
from ..truth import traced
from .exits import Exits

__all__ = ["PASS", "run"]


def run(scope: Scope, facts: ProgramFacts) -> Changes:
    """Restructure one function."""
    changes = Changes(scope)
    if not isinstance(scope, Function) or facts.stage(scope) in _CONCRETE:
        return changes
    if not _is_concerned(scope):
        return changes
    # rehearsed on a copy: what it reports is known, and whether it fails, before anything changes
    copy = clone(scope)
    copy.changed(own=True)
    version, exits = copy.version, Exits(copy)
    exits.run()
    changes.diagnostics += exits.diagnostics
    if copy.version != version:
        changes.change(scope, lambda function: Exits(function).run())
    return changes


def _is_concerned(scope: Function) -> bool:
    """Whether there are jumps, or checks, that data may decide."""
    branches = scope.nodes(If)
    if any(isinstance(n.test, Boolean) and traced(n.test.right) for n in branches):
        return True
    if not scope.nodes(Return, Break, Continue, Raise):
        return False
    return any(map(is_branch_on_data, branches)) or any(
        map(is_loop_on_data, scope.nodes(For, While))
    )


# arrays have values when this runs, so that Python itself may ask for them
_CONCRETE = frozenset(["building", "host", "import"])
PASS = Pass("structured_exits", ("values", "stages", "bindings"), run)
