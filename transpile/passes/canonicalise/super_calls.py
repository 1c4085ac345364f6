"""Calls of what stands above a class: `super(Net, self).f(x)`, `nn.LayerNorm.forward(self, x)`."""

from ...model.expressions import Attribute, Call, Comprehension, Lambda, Name
from ...model.names import dotted
from ...model.program import Function
from .by_name import plain_call
from .context import Site

_THROUGH_SUPER = frozenset({"forward", "__call__", "reset_parameters", "train"})


def is_long_super(at: Site, call: Call) -> bool:
    """`super(Net, self)`, in a method of Net itself."""
    if at.cls is None or not isinstance(call.function, Name) or call.function.id != "super":
        return False
    if not plain_call(call, 2) or _is_inside(call):
        return False
    return [dotted(a) for a in call.arguments] in ([at.cls.name, at.own], ["__class__", at.own])


def short_super(call: Call) -> Call:
    """`super()`"""
    return Call(call.function)


def names_base(at: Site, call: Call) -> bool:
    """`nn.LayerNorm.forward(self, x)`, of the first base."""
    function, cls = call.function, at.cls
    if not isinstance(function, Attribute) or cls is None or function.name not in _THROUGH_SUPER:
        return False
    base = dotted(cls.bases[0]) if cls.bases and cls.keywords[0] is None else None
    if base is None or "." not in base or dotted(function.object) != base or _is_inside(call):
        return False
    given = bool(call.arguments) and call.keywords[0] is None
    return given and dotted(call.arguments[0]) == at.own


def through_super(call: Call) -> Call:
    """`super().forward(x)`"""
    assert isinstance(call.function, Attribute)
    made = Attribute(Call(Name("super")), call.function.name)
    return Call(made, call.arguments[1:], call.keywords[1:])


def _is_inside(call: Call) -> bool:
    """Whether it stands in a lambda or comprehension, which have no self of their own."""
    for around in call.ancestors():
        if isinstance(around, Function):
            return False
        if isinstance(around, (Lambda, Comprehension)):
            return True
    return False
