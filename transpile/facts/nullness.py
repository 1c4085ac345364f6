"""Whether a value may be None on one of its ways."""

from ..model.constants import is_none
from ..model.expressions import Name
from ..model.names import names_assigned
from ..model.node import Expression
from ..model.operators import Conditional
from ..model.program import Function
from .values.lattice import UNKNOWN, Tensor


def possibly_none(value: Expression) -> bool:
    """Whether an expression is None, on one of its ways."""
    if isinstance(value, Conditional):
        return possibly_none(value.body) or possibly_none(value.orelse)
    return is_none(value) or named_none(value)


def named_none(value: Expression) -> bool:
    """Whether a name stands for an array on one way, and for None on another: a parameter of which
    nothing is known but that it is None by default, too."""
    if isinstance(value, Name) and isinstance(value.value, Tensor):
        return value.value.none
    if not isinstance(value, Name) or value.value not in (None, UNKNOWN):
        return False
    function = value.nearest(Function)
    given = (p for p in function.parameters if p.name == value.id) if function is not None else ()
    optional = any(is_none(p.default) for p in given)
    return optional and value.id not in names_assigned(function.body)  # type: ignore[union-attr]
