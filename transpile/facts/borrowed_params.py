"""Params of modules that are built for them alone, which are those of the module that takes them.

layer = nn.Linear(4, 4)
self.weight = layer.weight     →   self.weight = nn.Parameter(layer.weight)
"""

from ..model.expressions import Attribute, Call, Name
from ..model.names import bound_once, dotted, is_called, reads_of
from ..model.node import Node
from ..model.program import Function, Scope
from ..model.statements import Assign
from .values import Values, lattice
from .values.lattice import Module, Torch, is_param


def is_lent(values: Values, value: Node | None, scope: Scope | None = None) -> bool:
    """Whether an expression is a param of a module that is built for its params alone:
    `layer.weight` of `layer = nn.Linear(4, 4)`, `nn.Linear(4, 4).weight`. `scope`: what it is in,
    where it is being rewritten."""
    if not isinstance(value, Attribute) or not is_param(values.of(value)):
        return False
    made: Node | None = value.object
    function = scope or value.nearest(Function)
    if isinstance(made, Name) and isinstance(function, Function):
        name = made.id
        uses = reads_of(function, name)
        if name not in bound_once(function) or not all(map(_only_lends, uses)):
            return False
        bindings = (a for a in function.nodes(Assign) if [dotted(t) for t in a.targets] == [name])
        made = next((a.expression for a in bindings), None)
    if not isinstance(made, Call) or not isinstance(values.of(made), Module):
        return False
    return isinstance(values.of(made.function), (lattice.Class, Torch))


def is_gone(values: Values, value: Node | None, scope: Scope, live: frozenset[str]) -> bool:
    """Whether an expression is such a param where nothing reads its module any more:
    `layer.weight` after `self.weight = layer.weight`."""
    root = (dotted(value) or "").partition(".")[0]
    return root not in live and is_lent(values, value, scope)


def _only_lends(name: Name) -> bool:
    """Whether a module is asked for something, and not called or handed on."""
    part = name.parent
    called = isinstance(part, Attribute) and is_called(part)
    return isinstance(part, Attribute) and part.object is name and not called
