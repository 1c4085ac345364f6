"""Operators: arithmetic, comparisons, and choices between two values."""

import dataclasses
from collections.abc import Callable
from typing import Any

from ...model.expressions import Attribute, Call, Display
from ...model.operators import Binary, Boolean, Compare, Conditional, Unary
from . import narrowing
from .frame import Env, Frame
from .joins import join
from .lattice import (
    ARRAY_TYPE,
    BOOL,
    MISSING,
    NARROW,
    NONE,
    NUMPY,
    SHAPE,
    UNKNOWN,
    WIDE,
    Class,
    External,
    Mapping,
    Method,
    Module,
    Sequence,
    Static,
    Tensor,
    Torch,
    Value,
    Width,
    is_traced,
    least_dims,
)
from .zero_dim import is_single, keeps

NUMBERS = {"int": "i", "float": "f", "bool": "b"}  # the dtype kinds of Python's numbers


# --- arithmetic ----------------------------------------------------------------------------------


def binary(left: Value, right: Value, operator: str) -> Value:
    """The result of an arithmetic operator, also of an augmented assignment's."""
    if isinstance(left, Module) and not left.is_self and isinstance(right, (Module, Sequence)):
        # `self.layers += [nn.Linear(3, 3)]`
        held = right.element if isinstance(right.element, Module) else Module(open=True)
        return dataclasses.replace(left, element=join(left.element, held), items=None)
    for a, b in ((left, right), (right, left)):
        if isinstance(a, Tensor) and not isinstance(b, Module):
            return _with_tensor(a, b, operator, left)
    if left == NUMPY or right == NUMPY:
        plain = (not isinstance(v, Static) or v.wide or v != NUMPY for v in (left, right))
        return dataclasses.replace(NUMPY, wide=all(plain))
    if isinstance(left, Static) and isinstance(right, Static):
        return _of_statics(left, right, operator)
    shapes = (isinstance(v, Static) and v.type == "shape" for v in (left, right))
    if operator == "+" and any(shapes):
        return SHAPE  # a torch.Size and a tuple
    if isinstance(left, Sequence) and isinstance(right, Sequence):
        return _concatenated(left, right)
    for one in (left, right):
        if isinstance(one, Sequence):
            return Sequence(one.element, None, one.tuple)
    return UNKNOWN


def _with_tensor(a: Tensor, b: Value, operator: str, left: Value) -> Tensor:
    other = b if isinstance(b, Tensor) else None
    kept = a if keeps(a, b, operator) else other if keeps(b, a, operator) else None
    return Tensor(
        assumed=a.assumed and (other is None or other.assumed),
        kind=_kind_of(a, b, operator) if kept is None else kept.kind,
        number=_number_of(a, b),
        host=a.host and (other is None or other.host),
        dims=max(least_dims(a), least_dims(b)),
        width=(kept or a).width if kept or other is None else _joint_width(a, other),
        single=is_single(a) and is_single(b) and a.number is not True,
    )


def _joint_width(a: Tensor, b: Tensor) -> Width:
    """Narrow where both are, wide where one is."""
    return a.width & b.width & NARROW | (a.width | b.width) & WIDE


def _number_of(a: Tensor, b: Value) -> bool | None:
    """Whether what torch makes of these is a number of Python's; None where it may be one."""
    if isinstance(b, Tensor) and b.number is not a.number:
        return False if False in (a.number, b.number) else None
    return a.number if isinstance(b, (Tensor, Static)) else False


def _kind_of(a: Tensor, b: Value, operator: str) -> str | None:
    """The dtype kind of an operation on a tensor and something else, by torch's promotion."""
    if a.kind is None or operator == "**":
        return None
    static = NUMBERS.get(b.type) if isinstance(b, Static) else None
    other = b.kind if isinstance(b, Tensor) else static
    if other is None:
        return None
    if isinstance(b, Static) and (a.kind, other) in (("u", "i"), ("u", "b")):
        return "u"
    kind = max(a.kind, other, key="buifc".index)
    return "f" if operator == "/" and kind in "bui" else kind


def _of_statics(left: Static, right: Static, operator: str) -> Value:
    if "shape" in (left.type, right.type):
        return SHAPE
    whole = isinstance(right.const, int) and right.const >= 0
    loose = left.loose or right.loose or operator == "**" and not whole
    return Static(MISSING, _type_of(left, right, operator), loose, left.wide or right.wide)


def _type_of(left: Static, right: Static, operator: str) -> str:
    """The type of an operation on two values of Python, "" where it does not follow."""
    types = {left.type, right.type}
    if not types <= {"bool", "int", "float"}:
        text = left.type == "str" and (right.type == "str" or operator == "%")
        return "str" if text else ""
    if "float" in types or operator == "/":
        return "float"
    return "bool" if types == {"bool"} and operator in ("&", "|", "^") else "int"


def _concatenated(left: Sequence, right: Sequence) -> Sequence:
    known = left.items is not None and right.items is not None
    items = (*left.items, *right.items) if known else None  # type: ignore[misc]
    if left.items == ():
        element = right.element
    else:
        element = left.element if right.items == () else join(left.element, right.element)
    return Sequence(element, items, left.tuple)


def binary_expression(frame: Frame, node: Binary, env: Env) -> Value:
    left = frame.expression(node.left, env)
    return binary(left, frame.expression(node.right, env), node.operator)


def unary(frame: Frame, node: Unary, env: Env) -> Value:
    value = frame.expression(node.operand, env)
    if node.operator == "not":
        tensor = isinstance(value, Tensor) and not value.none
        return Tensor(kind="b", assumed=value.assumed) if tensor else BOOL  # type: ignore[attr-defined]
    if node.operator == "-" and isinstance(value, Static) and isinstance(value.const, (int, float)):
        return Static(-value.const, value.type, value.loose)
    return value


# --- comparisons and choices ---------------------------------------------------------------------


def compare(frame: Frame, node: Compare, env: Env) -> Value:
    sides = [frame.expression(operand, env) for operand in node.operands]
    if not {"is", "is not", "in", "not in"}.isdisjoint(node.operators):
        second = node.operands[1]
        listed = isinstance(second, Display) and second.kind != "set"
        member = node.operators[0] in ("in", "not in") and listed
        return Tensor(kind="b") if member and is_traced(sides[0]) else BOOL
    if any(_never_array(s) for s in sides):
        return BOOL
    tensors = [s for s in sides if isinstance(s, Tensor)]
    if not tensors:
        return BOOL
    assumed, dims = all(t.assumed for t in tensors), max(map(least_dims, tensors))
    return Tensor(kind="b", assumed=assumed, dims=dims)


def _never_array(value: Value) -> bool:
    """Whether an array is never compared with this."""
    if isinstance(value, Static):
        return value.type in ("str", "dtype", "device")
    return isinstance(value, (Sequence, Mapping, Module, Class, Torch))


def boolean(frame: Frame, node: Boolean, env: Env) -> Value:
    left = frame.expression(node.left, env)
    right = _right(frame, node, env)
    for side, other in ((left, right), (right, left)):
        if isinstance(side, Static) and isinstance(other, Tensor) and other.kind == "b":
            # `k is None or k >= n` where nothing says that k is a tensor
            return Tensor(kind="b", assumed=other.assumed, python=True)
    return right if left == NONE else join(left, right)


def _right(frame: Frame, node: Boolean, env: Env) -> Value:
    """The right side, asked for only where the left one holds, or does not."""
    then, other = dict(env), dict(env)
    narrowing.narrow(frame, node.left, then, other)
    inner = then if node.operator == "and" else other
    before = dict(inner)
    value = frame.expression(node.right, inner)
    bound = {name: v for name, v in inner.items() if before.get(name) is not v}
    env.update(bound)  # what it binds: `(n := f(x))`
    return value


def conditional(frame: Frame, node: Conditional, env: Env) -> Value:
    test = frame.expression(node.test, env)
    if isinstance(test, Static) and isinstance(test.const, bool):
        if asks_torch(frame.facts.of, node.test):
            return frame.expression(node.body if test.const else node.orelse, env)
    if frame.first_turns and (told := narrowing.of_none(node.test, env)) is not None:
        return frame.expression(node.body if told else node.orelse, env)
    then, other = dict(env), dict(env)
    narrowing.narrow(frame, node.test, then, other)
    sides = frame.expression(node.body, then), frame.expression(node.orelse, other)
    found = join(*sides)
    types = found == UNKNOWN and all(_is_array_type(frame, side) for side in sides)
    return ARRAY_TYPE if types else found


def _is_array_type(frame: Frame, value: Value) -> bool:
    """Whether a value is torch.FloatTensor or another type of tensors."""
    if value == ARRAY_TYPE:
        return True
    return isinstance(value, Torch) and frame.facts.rulebook.dtype_of(value.name) is not None


def asks_torch(of: Callable[[Any], Value], node: Any) -> bool:
    """Whether an expression asks torch, or a tensor: `torch.cuda.is_available()`, `x.is_cuda`."""
    if isinstance(node, Attribute):
        base = of(node.object)
        device = isinstance(base, Static) and base.type == "device"
        return isinstance(base, (Tensor, Torch)) or device
    if not isinstance(node, Call):
        return False
    function = of(node.function)
    if function == External("builtins.hasattr") and node.arguments:
        function = of(node.arguments[0])
        if isinstance(function, Tensor):
            return True
    if isinstance(function, Method):
        return isinstance(function.receiver, Tensor)
    return isinstance(function, Torch)
