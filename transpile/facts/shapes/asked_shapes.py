"""Where the shape or dtype of an array of a module is asked for, and not its values."""

from ...model.effects import Read, Support
from ...model.expressions import Attribute, Call, Name, Subscript
from ...model.names import dotted
from ...model.node import Node
from ..memory.indices import number

_ASKED = frozenset(("shape", "dtype", "ndim", "size"))
_MEASURING = frozenset(("fan_in_and_fan_out", "numel"))
_LIKE = frozenset("jnp.zeros_like jnp.ones_like jnp.empty_like jnp.full_like".split())


def asked_of_row(node: Node | None) -> Attribute | None:
    """`w[0].shape`"""
    asked = node.parent if isinstance(node, Subscript) and number(node.index) is not None else None
    return asked if isinstance(asked, Attribute) and asked.name in ("shape", "size") else None


def is_measured(node: Read) -> bool:
    """Whether its shape alone is asked for, or a function is given it that asks for no more."""
    around = node.parent
    if isinstance(around, Subscript) and around.object is node:
        return asked_of_row(around) is not None
    if isinstance(around, Attribute) and around.name in _ASKED:
        return True
    word = around.function if isinstance(around, Call) else None
    if isinstance(word, Support):
        return word.name in _MEASURING
    if isinstance(around, Call) and dotted(word) in _LIKE:
        return around.arguments[0] is node
    return isinstance(word, Name) and word.id == "len"
