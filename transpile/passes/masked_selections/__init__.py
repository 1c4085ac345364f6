"""What a mask selects stays whole where it is only reduced, and the mask goes to what reduces it.

    diff = (target - pred)[valid]      ->      diff = torch.where(valid, target - pred, 0)
    loss = (diff ** 2).mean()                  loss = (diff ** 2).mean(), of the places of valid

A selection of which any use has no such form is left as it is, with all that it meets. Outside of
the mask there may be NaN: before an operation whose slope there could be no number the places get
one of their own. The code is still torch's; what takes a mask has a mark behind its torch name,
`torch.Tensor.mean[mask]`, for which there are rules.

`statements` goes through a function with what each name holds, `expressions` and `calls` say what
operations make of selections, `masks` names what selects, `domain` holds what is known of one.
`stores` comes first, `padded` is of rows that indices choose.
"""

from ...facts.program import ProgramFacts
from ...model.expressions import Call
from ...model.program import Function, Scope
from ..pass_ import Changes, Pass
from . import padded, stores
from .calls import call
from .expressions import EXPRESSIONS
from .frame import Frame, Round
from .masks import candidates
from .statements import block

__all__ = ["PASSES", "run"]

_HANDLERS = {**EXPRESSIONS, Call: call}
_EAGER = ("building", "host", "import")  # where masks choose what they choose
_ROUNDS = 12


def run(scope: Scope, facts: ProgramFacts) -> Changes:
    """Keep the selections of a function whole where all uses of them can be: it is gone through
    until nothing more is found that must stay as it is."""
    if not isinstance(scope, Function) or facts.stage(scope) in _EAGER:
        return Changes(scope)
    found = candidates(scope)
    if not found:
        return Changes(scope)
    last = Round()
    for _ in range(_ROUNDS + len(found)):
        frame = Frame(scope, facts, found, last, _HANDLERS)
        for parameter in scope.parameters:
            frame.bind(parameter.name)
        block(frame, scope.body)
        if frame.round == last:
            return frame.changes()
        refused = frame.round.refused
        last = frame.round if refused == last.refused else Round(refused)
    return Changes(scope)


PASSES = (
    Pass("masked_stores", ("values",), stores.run),
    Pass("masked_selections", ("values", "memory"), run),
    Pass("padded_rows", ("values",), padded.run),
)
