"""Which arrays may have numbers that no byte has: torch wraps them where JAX takes the nearest.

(x * 10).to(torch.uint8)                   ->  (x * 10).astype(int).astype(jnp.uint8)
(x * 255).clamp(0, 255).to(torch.uint8)    ->  jnp.clip(x * 255, 0, 255).astype(jnp.uint8)
"""

import math

from ...facts.values.lattice import Tensor
from ...model.expressions import Attribute, Call
from ...model.names import dotted
from ...model.node import Expression
from ...model.operators import Binary, Compare
from .bind import Argument
from .literals import literal

_WITHIN = frozenset(
    "bernoulli eye ones ones_like rand rand_like sigmoid softmax zeros zeros_like".split()
)
_ALIKE = frozenset("ceil detach expand float floor flip round squeeze tril triu unsqueeze".split())


def may_leave_bytes(given: Argument | None) -> bool:
    """Whether an array that is cast to bytes may be of floats beyond them; a name of which nothing
    is known counts as a mask."""
    value = given.value if given is not None else None
    if given is None or not isinstance(value, Tensor) or value.kind in ("b", "i", "u"):
        return False
    computed = isinstance(given.node, (Binary, Call))
    return (computed or value.kind == "f") and not _most(given.node) < 256


def _most(node: Expression) -> float:
    """The greatest that an array has which shows to have nothing below 0; else infinity."""
    if isinstance(node, Compare) or isinstance(node, Binary) and node.operator in ("&", "|", "^"):
        return 1
    if isinstance(node, Binary):
        number = literal(node.right)
        if node.operator not in ("*", "+") or not isinstance(number, (int, float)) or number < 0:
            return math.inf
        return _most(node.left) * number if node.operator == "*" else _most(node.left) + number
    if not isinstance(node, Call):
        return math.inf
    function, operands = node.function, list(node.arguments)
    name = dotted(function) or ""
    if isinstance(function, Attribute):
        name = function.name
        if isinstance(function.object.value, Tensor):
            operands.insert(0, function.object)
    if name.rstrip("_") in ("clamp", "clip") and len(operands) == 3:
        least, most = map(literal, operands[1:])
        shown = isinstance(least, (int, float)) and isinstance(most, (int, float)) and least >= 0
        return most if shown else math.inf
    if name in _WITHIN:
        return 1
    return _most(operands[0]) if name in _ALIKE and operands else math.inf
