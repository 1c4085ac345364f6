"""Where the arrays of a module stand: `params["blocks"]["0"]`."""

from __future__ import annotations

from dataclasses import dataclass

from ...facts.values.calls import is_super
from ...facts.values.lattice import Function as FunctionValue
from ...facts.values.lattice import Method, Module, Tensor
from ...model.copy import clone
from ...model.expressions import Attribute, Call, Name, Subscript
from ...model.names import dotted
from ...model.node import Expression
from ..threading.threaded import checkpointed


@dataclass(frozen=True)
class Path:
    """The way to a module: from `self`, or from a parameter that is given one."""

    keys: tuple[Expression, ...] = ()
    root: str = ""  # the parameter; nothing for `self`

    def below(self, key: Expression) -> Path:
        return Path((*self.keys, key), self.root)

    def of(self, whole: str) -> Expression:
        """The entry of a tree: `params["a"]["b"]`."""
        made: Expression = Name(whole)
        for key in self.keys:
            made = Subscript(made, clone(key))
        return made


def module_of(call: Call) -> Expression | None:
    """The module that a call runs, or whose method it runs; None for a plain function."""
    function = checkpointed(call) or call.function
    value = function.value
    if isinstance(value, Module):
        return function
    if isinstance(value, FunctionValue) and value.owner is None:
        return None
    if isinstance(value, Method) and isinstance(value.receiver, Tensor):
        return None  # `p.sum() for p in self.scales`
    if is_unbound(call):
        return call.arguments[0]
    return function.object if isinstance(function, Attribute) else None


def is_unbound(call: Call) -> bool:
    """Whether a method is called by its class, `Block.forward(self, x)`: with self in front."""
    function, value = call.function, call.function.value
    if not isinstance(function, Attribute) or not isinstance(value, FunctionValue):
        return False
    own = value.base and not is_super(function.object)
    return own and call.keywords[:1] == [None]


def is_above(call: Call) -> bool:
    """`super().forward(x)`"""
    held = call.function.object if isinstance(call.function, Attribute) else None
    return isinstance(held, Call) and dotted(held.function) == "super"
