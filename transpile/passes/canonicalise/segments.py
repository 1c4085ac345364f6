"""A Sequential that is run in segments, of which torch runs all but the last again in backward, is
run as it is.

checkpoint_sequential(self.layers, 2, x)         self.layers(x)
"""

from ...model.expressions import Attribute, Call, Starred
from ...model.names import dotted, everywhere, imported, is_own
from ...model.node import Expression
from ...model.program import Function
from ...model.statements import Assign

KEPT = (
    "no segment is run again in backward here: jax.checkpoint of a layer saves the memory of what "
    "it computes"
)
_NAME = "torch.utils.checkpoint.checkpoint_sequential"


def runs_segments(function: Function, call: Call) -> bool:
    """Whether a call runs a Sequential of the module's own in segments."""
    spread = any(isinstance(a, Starred) for a in call.arguments)
    if spread or call.keywords[:3] != [None, None, None] or function.owner is None:
        return False
    own = is_own(call.arguments[0], function.receiver)
    return own and imported(function, call.function) == _NAME and _is_sequential(call, function)


def in_one(call: Call) -> Call:
    return Call(call.arguments[0], [call.arguments[2]])


def _is_sequential(call: Call, function: Function) -> bool:
    """Whether the class sets an attribute to a Sequential of torch's wherever it does."""
    cls, layers = function.owner, call.arguments[0]
    assert cls is not None and isinstance(layers, Attribute)
    stores = [a for a in everywhere(cls, Assign) if _is_of(a.targets[0], layers.name)]
    made = [a.expression.function if isinstance(a.expression, Call) else None for a in stores]
    return bool(made) and all(f and imported(cls, f) == "torch.nn.Sequential" for f in made)


def _is_of(target: Expression, name: str) -> bool:
    return isinstance(target, Attribute) and target.name == name and "." in (dotted(target) or "")
