"""Whether every operation of an expression or block is total: a finite value, and a finite slope,
whatever finite arrays it is given.

Where both sides of a choice are computed and one is thrown away, the gradient of the other is 0
times the slope of that one: `jnp.where(x > 0, jnp.sqrt(x), 0)` has the gradient NaN at x = 0. What
is marked here may be computed though it is not asked for. False means "not known to be".
"""

import math
from collections.abc import Callable, Iterable

from ..model.effects import (
    Apply,
    Detached,
    Key,
    Mode,
    New,
    Put,
    Read,
    Shape,
    Support,
    Unconverted,
    Write,
)
from ..model.expressions import (
    Attribute,
    Call,
    Comprehension,
    Constant,
    Display,
    ForClause,
    Name,
    Slice,
    Starred,
    Subscript,
)
from ..model.names import dotted, last_word
from ..model.node import Expression, Node
from ..model.operators import Binary, Boolean, Compare, Conditional, Unary
from ..model.program import Function
from ..model.statements import Assign, Block, ExpressionStatement, For, If, Pass, Return
from .effects import EffectsOf
from .values.lattice import Module, Static, Tensor

# Overflow of plain arithmetic is left out of account, as of `x * x`; of `exp` it is not.
_ARRAYS = frozenset(
    """abs absolute add all allclose amax amin any arange argmax argmin argsort array array_equal
    asarray atleast_1d atleast_2d broadcast_to ceil clip concatenate conj copy cos cumsum diag
    diagonal dot einsum equal expand_dims eye fix flip floor full full_like greater greater_equal
    heaviside hstack identity imag indices inner isfinite isinf isnan kron less less_equal linspace
    logical_and logical_not logical_or logical_xor matmul max maximum mean meshgrid min minimum
    moveaxis multiply nan_to_num negative not_equal ones ones_like outer pad permute_dims positive
    ravel real repeat reshape roll rot90 round searchsorted sign sin sinc sort split squeeze stack
    subtract sum swapaxes take take_along_axis tanh tensordot tile trace transpose tri tril triu
    trunc unravel_index vdot vstack where zeros zeros_like broadcast_arrays iinfo finfo
    result_type""".split()
)
_FUNCTIONS = frozenset(
    """celu elu gelu hard_sigmoid hard_silu hard_swish hard_tanh leaky_relu log_sigmoid log_softmax
    one_hot relu relu6 selu sigmoid silu soft_sign softmax softplus squareplus swish logsumexp
    mish""".split()
)
_LAX = frozenset(
    """abs add bitcast_convert_type broadcast broadcast_in_dim ceil clamp collapse
    concatenate conv conv_general_dilated conv_transpose convert_element_type cos cumsum
    dot dot_general dynamic_slice dynamic_update_slice dynamic_update_slice_in_dim
    dynamic_slice_in_dim expand_dims floor full iota logistic max min mul neg pad reduce_max
    reduce_min reduce_sum reshape rev round select sign sin slice slice_in_dim sort squeeze
    stop_gradient sub tanh top_k transpose""".split()
)
_RANDOM = frozenset("normal uniform bernoulli randint permutation rademacher".split())
_METHODS = frozenset(
    """all any argmax argmin argsort astype clip conj copy cumsum diagonal dot flatten max mean min
    ravel repeat reshape round set sort squeeze sum swapaxes take trace transpose add multiply view
    items keys values get index""".split()
)
_BUILTINS = frozenset(
    """abs all any bool dict enumerate float getattr hasattr int isinstance len list max min range
    reversed sorted sum tuple zip""".split()
)
_LAYERS = frozenset(
    """AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveMaxPool1d AdaptiveMaxPool2d AvgPool1d AvgPool2d
    AlphaDropout Bilinear CELU ConstantPad1d ConstantPad2d Conv1d
    Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d Dropout Dropout1d Dropout2d
    Dropout3d ELU Embedding Flatten Fold GELU GLU GRU GRUCell GroupNorm Hardsigmoid Hardswish
    Hardtanh Identity LSTM LSTMCell LayerNorm LeakyReLU Linear
    LogSigmoid LogSoftmax MaxPool1d MaxPool2d MaxPool3d Mish PReLU PixelShuffle RNN RNNCell ReLU
    ReLU6 ReflectionPad1d ReflectionPad2d ReplicationPad1d ReplicationPad2d SELU SiLU Sigmoid
    Softmax Softplus Softsign Tanh Unflatten Unfold Upsample ZeroPad2d""".split()
)
_TOTAL = {"jnp": _ARRAYS, "jax.numpy": _ARRAYS, "jax.nn": _FUNCTIONS, "lax": _LAX, "jax.lax": _LAX}
_TOTAL["jax.random"] = _RANDOM
_ARITHMETIC = frozenset(["+", "-", "*", "@", "&", "|", "^", "<<", ">>"])
_DIVISIONS = frozenset(["/", "//", "%"])
_PUTS = frozenset(["set", "add", "multiply", "min", "max"])


class Totality:
    """What is total, by tables of JAX's words, and by the bodies of the user's functions."""

    def __init__(self, effects: EffectsOf | None = None) -> None:
        self.effects = effects
        self._known: dict[Function, tuple[int, bool]] = {}

    def total(self, node: Node | None) -> bool:
        """Whether all in an expression, statement or block is total, and nothing is written."""
        if node is None:
            return True
        check = _CHECKS.get(node.__class__)
        return check is not None and check(self, node)

    def all(self, nodes: Iterable[Node | None]) -> bool:
        return all(self.total(node) for node in nodes)

    def function(self, function: Function) -> bool:
        """Whether all in a function is; one that may call itself is not known to be."""
        known = self._known.get(function)
        if known is None or known[0] != function.version:
            self._known[function] = function.version, False
            known = self._known[function] = function.version, self.total(function.body)
        return known[1]

    def runs(self, call: Call) -> bool:
        """Whether the functions of the user's that a call may run are total."""
        found = self.effects.targets(call) if self.effects is not None else None
        return bool(found) and all(self.function(function) for function, _ in found or ())

    def writes(self, call: Apply) -> bool:
        """Whether a call may write an array, or do what is not known."""
        found = call.effects
        if self.effects is not None:
            found |= self.effects.of_call(call)
        return bool(found.writes) or found.open


# --- expressions ----------------------------------------------------------------------------------


def _parts(t: Totality, node: Node) -> bool:
    return t.all(node.children())


def _constant(t: Totality, node: Constant) -> bool:
    return not isinstance(node.constant, float) or math.isfinite(node.constant)


def _attribute(t: Totality, node: Attribute) -> bool:
    return last_word(node) not in ("inf", "nan") and t.total(node.object)


def _binary(t: Totality, node: Binary) -> bool:
    if not t.all([node.left, node.right]):
        return False
    if node.operator in _ARITHMETIC:
        return True
    number = _number(node.right)
    if node.operator in _DIVISIONS:
        return bool(number)  # `x / n` is not where n may be 0
    # `x ** 0.5` is NaN below 0, and has no slope at 0
    return node.operator == "**" and isinstance(number, int) and number >= 0


def _number(node: Expression) -> int | float | None:
    """The number that an expression is for certain."""
    if isinstance(node, Unary) and node.operator == "-":
        found = _number(node.operand)
        return None if found is None else -found
    value = node.value
    found = node.constant if isinstance(node, Constant) else None
    if isinstance(value, Static) and not value.loose and found is None:
        found = value.const
    return found if isinstance(found, (int, float)) else None


def _call(t: Totality, node: Call) -> bool:
    if not t.all(node.arguments):
        return False
    name = dotted(node.function)
    head, _, last = (name or "").rpartition(".")
    if last in _TOTAL.get(head, ()):
        return True
    if name in _BUILTINS:
        return True
    if isinstance(node.function, Attribute) and last not in _TOTAL and head not in _TOTAL:
        inner = node.function
        if inner.name in _METHODS and _is_plain(inner.object):
            return t.total(inner.object)
    return t.runs(node)


def _is_plain(node: Expression) -> bool:
    """Whether a method is one of an array or a container, as far as is known."""
    return isinstance(node.value, (Tensor, Static)) or isinstance(node, (Call, Subscript))


def _apply(t: Totality, node: Apply) -> bool:
    if t.writes(node) or not t.all(node.arguments):
        return False
    known = node.function.value
    if isinstance(known, Module) and not known.open and known.classes:
        names = [c for c in known.classes if isinstance(c, str)]
        if len(names) == len(known.classes):
            return all(name.rpartition(".")[2] in _LAYERS for name in names)
    return t.runs(node)


def _put(t: Totality, node: Put) -> bool:
    return node.how in _PUTS and _parts(t, node)


# --- statements -----------------------------------------------------------------------------------


def _assign(t: Totality, node: Assign) -> bool:
    if not all(_is_name(target) for target in node.targets):
        return False
    if not node.operator:
        return t.total(node.expression)
    assert node.expression is not None
    if node.operator in _DIVISIONS and not _number(node.expression):
        return False
    return node.operator in _ARITHMETIC | _DIVISIONS and t.total(node.expression)


def _is_name(target: Node) -> bool:
    if isinstance(target, Display):
        return all(_is_name(element) for element in target.elements)
    return isinstance(target, Name)


def _yes(t: Totality, node: Node) -> bool:
    return True


def _no(t: Totality, node: Node) -> bool:
    return False


_CHECKS: dict[type[Node], Callable[..., bool]] = {
    Name: _yes,
    Key: _yes,
    Mode: _yes,
    Read: lambda t, node: t.total(node.object),
    Shape: _yes,
    Constant: _constant,
    Attribute: _attribute,
    Subscript: _parts,
    Slice: _parts,
    Display: _parts,
    Starred: _parts,
    Comprehension: _parts,
    ForClause: lambda t, node: t.all([node.iterable, *node.conditions]),
    Unary: _parts,
    Binary: _binary,
    Compare: _parts,
    Boolean: _parts,
    Conditional: _parts,
    Detached: _parts,
    Put: _put,
    Call: _call,
    Apply: _apply,
    New: _no,
    Support: _no,
    Unconverted: _no,
    Write: _no,
    Block: _parts,
    Pass: _yes,
    Return: _parts,
    ExpressionStatement: _parts,
    Assign: _assign,
    If: _parts,
    For: lambda t, node: _is_name(node.target) and t.all([node.iterable, node.body, node.orelse]),
}
