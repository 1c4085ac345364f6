"""Calls of what objects hold that a constructor is given, of any class: nobody in the project says
whether that is a module, with params of its own, or a function.

def __init__(self, model): …
    self.model = model
def forward(self, x):
    return self.model.fc(x)    # reported
"""

from typing import TypeGuard

from ...facts.values.lattice import UNKNOWN, Module, Tensor
from ...model.expressions import Attribute, Call, Name, Subscript
from ...model.names import dotted, is_own, target_names
from ...model.node import Expression, Node
from ...model.program import Function
from ...model.statements import For

FORWARD = ("forward", "__call__")


WHY = (
    "what this is part of is given, and nobody here says of which class it is: it is called as a "
    "function that takes nothing of the model; where it is a module, or computes with one, "
    "annotate it with its class"
)


def holder_of(call: Call, function: Function) -> Attribute | None:
    """The field of self of which a call with arrays runs a part, if nobody says what it is:
    self.model of `self.model.encoder.fc(x)`, and of `layer(x)` in `for layer in self.model.layers`.
    """
    part: Expression | None = call.function
    if isinstance(part, Name):
        part = next((n.iterable for n in call.ancestors() if _binds(n, part.id)), None)
    if not isinstance(part, Attribute) or not any(_is_array(a, function) for a in call.arguments):
        return None
    part = part.object
    while isinstance(part, (Attribute, Subscript)) and not is_own(part, function.receiver):
        part = part.object
    return part if is_own(part, function.receiver) and _is_any(part.value) else None


def _binds(node: Node, name: str) -> TypeGuard[For]:
    return isinstance(node, For) and name in target_names(node.target)


def _is_array(argument: Expression, function: Function) -> bool:
    """Whether an argument is an array, or what a forward pass is given and does not tell of."""
    if isinstance(argument.value, Tensor):
        return True
    given = [p.name for p in function.parameters[1:] if function.name in FORWARD]
    return argument.value in (None, UNKNOWN) and dotted(argument) in given


def _is_any(value: object) -> bool:
    return value in (None, UNKNOWN) or isinstance(value, Module) and value.open and not value.refs
