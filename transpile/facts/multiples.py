"""Whether a dim of an array is a multiple of a number, by the layer that makes it.

self.to_qkv = nn.Linear(dim, inner * 3)         self.to_qkv(x).chunk(3, dim=-1)    of one size
"""

from __future__ import annotations

from ..model.expressions import Attribute, Call, Constant
from ..model.node import Expression
from ..model.operators import Binary
from ..model.program import Class
from .modules import Modules
from .values.lattice import Module

# The parameter that says how large which dim is of what a layer makes.
_SIZES = {
    "torch.nn.Linear": ("out_features", (-1,)),
    "torch.nn.Conv1d": ("out_channels", (1, -2)),
    "torch.nn.Conv2d": ("out_channels", (1, -3)),
    "torch.nn.Conv3d": ("out_channels", (1, -4)),
}


def is_multiple(modules: Modules, cls: Class | None, made: Expression, axis: int, n: int) -> bool:
    """Whether the size of `self.layer(x)` at an axis is certainly a multiple of n, whichever of
    the layers it is that are set there."""
    layer = made.function if isinstance(made, Call) else None
    if cls is None or not isinstance(layer, Attribute):
        return False
    held = modules.fields(cls).get(layer.name)
    owner = layer.object.value
    if held is None or not isinstance(owner, Module) or not owner.is_self:
        return False
    return all(_is_made_so(value, axis, n) for value in held.values)


def _is_made_so(layer: Expression, axis: int, n: int) -> bool:
    """`nn.Linear(dim, inner * 3)`"""
    value = layer.value
    if not isinstance(layer, Call) or not isinstance(value, Module) or value.open:
        return False
    found = [_SIZES.get(ref) for ref in value.refs if isinstance(ref, str)]
    if len(found) != len(value.classes) or not found:
        return False
    return all(f is not None and axis in f[1] and _has_factor(_size(layer, f[0]), n) for f in found)


def _size(layer: Call, name: str) -> Expression | None:
    second = layer.arguments[1:2] if layer.keywords[:2] == [None, None] else []
    return layer.keyword(name) or next(iter(second), None)


def _has_factor(size: Expression | None, n: int) -> bool:
    """`inner * 3`, or a number that 3 divides."""
    if isinstance(size, Binary) and size.operator == "*":
        return _has_factor(size.left, n) or _has_factor(size.right, n)
    number = size.constant if isinstance(size, Constant) else None
    return isinstance(number, int) and number > 0 and number % n == 0
