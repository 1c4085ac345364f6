"""What is no plain part of `self`: modules that a function is given, lists of params, params under
computed names."""

from __future__ import annotations

from ...facts.values.lattice import Module
from ...model.expressions import Attribute, Call, Constant, Name
from ...model.node import Expression
from ...model.program import Function
from ..threading.changes import root

LISTS = ("torch.nn.ParameterList", "torch.nn.ParameterDict")


def is_given(call: Call) -> bool:
    """Whether a module is called that the function, or one around it, has as a parameter: whoever
    gives it binds its params."""
    name = root(call.function)
    if name is None or not isinstance(call.function.value, Module):
        return False
    for around in call.ancestors():
        if isinstance(around, Function):
            own = [p.name for p in around.parameters]
            if name.id in own:
                return around.owner is None or name.id != own[0]
    return False


def is_listed(node: Expression) -> bool:
    """Whether it is a list or dict of params."""
    value = node.value
    if not isinstance(value, Module) or value.open or not isinstance(node, (Attribute, Name)):
        return False
    return bool(value.refs) and all(ref in LISTS for ref in value.refs)


def computed(call: Call, self_name: str) -> Expression | None:
    """The name in `getattr(self, f"weight_{i}")`, where it is computed; None of other calls."""
    if not isinstance(call.function, Name) or call.function.id != "getattr":
        return None
    if len(call.arguments) < 2 or isinstance(call.value, Module):
        return None
    held, name = call.arguments[:2]
    own = isinstance(held, Name) and held.id == self_name
    return name if own and not isinstance(name, Constant) else None
