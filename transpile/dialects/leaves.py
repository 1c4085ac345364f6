"""Nodes of JAX with self that all dialects write alike.

Detached    lax.stop_gradient(x)
            nn.with_gradient(training, x), of `torch.set_grad_enabled(training)`
            nn.constant(x), of what may hold dicts: stop_gradient would sort their keys
"""

from collections.abc import Callable

from ..facts.values.lattice import UNKNOWN, Mapping, Object, Sequence, Value
from ..model.effects import Detached
from ..model.expressions import Attribute, Call, Name
from ..model.node import Expression


def detached(node: Detached, support: Callable[[str], Expression]) -> Call:
    """A value without gradient; `support` names what jax_nn has."""
    if _may_hold_dicts(node.expression.value):
        unless = [node.unless] if node.unless is not None else []
        words = [None, *("unless" for _ in unless)]
        return Call(support("constant"), [node.expression, *unless], words)
    if node.unless is not None:
        return Call(support("with_gradient"), [node.unless, node.expression])
    return Call(Attribute(Name("lax"), "stop_gradient"), [node.expression])


def _may_hold_dicts(value: Value | None) -> bool:
    if isinstance(value, Sequence):
        parts = [value.element] if value.items is None else value.items
        return any(map(_may_hold_dicts, parts))
    return value is None or value == UNKNOWN or isinstance(value, (Mapping, Object))
