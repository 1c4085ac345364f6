"""Operators: arithmetic, comparisons, and choices between two values."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import libcst as cst

from ..values import (
    ARRAY_TYPE,
    MISSING,
    NONE,
    NUMPY,
    UNKNOWN,
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
    both,
    is_traced,
    join,
    least_dims,
)
from . import narrowing
from .environments import NUMBERS
from .frame import Env, Frame, Handlers

_BOOL = Static(MISSING, "bool")
_SHAPE = Static(MISSING, "shape")


def _number_of(a: Tensor, b: Value) -> bool | None:
    """Whether what torch makes of these is a number of Python's; None where it may be one."""
    if isinstance(b, Tensor) and b.number is not a.number:
        return False if False in (a.number, b.number) else None
    return a.number if isinstance(b, (Tensor, Static)) else False


def binary(left: Value, right: Value, operator: cst.CSTNode) -> Value:
    """The result of an arithmetic operator, also of an augmented assignment's."""
    if isinstance(left, Module) and not left.is_self and isinstance(right, (Module, Sequence)):
        # `self.layers += [nn.Linear(3, 3)]`
        held = right.element if isinstance(right.element, Module) else Module(open=True)
        return dataclasses.replace(left, element=join(left.element, held), items=None)
    for a, b in ((left, right), (right, left)):
        if isinstance(a, Tensor) and not isinstance(b, Module):
            assumed = a.assumed and b.assumed if isinstance(b, Tensor) else a.assumed
            host = a.host and (not isinstance(b, Tensor) or b.host)
            number = _number_of(a, b)
            return Tensor(assumed=assumed, kind=_kind_of(a, b, operator), number=number, host=host, dims=max(least_dims(a), least_dims(b)))
    if NUMPY in (left, right):
        return dataclasses.replace(NUMPY, wide=all(not isinstance(v, Static) or v.wide or v != NUMPY for v in (left, right)))
    if isinstance(left, Static) and isinstance(right, Static):
        if "shape" in (left.type, right.type):
            return _SHAPE
        perhaps = isinstance(operator, (cst.Power, cst.PowerAssign)) and not (isinstance(right.const, int) and right.const >= 0)
        return Static(MISSING, _type_of(left, right, operator), left.loose or right.loose or perhaps, left.wide or right.wide)
    if any(isinstance(v, Static) and v.type == "shape" for v in (left, right)) and isinstance(
        operator, (cst.Add, cst.AddAssign)
    ):
        return _SHAPE  # a torch.Size and a tuple
    if isinstance(left, Sequence) and isinstance(right, Sequence):
        return _concatenated(left, right)
    if isinstance(left, Sequence):
        return Sequence(left.element, None, left.tuple, both(left, Sequence()))
    if isinstance(right, Sequence):
        return Sequence(right.element, None, right.tuple)
    return UNKNOWN


def _type_of(left: Static, right: Static, operator: cst.CSTNode) -> str:
    """The type of an operation on two values of Python, "" where it does not follow: `1 / 2` is a float."""
    types = {left.type, right.type}
    if not types <= {"bool", "int", "float"}:
        text = left.type == "str" and (right.type == "str" or isinstance(operator, cst.Modulo))
        return "str" if text else ""
    if "float" in types or isinstance(operator, (cst.Divide, cst.DivideAssign)):
        return "float"
    bits = isinstance(operator, (cst.BitAnd, cst.BitOr, cst.BitXor, cst.BitAndAssign, cst.BitOrAssign, cst.BitXorAssign))
    return "bool" if types == {"bool"} and bits else "int"


def _kind_of(a: Tensor, b: Value, operator: cst.CSTNode) -> str | None:
    """The dtype kind of an operation on a tensor and something else, by torch's promotion; None where it does not follow."""
    other = b.kind if isinstance(b, Tensor) else NUMBERS.get(b.type) if isinstance(b, Static) else None
    if a.kind is None or other is None or isinstance(operator, (cst.Power, cst.PowerAssign)):
        return None
    if isinstance(b, Static) and (a.kind, other) in (("u", "i"), ("u", "b")):
        return "u"
    kind = max(a.kind, other, key="buifc".index)
    return "f" if isinstance(operator, (cst.Divide, cst.DivideAssign)) and kind in "bui" else kind


def _concatenated(left: Sequence, right: Sequence) -> Sequence:
    items = (*left.items, *right.items) if left.items is not None and right.items is not None else None
    element = right.element if left.items == () else left.element if right.items == () else join(left.element, right.element)
    return Sequence(element, items, left.tuple, both(left, right) if items is None else None)


def _binary(frame: Frame, node: cst.BinaryOperation, env: Env) -> Value:
    return binary(frame.expression(node.left, env), frame.expression(node.right, env), node.operator)


def _unary(frame: Frame, node: cst.UnaryOperation, env: Env) -> Value:
    value = frame.expression(node.expression, env)
    if isinstance(node.operator, cst.Not):
        return Tensor(kind="b", assumed=value.assumed) if isinstance(value, Tensor) and not value.none else _BOOL
    if isinstance(node.operator, cst.Minus) and isinstance(value, Static) and isinstance(value.const, (int, float)):
        return Static(-value.const, value.type, value.loose)
    return value


def _comparison(frame: Frame, node: cst.Comparison, env: Env) -> Value:
    sides = [frame.expression(node.left, env), *(frame.expression(t.comparator, env) for t in node.comparisons)]
    if any(isinstance(t.operator, (cst.Is, cst.IsNot, cst.In, cst.NotIn)) for t in node.comparisons):
        target = node.comparisons[0]
        member = isinstance(target.operator, (cst.In, cst.NotIn)) and isinstance(
            target.comparator, (cst.Tuple, cst.List)
        )
        return Tensor(kind="b") if member and is_traced(sides[0]) else _BOOL
    if any(_never_array(s) for s in sides):
        return _BOOL
    tensors = [s for s in sides if isinstance(s, Tensor)]
    return Tensor(kind="b", assumed=all(t.assumed for t in tensors), dims=max(map(least_dims, tensors))) if tensors else _BOOL


def _never_array(value: Value) -> bool:
    """Whether an array is never compared with this."""
    if isinstance(value, Static):
        return value.type in ("str", "dtype", "device")
    return isinstance(value, (Sequence, Mapping, Module, Class, Torch))


def _boolean(frame: Frame, node: cst.BooleanOperation, env: Env) -> Value:
    left = frame.expression(node.left, env)
    right = _under(frame, node, env)
    for side, other in ((left, right), (right, left)):
        if isinstance(side, Static) and isinstance(other, Tensor) and other.kind == "b":
            return Tensor(
                kind="b", assumed=other.assumed, python=True
            )  # `k is None or k >= n` where nothing says that k is a tensor
    return right if left == NONE else join(left, right)


def _under(frame: Frame, node: cst.BooleanOperation, env: Env) -> Value:
    """The right side, which is asked for only where the left one holds, or does not: `isinstance(p, Packed) and p.data is q`."""
    then, other = dict(env), dict(env)
    narrowing.narrow(frame, node.left, then, other)
    inner = then if isinstance(node.operator, cst.And) else other
    before = dict(inner)
    value = frame.expression(node.right, inner)
    env.update({name: v for name, v in inner.items() if before.get(name) is not v})  # what it binds: `(n := f(x))`
    return value


def _conditional(frame: Frame, node: cst.IfExp, env: Env) -> Value:
    test = frame.expression(node.test, env)
    if isinstance(test, Static) and isinstance(test.const, bool) and asks_torch(frame.facts.of, node.test):
        return frame.expression(node.body if test.const else node.orelse, env)
    then, other = dict(env), dict(env)
    narrowing.narrow(frame, node.test, then, other)
    sides = frame.expression(node.body, then), frame.expression(node.orelse, other)
    found = join(*sides)
    return ARRAY_TYPE if found == UNKNOWN and all(_is_array_type(frame, side) for side in sides) else found


def _is_array_type(frame: Frame, value: Value) -> bool:
    """Whether a value is torch.FloatTensor or another type of tensors."""
    return value == ARRAY_TYPE or isinstance(value, Torch) and frame.facts.rulebook.dtype_of(value.name) is not None


def asks_torch(of: Callable[[Any], Value], node: Any) -> bool:
    """Whether an expression asks torch, or a tensor: `torch.cuda.is_available()`, `x.is_cuda`, `hasattr(F, "gelu")`."""
    if isinstance(node, cst.Attribute):
        base = of(node.value)
        return isinstance(base, (Tensor, Torch)) or isinstance(base, Static) and base.type == "device"
    if not isinstance(node, cst.Call):
        return False
    function = of(node.func)
    if isinstance(function, External) and function.name == "builtins.hasattr" and node.args:
        function = of(node.args[0].value)
    return isinstance(function, Torch) or isinstance(function, Method) and isinstance(function.receiver, Tensor)


HANDLERS: Handlers = {
    cst.BinaryOperation: _binary,
    cst.UnaryOperation: _unary,
    cst.Comparison: _comparison,
    cst.BooleanOperation: _boolean,
    cst.IfExp: _conditional,
}
