"""`x[m] /= y[m]` becomes `x[m] = x[m] / y[m]`, where outside of the mask there may be no slope, or
JAX has no word for it; sums stay, and so does what is multiplied by a number."""

from typing import Any

from ...facts.memory.access_paths import of
from ...facts.values.lattice import Static
from ...model.copy import clone
from ...model.expressions import Subscript
from ...model.operators import Binary
from ...model.program import Function, Scope
from ...model.statements import Assign
from ..pass_ import Changes
from .masks import mask_in

_KEPT = frozenset({"+", "-"})
_LINEAR = frozenset({"*", "/"})


def run(scope: Scope, facts: Any) -> Changes:
    """The stores of a scope, through masks, that read what they write."""
    changes = Changes(scope)
    if not isinstance(scope, Function) or not scope.nodes(Subscript):
        return changes
    for node in scope.nodes(Assign):
        target = node.targets[0]
        if not isinstance(target, Subscript) or node.operator in ("", *_KEPT):
            continue
        mask = mask_in(target)
        if mask is None:
            continue
        if not (isinstance(of(node.expression), Static) and node.operator in _LINEAR):
            changes.replace(node, _plain)
        elif mask is not target.index:  # `x[m, :] *= 2`
            changes.replace(target, _by_mask)
    return changes


def _by_mask(target: Subscript) -> Subscript:
    mask = mask_in(target)
    assert mask is not None
    return Subscript(target.object, mask)


def _plain(node: Assign) -> Assign:
    target, value = node.targets[0], node.expression
    assert value is not None
    read = clone(target)
    made = Binary(read, node.operator, value)
    made.value = target.value
    return Assign([target], made)
