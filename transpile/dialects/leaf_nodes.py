"""Nodes of JAX with self that all dialects write alike.

Detached    lax.stop_gradient(x)
            nn.with_gradient(training, x), of `torch.set_grad_enabled(training)`
            nn.constant(x), of what may hold dicts: stop_gradient would sort their keys
Put         x.at[i].set(v)
Shape       jax.eval_shape(lambda: x)
"""

from collections.abc import Callable

from ..facts.values.lattice import UNKNOWN, Mapping, Object, Sequence, Value
from ..model.effects import BoundMethod, Detached, Put, Shape, Unset
from ..model.expressions import Attribute, Call, Constant, Lambda, Name, Subscript
from ..model.node import Expression, Node
from ..model.operators import Compare, Unary, turned


def plainly(node: Node, support: Callable[[str], Expression]) -> bool:
    """Write what is the same wherever it stands; whether it is."""
    if isinstance(node, Detached):
        node.replace(detached(node, support))
    elif isinstance(node, Put):
        at = Subscript(Attribute(node.base, "at"), node.index)
        node.replace(Call(Attribute(at, node.how), [node.new]))
    elif isinstance(node, Shape):
        shape = Attribute(Name("jax"), "eval_shape")
        node.replace(Call(shape, [Lambda([], node.expression)]))
    elif isinstance(node, Unset):
        node.replace(Constant(None))
    elif isinstance(node, BoundMethod):
        node.become(Attribute(node.object, node.name))
    else:
        return False
    return True


def detached(node: Detached, support: Callable[[str], Expression]) -> Call:
    """A value without gradient; `support` names what jax_nn has."""
    if _may_hold_dicts(node.expression.value):
        unless = [node.unless] if node.unless is not None else []
        words = [None, *("unless" for _ in unless)]
        return Call(support("constant"), [node.expression, *unless], words)
    if node.unless is not None:
        return Call(support("with_gradient"), [node.unless, node.expression])
    return Call(Attribute(Name("lax"), "stop_gradient"), [node.expression])


def put(asked: Expression, made: Expression) -> None:
    """Put the answer where a question stood: `not hasattr(…)` is `"w" not in params`."""
    around = asked.parent
    negated = isinstance(around, Unary) and around.operator == "not"
    if negated and isinstance(made, (Compare, Unary)):
        around.replace(turned(made))  # type: ignore[union-attr]
    else:
        asked.replace(made)


def _may_hold_dicts(value: Value | None) -> bool:
    if isinstance(value, Sequence):
        parts = [value.element] if value.items is None else value.items
        return any(map(_may_hold_dicts, parts))
    return value is None or value == UNKNOWN or isinstance(value, (Mapping, Object))
