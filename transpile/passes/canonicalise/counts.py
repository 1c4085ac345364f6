"""Numbers by way of arrays: places that are counted alone, whose number is data and needs no array
that is as long; the list of a range of sizes, which are dims or sizes where arrays are traced too.
"""

from ...model.expressions import Attribute, Call, Constant, Name, Slice, Subscript
from ...model.names import imported
from ...model.node import Expression
from ...model.operators import Binary, Unary
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


def lists_range(scope: Scope, node: Call) -> bool:
    """Whether it lists what `torch.arange` counts, between bounds that are whole numbers for
    certain: `torch.arange(2, len(x.shape)).tolist()`.
    """
    function = node.function
    if not isinstance(function, Attribute) or function.name != "tolist" or node.arguments:
        return False
    made = function.object
    if not isinstance(made, Call) or imported(scope, made.function) != "torch.arange":
        return False
    bounds = _bounds(made)
    others = set(made.keywords) - {None, "device"}
    return not others and 1 <= len(bounds) <= 3 and all(map(_is_whole, bounds))


def listed_range(node: Expression) -> Call:
    """`list(range(2, len(x.shape)))`"""
    assert isinstance(node, Call) and isinstance(node.function, Attribute)
    made = node.function.object
    assert isinstance(made, Call)
    return Call(Name("list"), [Call(Name("range"), _bounds(made))])


def _bounds(made: Call) -> list[Expression]:
    return made.positional


def _is_whole(node: Expression) -> bool:
    """Whether an expression can be nothing but an int: `2`, `len(x.shape)`, `x.dim() - 1`."""
    if isinstance(node, Unary):
        return node.operator == "-" and _is_whole(node.operand)
    if isinstance(node, Binary):
        exact = node.operator in ("+", "-", "*", "//")
        return exact and _is_whole(node.left) and _is_whole(node.right)
    if isinstance(node, Subscript):
        shape = isinstance(node.object, Attribute) and node.object.name == "shape"
        return shape and not isinstance(node.index, Slice)
    if isinstance(node, Call):
        function = node.function
        if isinstance(function, Name):
            return function.id == "len"
        name = function.name if isinstance(function, Attribute) else ""
        dims = name in ("dim", "ndimension") and not node.arguments
        return dims or name == "size" and len(node.arguments) == 1
    if isinstance(node, Attribute):
        return node.name == "ndim"
    return isinstance(node, Constant) and type(node.constant) is int
