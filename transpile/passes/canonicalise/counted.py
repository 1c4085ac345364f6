"""Places that are counted alone: their number is data, and needs no array that is as long."""

from __future__ import annotations

from ...model.expressions import Attribute, Call, Constant, Name, Subscript
from ...model.names import imported
from ...model.node import Expression
from ...model.program import Scope
from .by_name import plain_call


def counts_places(scope: Scope, node: Call | Subscript) -> bool:
    """Whether it is the length of what torch.nonzero gives, in any spelling."""
    places = _whose_length(node)
    if not isinstance(places, Call) or not isinstance(places.function, Attribute):
        return False
    if imported(scope, places.function) == "torch.nonzero":
        return plain_call(places, 1)
    # `len(x.nonzero())` of NumPy's is the rank of x: it gives a tuple, which has no sizes
    by_len = isinstance(node, Call) and isinstance(node.function, Name)
    return places.function.name == "nonzero" and not places.arguments and not by_len


def counted(node: Expression) -> Call:
    """`torch.count_nonzero(mask).item()` for `torch.nonzero(mask).size(0)`"""
    places = _whose_length(node)
    assert isinstance(places, Call) and isinstance(places.function, Attribute)
    count = Attribute(places.function.object, "count_nonzero")
    return Call(Attribute(Call(count, places.arguments), "item"))


def _is_zero(node: Expression) -> bool:
    return isinstance(node, Constant) and type(node.constant) is int and node.constant == 0


def _whose_length(node: Expression) -> Expression | None:
    """The x of `len(x)`, `x.size(0)`, `x.size()[0]` or `x.shape[0]`."""
    if isinstance(node, Subscript):
        whole = node.object
        if not _is_zero(node.index):
            return None
        if isinstance(whole, Attribute) and whole.name == "shape":
            return whole.object
        if not isinstance(whole, Call) or whole.arguments:
            return None
        sized = whole.function
        return sized.object if isinstance(sized, Attribute) and sized.name == "size" else None
    if not isinstance(node, Call) or not plain_call(node, 1):
        return None
    function = node.function
    if isinstance(function, Name):
        return node.arguments[0] if function.id == "len" else None
    first = _is_zero(node.arguments[0])
    sized_here = isinstance(function, Attribute) and function.name == "size"
    return function.object if first and sized_here else None  # type: ignore[attr-defined]
