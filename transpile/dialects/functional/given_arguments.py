"""What a call takes beside its own arguments, put in front of them.

self.fc(x)               self.fc(params["fc"], x)
self.act(x)              self.act.apply(params["act"], {}, x)[0]
"""

from ...model.expressions import Call, Constant, Dictionary, Subscript
from ...model.node import Expression
from ..threading.threaded import Threads
from .param_path import is_unbound


def state_given(threads: Threads, uniform: bool, state: Expression) -> list[Expression]:
    """The state that a call is given, if any: the uniform one gives each an empty one at least."""
    if threads.takes:
        return [state]
    return [Dictionary([])] if uniform else []


def give(call: Call, given: list[Expression]) -> None:
    """Put arguments in front of those of a call, self apart."""
    at = int(is_unbound(call))
    call.arguments[at:at] = given
    call.keywords[at:at] = [None] * len(given)
    call.adopt()
    call.restate()


def without_state(call: Call) -> None:
    """What the uniform call gives beside a state."""
    call.wrap(lambda call: Subscript(call, Constant(0)))
