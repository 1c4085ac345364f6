"""Whether a function gives what a list or dict has to others: `nn.Sequential(*self.layers)`."""

from ..model.effects import Declare
from ..model.expressions import Attribute, Call, Name
from ..model.names import below, dotted, is_called, names_assigned
from ..model.node import Expression
from ..model.program import Function
from ..model.statements import For
from .modules import SUBMODULE


def hands_on(method: Function, place: str) -> bool:
    """Whether a method gives what a list or dict has to others."""
    return any(_is_given(n) for n in method.nodes(Attribute, Name) if dotted(n) == place)


def _is_given(read: Expression) -> bool:
    """`nn.Sequential(*self.layers)`, `for layer in self.layers: self.add_module("a", layer)`,
    `for name, layer in self.layers.items(): self.add_module(name, layer)`"""
    around = read.parent
    if isinstance(around, Attribute) and around.name in ("items", "values") and is_called(around):
        read = around.parent  # type: ignore[assignment]
    child, around = read, read.parent
    while isinstance(around, Expression) and not isinstance(around, Attribute):
        if isinstance(around, Call) and around.function is not child:
            return True
        child, around = around, around.parent
    if isinstance(around, Declare):  # `self.first = self.layers[0]`
        return around.kind == SUBMODULE and child is not read
    if not isinstance(around, For):
        return False
    turns = names_assigned(around)
    given = (a for call in below(around.body, Call) for a in call.arguments)
    return any(isinstance(a, Name) and a.id in turns for a in given)
