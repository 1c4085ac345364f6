"""The truth of values that data tell is said without Python asking for it.

    if x.mean() > 0 and y.mean() > 0:         if (x.mean() > 0) & (y.mean() > 0):
    z = x if not done else -x            ->   z = jnp.where(~done, x, -x)
    assert (x > 0).all()                      (nothing, and a report)
    if self.bias:                             if self.bias is not None:
        x = x + self.bias                         if self.bias.reshape(()) != 0:
                                                      x = x + self.bias

Under jit the truth of an array is not known, so that Python's own operators on it fail. What is
known while tracing (the mode, shapes, None) stays Python's. `&` computes both sides, so that a side
that writes, or does something to the host, becomes an `if` of its own.
"""

from ...facts.program import ProgramFacts
from ...facts.values.lattice import least_dims
from ...model.effects import Read
from ...model.expressions import Call, FormattedString, Subscript
from ...model.operators import Binary, Boolean, Compare, Conditional, Unary
from ...model.program import Scope
from ...model.statements import Assert, If, While
from ..pass_ import Changes, Pass
from ..truth import is_truth, traced, truth
from . import builtin_calls, choices, logic, printing
from .operators import Operators

__all__ = ["PASS", "run"]


def run(scope: Scope, facts: ProgramFacts) -> Changes:
    """Say the truth of traced values in one scope."""
    o = Operators(scope, facts)
    if facts.stage(scope) in _CONCRETE:
        return o.changes
    for check in scope.nodes(Assert):
        if traced(check.test):
            message = "an assert about a tensor's value cannot run under jit: it was left out"
            o.changes.report("data-check", check.test, message)
            o.changes.remove(check)
    gone = {n for check in scope.nodes(Assert) if traced(check.test) for n in check.walk()}
    for node in scope.nodes(Unary, Boolean, Compare, Conditional, Call, Subscript):
        if node in gone:
            continue
        if isinstance(node, Unary):
            logic.opposite(o, node)
        elif isinstance(node, Boolean):
            logic.boolean(o, node)
        elif isinstance(node, Compare):
            (logic.chain if len(node.operators) > 1 else logic.member)(o, node)
        elif isinstance(node, Conditional):
            choices.ternary(o, node)
        elif isinstance(node, Subscript):
            choices.picked(o, node)
        elif isinstance(node, Call):
            builtin_calls.called(o, node)
    for text in scope.nodes(FormattedString, Call, Binary):
        if text not in gone:
            printing.formatted(o, text)
    for loop in scope.nodes(While):
        if traced(loop.test):
            o.changes.change(loop, _ask)
    for branch in scope.nodes(If):
        if traced(branch.test) and least_dims(branch.test.value) > 0:
            o.changes.change(branch, lambda n: n.test.wrap(choices.element))
    for read in scope.nodes(Read):
        if read in o.asked and read not in gone:
            choices.of_what_may_lack(o, read)
    return o.changes


def _ask(loop: While) -> None:
    """A loop's test is a boolean: `lax.while_loop` takes nothing else."""
    if not is_truth(loop.test):
        loop.test.wrap(truth)


# arrays have values when this runs, so that Python itself may ask for them
_CONCRETE = frozenset(["building", "host", "import"])
PASS = Pass("boolean_operators", ("values", "effects", "totality", "stages"), run)
