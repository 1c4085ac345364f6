"""`torch.cat` leaves out empty tensors of one dim, whatever the others are: an accumulator that
begins as one goes by a rule of its own.

out = torch.empty(0)                 out = torch.empty(0)
for x in xs:                    →    for x in xs:
    out = torch.cat((out, x))            out = torch.cat_with_empty((out, x))
"""

from collections.abc import Set

from ...model.expressions import Attribute, Call, Constant, Display, Name
from ...model.names import imported, target_names
from ...model.node import Expression
from ...model.program import Scope
from ...model.statements import Assign

_SIZED = frozenset({"torch.empty", "torch.zeros", "torch.ones"})
_MADE = frozenset(
    {"torch.tensor", "torch.Tensor", "torch.FloatTensor", "torch.LongTensor", "torch.DoubleTensor"}
)
_JOINS = frozenset({"torch.cat", "torch.concat", "torch.concatenate"})


def begin_empty(scope: Scope) -> frozenset[str]:
    """The names of a scope that are given an empty tensor of one dim."""
    empty = (a for a in scope.nodes(Assign) if _is_empty(scope, a.expression))
    return frozenset(name for a in empty for t in a.targets for name in target_names(t))


def joins_empty(scope: Scope, call: Call, empty: Set[str]) -> bool:
    """Whether a call joins one of these names with others: `torch.cat((out, x), dim=1)`."""
    given = call.arguments[0] if call.arguments else None
    if not isinstance(given, Display) or not isinstance(call.function, Attribute):
        return False
    if not any(isinstance(e, Name) and e.id in empty for e in given.elements):
        return False
    return imported(scope, call.function) in _JOINS


def joined(call: Call) -> Call:
    assert isinstance(call.function, Attribute)
    function = Attribute(call.function.object, "cat_with_empty")
    return Call(function, call.arguments, call.keywords)


def _is_empty(scope: Scope, value: Expression | None) -> bool:
    """`torch.empty(0)`, `torch.tensor([])`, `torch.Tensor()`"""
    if not isinstance(value, Call):
        return False
    sizes = value.positional
    size = sizes[0] if len(sizes) == 1 else None
    if isinstance(size, Constant) and size.constant == 0:
        return imported(scope, value.function) in _SIZED
    if isinstance(size, Display) and not size.elements or not sizes:
        return imported(scope, value.function) in _MADE
    return False
