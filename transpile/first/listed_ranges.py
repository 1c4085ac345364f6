"""`torch.arange(2, len(x.shape)).tolist()` is `list(range(2, len(x.shape)))`: numbers, which are dims or sizes also where arrays are traced."""

from __future__ import annotations

from typing import Any

import libcst as cst

from . import tree


def numbers_of_range(node: cst.Call) -> Any:
    """The list of what `torch.arange` counts, where all its bounds are whole numbers for certain; None for any other call."""
    if not isinstance(node.func, cst.Attribute) or node.func.attr.value != "tolist" or node.args:
        return None
    made = node.func.value
    if not isinstance(made, cst.Call) or tree.dotted(made.func) != "torch.arange":
        return None
    bounds = [a for a in made.args if a.keyword is None or a.keyword.value != "device"]
    if not 1 <= len(bounds) <= 3 or any(a.keyword is not None or a.star or not _is_whole(a.value) for a in bounds):
        return None
    bounds[-1] = tree.replace(bounds[-1], comma=cst.MaybeSentinel.DEFAULT)
    return cst.Call(cst.Name("list"), [cst.Arg(cst.Call(cst.Name("range"), bounds))])


def _is_whole(node: Any) -> bool:
    """Whether an expression can be nothing but an int: `2`, `len(x.shape)`, `x.dim() - 1`, `x.shape[0]`."""
    if isinstance(node, cst.UnaryOperation):
        return _is_whole(node.expression)
    if isinstance(node, cst.BinaryOperation):
        return isinstance(node.operator, (cst.Add, cst.Subtract, cst.Multiply, cst.FloorDivide)) and _is_whole(node.left) and _is_whole(node.right)
    if isinstance(node, cst.Subscript):
        return isinstance(node.value, cst.Attribute) and node.value.attr.value == "shape" and isinstance(node.slice[0].slice, cst.Index)
    if isinstance(node, cst.Call):
        name = node.func.attr.value if isinstance(node.func, cst.Attribute) else tree.dotted(node.func)
        return name == "len" or name in ("dim", "ndimension") and not node.args or name == "size" and len(node.args) == 1
    return isinstance(node, cst.Integer) or isinstance(node, cst.Attribute) and node.attr.value == "ndim"
