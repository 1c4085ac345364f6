"""Calls in another form than they stand in: by a helper, and what a checkpoint runs."""

from ...model.effects import Support
from ...model.expressions import Call
from ...model.names import dotted
from ...model.node import Expression
from ...source.lower_ast import expression


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
    call.arguments.insert(0, called)
    call.keywords.insert(0, None)
    call.function = function
    call.adopt()
    call.restate()
