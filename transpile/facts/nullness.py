"""Whether a value may be None on one of its ways."""

from functools import partial

from ..model.constants import is_none
from ..model.expressions import Attribute, Name
from ..model.names import dotted, names_assigned
from ..model.node import Expression
from ..model.operators import Compare, Conditional
from ..model.program import Function
from ..model.statements import Assign
from .values.lattice import UNKNOWN, Tensor


def possibly_none(value: Expression) -> bool:
    """Whether an expression is None, on one of its ways."""
    if isinstance(value, Conditional):
        return possibly_none(value.body) or possibly_none(value.orelse)
    return is_none(value) or named_none(value)


def named_none(value: Expression) -> bool:
    """Whether a name stands for an array on one way, and for None on another: a parameter of which
    nothing is known but that it is None by default, or asked whether it is, too."""
    if isinstance(value, Name) and isinstance(value.value, Tensor):
        return value.value.none
    if not isinstance(value, Name) or value.value not in (None, UNKNOWN):
        return False
    function = value.nearest(Function)
    if function is None or value.id in names_assigned(function.body):
        return False
    given = [p for p in function.parameters if p.name == value.id]
    if any(is_none(p.default) for p in given):
        return True
    return bool(given) and any(_asks(test, value) for test in function.nodes(Compare))


def _asks(test: Compare, value: Name) -> bool:
    """Whether a constructor asks if a name is None, or what it keeps it as: `self.size is None`."""
    if test.operators not in (["is"], ["is not"]) or not is_none(test.operands[1]):
        return False
    asked, store = test.operands[0], value.parent
    kept = store.targets if isinstance(store, Assign) else ()
    return any(map(partial(_is_same, asked), (value, *kept)))


def _is_same(asked: Expression, kept: Expression) -> bool:
    """Whether two are one name, or attributes of one: a `Read` and what it is declared by."""
    if isinstance(asked, Attribute) and isinstance(kept, Attribute):
        return asked.name == kept.name and dotted(asked.object) == dotted(kept.object)
    return isinstance(asked, Name) and dotted(asked) == dotted(kept)
