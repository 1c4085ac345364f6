"""Calls of what is run again in backward: `jax.checkpoint(self.block)(x)`."""

from ...model.expressions import Call
from ...model.names import dotted
from ...model.node import Expression

UPDATED = (
    "torch runs a checkpointed module again in backward, and updates its state again: here it is "
    "updated once"
)


def checkpointed(call: Call) -> Expression | None:
    """What such a call runs; None of other calls."""
    function = call.function
    if isinstance(function, Call) and dotted(function.function) == "jax.checkpoint":
        return function.arguments[0]
    return None
