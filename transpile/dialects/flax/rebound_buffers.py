"""Buffers that an assignment makes another array of, which `[...]` would broadcast.

self.mean = x.mean(0)      →    self.mean.set_value(x.mean(axis=0))
"""

from ...facts.shapes.syntactic_sizes import is_size
from ...facts.values.lattice import NARROW, Sequence, Static, Tensor
from ...model.control_flow import Cond, Loop, Scan
from ...model.effects import Write
from ...model.expressions import (
    Attribute,
    Call,
    Comprehension,
    Dictionary,
    Display,
    Slice,
    Subscript,
)
from ...model.names import index_parts
from ...model.node import Expression
from ...model.statements import ExpressionStatement
from .initial_values import assigned, is_container
from .lowering import Lowering

_WHOLE = ("i", "u", "b")
_REDUCING = frozenset(
    ("all", "any", "argmax", "argmin", "max", "mean", "min", "norm", "std", "sum", "var")
)


def changes_shape(low: Lowering, node: Write) -> bool:
    """Whether what is assigned may have another shape than what stands there."""
    return _is_part(node.value) or _may_gain_dims(low, node)


def changes_type(low: Lowering, node: Write) -> bool:
    """Whether an array that began as whole numbers, or of a half type, may be given another type:
    `self.hits = self.hits + x.sum()`."""
    cls, value = low.cls(node), node.value.value
    if cls is None or not node.bound or not isinstance(value, Tensor) or _is_carried(node):
        return False
    found = low.plan.modules.fields(cls).get(node.target.name)
    begun = [v.value for v in found.values] if found is not None else []
    return any(
        isinstance(b, Tensor)
        and (b.kind in _WHOLE and value.kind != b.kind or b.width - value.width >= NARROW)
        for b in begun
    )


def _is_carried(node: Write) -> bool:
    """Whether it is in a block that hands on what has one shape and type."""
    return any(isinstance(n, (Cond, Loop, Scan)) for n in node.ancestors())


def _is_part(value: Expression) -> bool:
    """`x.mean(axis=0)`, `x[0]`, detached or cast."""
    if isinstance(value, Subscript):
        return not all(isinstance(part, Slice) for part in index_parts(value.index))
    if not isinstance(value, Call) or not isinstance(value.function, Attribute):
        return False
    if value.function.name == "stop_gradient":
        return _is_part(value.arguments[0])
    if value.function.name == "astype":
        return _is_part(value.function.object)
    return value.function.name in _REDUCING and "keepdims" not in value.keywords


def _may_gain_dims(low: Lowering, node: Write) -> bool:
    """Whether an array that began as a number, `self.hidden = 0`, may be given another shape, or a
    size of Python's."""
    cls, value = low.cls(node), node.value
    plain = isinstance(value, Call) and not value.arguments  # `y.mean()`
    if cls is None or plain or isinstance(value.value, Static) and not is_size(assigned(node)):
        return False
    return not _is_carried(node) and low.plan.begun(cls, node.target.name).number


def set_whole(target: Expression, value: Expression) -> ExpressionStatement:
    """`self.h.set_value(v)`, which makes of a list or dict another one, with its keys sorted."""
    written = isinstance(value, (Display, Comprehension))
    written = written or isinstance(value, Dictionary) and not value.entries
    fixed = written or isinstance(value.value, Sequence) and value.value.tuple
    word = "set_value" if fixed or not is_container(value) else "set_raw_value"
    return ExpressionStatement(Call(Attribute(target, word), [value]))
