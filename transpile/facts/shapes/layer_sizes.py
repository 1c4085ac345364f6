"""What layers say of sizes, by their constructors: which are multiples of others, which numbers.

self.to_qkv = nn.Linear(dim, inner * 3)         self.to_qkv(x).chunk(3, dim=-1)    of one size
self.c_attn = nn.Linear(n, 3 * n)               self.c_attn(x).split(self.n, 2)    three pieces
"""

from collections import Counter

from ...model.effects import New
from ...model.expressions import Attribute, Call, Constant
from ...model.names import dotted
from ...model.node import Expression
from ...model.operators import Binary
from ...model.program import Class, Scope
from ...model.statements import Assign
from ..modules import Modules
from ..values.lattice import Module

# The parameter that says how large which dim is of what a layer makes.
_SIZES = {
    "torch.nn.Linear": ("out_features", (-1,)),
    "torch.nn.Conv1d": ("out_channels", (1, -2)),
    "torch.nn.Conv2d": ("out_channels", (1, -3)),
    "torch.nn.Conv3d": ("out_channels", (1, -4)),
}


# What they make is as large as what they are given.
_ALIKE = frozenset(
    f"torch.nn.{name}"
    for name in (
        "AlphaDropout BatchNorm1d BatchNorm2d BatchNorm3d CELU Dropout Dropout1d Dropout2d "
        "Dropout3d ELU GELU GroupNorm Hardshrink Hardsigmoid Hardswish Hardtanh Identity "
        "InstanceNorm1d InstanceNorm2d InstanceNorm3d LayerNorm LeakyReLU LogSigmoid LogSoftmax "
        "Mish PReLU RMSNorm RReLU ReLU ReLU6 SELU SiLU Sigmoid Softmax Softplus Softshrink "
        "Softsign Tanh Tanhshrink Threshold"
    ).split()
)


def is_multiple(modules: Modules, cls: Class | None, made: Expression, axis: int, n: int) -> bool:
    """Whether the size of `self.layer(x)` at an axis is certainly a multiple of n, whichever of
    the layers it is that are set there."""
    found = sizes_made(modules, cls, made, axis)
    return bool(found) and all(_has_factor(size, n) for size in found)


def pieces(
    modules: Modules, cls: Class | None, made: Expression, axis: int, piece: Expression
) -> int | None:
    """How many pieces of a size `self.n` the result of `self.layer(x)` has at an axis, where the
    constructor says so: `self.n = n; self.layer = nn.Linear(n, 3 * n)`."""
    if cls is None or not isinstance(piece, Attribute) or not is_own(piece):
        return None
    held = modules.fields(cls).get(piece.name)
    found = sizes_made(modules, cls, made, axis)
    if held is None or len(held.values) != 1 or len(found) != 1:
        return None
    unit, size = dotted(held.values[0]), found[0]
    if unit is None or not isinstance(size, Binary) or size.operator != "*":
        return None
    for factor, other in ((size.left, size.right), (size.right, size.left)):
        number = factor.constant if isinstance(factor, Constant) else None
        if isinstance(number, int) and number > 0 and dotted(other) in (unit, dotted(piece)):
            return number
    return None


def is_own(node: Attribute) -> bool:
    owner = node.object.value
    return isinstance(owner, Module) and owner.is_self


def sizes_made(
    modules: Modules, cls: Class | None, made: Expression, axis: int
) -> list[Expression]:
    """The sizes at an axis of what `self.layer(x)` makes, one for each layer that may be set there;
    none where one of them is not known."""
    layer = made.function if isinstance(made, Call) else None
    if cls is None or not isinstance(layer, Attribute) or not is_own(layer):
        return []
    held = modules.fields(cls).get(layer.name)
    found = [_size_made(value, axis) for value in held.values] if held is not None else []
    return [] if None in found else [size for size in found if size is not None]


def _size_made(layer: Expression, axis: int) -> Expression | None:
    """`inner * 3` of `nn.Linear(dim, inner * 3)`, at its last axis; of a Sequential, what the last
    of its layers says that makes sizes of its own."""
    value = layer.value
    if not isinstance(layer, Call) or not isinstance(value, Module) or value.open:
        return None
    if value.refs == ["torch.nn.Sequential"]:
        last = next((a for a in reversed(layer.arguments) if not _is_alike(a)), None)
        return _size_made(last, axis) if last is not None else None
    found = [_SIZES.get(ref) for ref in value.refs if isinstance(ref, str)]
    if len(found) != len(value.classes) or not found:
        return None
    if any(f is None or axis not in f[1] or f != found[0] for f in found):
        return None
    assert found[0] is not None
    return _size(layer, found[0][0])


def _is_alike(layer: Expression) -> bool:
    """Whether what a layer makes is as large as what it is given, whichever layer it is."""
    value = layer.value
    if not isinstance(value, Module) or value.open or not value.classes:
        return False
    return value.classes <= _ALIKE


def _size(layer: Call, name: str) -> Expression | None:
    second = layer.arguments[1:2] if layer.keywords[:2] == [None, None] else []
    return layer.keyword(name) or next(iter(second), None)


def _has_factor(size: Expression | None, n: int) -> bool:
    """`inner * 3`, or a number that 3 divides."""
    if isinstance(size, Binary) and size.operator == "*":
        return _has_factor(size.left, n) or _has_factor(size.right, n)
    number = size.constant if isinstance(size, Constant) else None
    return isinstance(number, int) and number > 0 and number % n == 0


def handed_to_layers(scope: Scope) -> frozenset[str]:
    """The names that layers of a scope take for sizes, `n` of `nn.Linear(4, n * 2)`, and those that
    are set once and with them: `self.n = n = config.n`. They are numbers, whatever config is.
    """
    found: set[str | None] = set()
    for call in scope.nodes(New):
        if _takes_sizes(call):
            found |= {dotted(n) for size in call.arguments[:2] for n in _terms(size)}
    assigns = list(scope.nodes(Assign))
    named = [{dotted(n) for n in (*a.targets, a.expression) if n is not None} for a in assigns]
    while more := {n for names in named if names & found - {None} for n in names} - found:
        found |= more
    times = Counter(dotted(t) for a in assigns for t in a.targets)
    return frozenset(name for name in found if name is not None and times[name] < 2)


def is_layer_size(node: Expression) -> bool:
    """Whether a layer is made with an expression as one of its sizes: `nn.Linear(a + b, 4)`."""
    call = node.parent
    return isinstance(call, Call) and _takes_sizes(call) and node in call.arguments[:2]


def _takes_sizes(call: Call) -> bool:
    """Whether the first two arguments of a call are the sizes of a layer."""
    refs = call.value.refs if isinstance(call.value, Module) else []
    return bool(refs) and all(isinstance(ref, str) and ref in _SIZES for ref in refs)


def _terms(size: Expression) -> list[Expression]:
    if isinstance(size, Binary):
        return [*_terms(size.left), *_terms(size.right)]
    return [size]
