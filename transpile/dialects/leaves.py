"""Nodes of JAX with self that all dialects write alike.

Detached    lax.stop_gradient(x)
            nn.with_gradient(training, x), of `torch.set_grad_enabled(training)`
"""

from __future__ import annotations

from collections.abc import Callable

from ..model.effects import Detached
from ..model.expressions import Attribute, Call, Name
from ..model.node import Expression


def detached(node: Detached, support: Callable[[str], Expression]) -> Call:
    """A value without gradient; `support` names what jax_nn has."""
    if node.unless is not None:
        return Call(support("with_gradient"), [node.unless, node.expression])
    return Call(Attribute(Name("lax"), "stop_gradient"), [node.expression])
