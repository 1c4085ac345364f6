"""Calls that are given a state, or go by a helper.

self.bn(x)          self.bn(x, state)
self.act(x)         nn.call(self.act, x, state=state)           where it may not take one
"""

from ...model.effects import Support
from ...model.expressions import Call, Name, Starred
from ...model.names import dotted
from ...model.node import Expression
from ...model.program import Function
from ...source.lower_ast import expression
from ..threading.signatures import Signatures


def give_state(call: Call, signatures: Signatures, state: str = "state") -> None:
    """Give a call a state that it takes: behind its arguments, where it has those by place."""
    if not signatures.of_outside(call).known:
        through(call, "call")
        call.append(Name(state), "state")
        return
    plain = not any(call.keywords) and not any(isinstance(a, Starred) for a in call.arguments)
    counts = {_positional(t) for t in signatures.targets(call) or []}
    fits = counts == {len(call.arguments)} or signatures.is_container(call)
    call.append(Name(state), None if plain and fits else "state")


def _positional(function: Function) -> int:
    """How many arguments stand before the state, which it may have been given already; less
    than none where there are stars."""
    if any(p.kind == "*" for p in function.parameters):
        return -1
    bound_self = function.owner is not None and not function.decorators
    placed = (p.name for p in function.parameters if p.kind in ("", "/"))
    return sum(name != "state" for name in placed) - bound_self


def filtered(call: Call) -> None:
    """What a checkpoint runs has arrays in it, which JAX's own cannot hash."""
    function = call.function
    assert isinstance(function, Call)
    function.function.replace(expression("eqx.filter_checkpoint"))


def through(call: Call, helper: str) -> None:
    """`f(x)` as `nn.call(f, x)`; of a checkpoint `eqx.filter_checkpoint(nn.call)(f, x)`."""
    function: Expression = Support(helper)
    called = call.function
    if isinstance(called, Call) and dotted(called.function) == "eqx.filter_checkpoint":
        function, called = Call(called.function, [function]), called.arguments[0]
    call.function = function
    call.prepend(called)
