"""Arrays of which a constructor asks the shape and dtype alone: they need not be made for that."""

from ....model.effects import Read, Support
from ....model.expressions import Attribute, Call, Constant, Name
from ....model.names import dotted

_ASKED = frozenset(("shape", "dtype", "ndim", "size"))
_MEASURING = frozenset(("fan_in_and_fan_out", "numel"))
_LIKE = frozenset("jnp.zeros_like jnp.ones_like jnp.empty_like jnp.full_like".split())


def like(node: Read) -> Call:
    """The shape and dtype of an array of a module, in the place of the array."""
    return Call(Support("like"), [node.object, Constant(node.name)])


def is_measured(node: Read) -> bool:
    """Whether its shape alone is asked for, or a function is given it that asks for no more."""
    around = node.parent
    if isinstance(around, Attribute) and around.name in _ASKED:
        return True
    word = around.function if isinstance(around, Call) else None
    if isinstance(word, Support):
        return word.name in _MEASURING
    if isinstance(around, Call) and dotted(word) in _LIKE:
        return around.arguments[0] is node
    return isinstance(word, Name) and word.id == "len"
