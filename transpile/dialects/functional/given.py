"""What calls go through that is no part of `self`: modules that a function is given, lists of params."""

from __future__ import annotations

from ...facts.values.lattice import Module
from ...model.expressions import Attribute, Call, Name
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
