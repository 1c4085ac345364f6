"""Stores into tensors: `x[i] = v` and `x[i] += v`, by what the index selects."""

from __future__ import annotations

from typing import Any

import libcst as cst

from ... import tree
from ...emit import OPERATORS, bare, call
from ...indices import index_expression, index_kind, may_overlap, only_index
from ...leading import may_lead
from ...truth import moving, window
from ...values import Module, Sequence, Static, Tensor
from .frame import Frame
from .rebinding import rebind, stripped
from .views import at_index

# for each augmented assignment, the method of `x.at[i]` for it, if there is one, and the operator
METHODS = {cst.AddAssign: "add", cst.SubtractAssign: "subtract", cst.MultiplyAssign: "multiply", cst.DivideAssign: "divide", cst.PowerAssign: "power"}  # of `.at[…]`


def store(frame: Frame, node: cst.Assign, target: cst.Subscript, value: Any) -> Any:
    """The assignment for `x[i] = v`, where `value` is what v has become."""
    context, base, index = frame.context, stripped(frame, target.value), target.slice
    kind = index_kind(context, index, base)
    if may_overlap(target, node.value):
        context.report("overlapping-copy", target, "source and target of this copy may overlap: it is converted as if the source were cloned first")
    selected = _unselected(frame, value, index)
    if moving(context, index):
        return _store_window(frame, node, target, value)
    if kind == "mask" and isinstance(frame.value(node.value), Static):
        new = call("jnp.where", [only_index(index), value, base])
    elif selected is not None:
        new = call(context.name("assign_where"), [base, only_index(index), bare(selected)])
    elif kind == "basic" and not (any(isinstance(e.slice, cst.Index) for e in index) and may_lead(context, frame.info.node, target, node.value)):
        new = at_index(frame, base, target, "set", value)
    else:
        new = call(context.name("store"), [base, index_expression(index), value])
    frame.facts.carry(base, new)
    return rebind(frame, target.value, new, node)


def augmented_store(frame: Frame, node: cst.AugAssign, target: cst.Subscript, value: Any) -> Any:
    """The assignment for `x[i] += v`, where `value` is what v has become."""
    context, base, index = frame.context, stripped(frame, target.value), target.slice
    method, operator = METHODS.get(type(node.operator), ""), OPERATORS[type(node.operator)]
    kind = index_kind(context, index, base)
    scalar = isinstance(frame.value(node.value), Static)
    if kind == "basic" and method:
        new = at_index(frame, base, target, method, value)
    elif kind == "basic":
        new = at_index(frame, base, target, "set", binary(frame, target, operator, value))
    elif kind == "mask" and scalar:
        new = call("jnp.where", [only_index(index), binary(frame, base, operator, value), base])
    elif scalar:
        function = tree.replace(tree.expression("lambda old: 0"), body=binary(frame, cst.Name("old"), operator, value))
        new = call(context.name("update"), [base, index_expression(index), function])
    elif (selected := _unselected(frame, value, index)) is not None:
        new = call(context.name("assign_where"), [base, only_index(index), binary(frame, base, operator, selected)])
    elif kind == "mask" and _selects(frame, node.value):
        return cst.Expr(context.unconverted("data-dependent-shape", target, "an update of the places of a mask by a value that may have their number"))
    elif method and _mask(frame, index) is not None:
        new = call(context.name("update"), [base, index_expression(index), tree.expression(f"jnp.{method}"), value])
    else:
        new = call(context.name("store"), [base, index_expression(index), binary(frame, target, operator, value)])
    frame.facts.carry(base, new)
    return rebind(frame, target.value, new, node)


def binary(frame: Frame, left: Any, operator: Any, right: Any) -> Any:
    """`left + right`, of any operator, with the value of the left side."""
    stand_in = cst.BinaryOperation(left, operator(), cst.Name("x"))
    made = cst.BinaryOperation(tree.fit(stand_in, "left", left), operator(), tree.fit(stand_in, "right", right))
    frame.facts.carry(left, made)
    return made


def holds_objects(frame: Frame, target: cst.Subscript, value: Any) -> bool:
    """Whether what is only assumed to be a tensor must be a list: by what is stored."""
    base = frame.value(target.value)
    if not (isinstance(base, Tensor) and base.assumed):
        return False
    return isinstance(value, (cst.Tuple, cst.List, cst.Dict)) or isinstance(frame.value(value), (Sequence, Module))


def _mask(frame: Frame, index: Any) -> Any:
    """What an index consists of, where that is one mask."""
    mask = frame.value(only_index(index)) if len(index) == 1 and isinstance(index[0].slice, cst.Index) else None
    return mask if isinstance(mask, Tensor) and mask.kind == "b" else None


def _selects(frame: Frame, value: Any) -> bool:
    """Whether a mask selects something in a value, which has as many rows as data tells."""
    return any(_mask(frame, n.slice) is not None for n in tree.nodes(value, cst.Subscript))


def _unselected(frame: Frame, value: Any, index: Any) -> Any:
    """In `x[m] = y[m] * 2` the right side for all places: `y * 2`. None where it is anything but arithmetic on what m selects."""
    if _mask(frame, index) is None:
        return None
    text, found = tree.code(only_index(index)), False

    def plain(node: Any) -> Any:
        nonlocal found
        if frame.is_element(node) and len(node.slice) == 1 and tree.code(node.slice[0].slice) == text:
            found = True
            return node.value
        if isinstance(frame.value(node), Static):
            return node
        if isinstance(node, cst.BinaryOperation) and not isinstance(node.operator, cst.MatrixMultiply):
            left, right = plain(node.left), plain(node.right)
            if left is None or right is None:
                return None
            made = tree.replace(node, left=tree.fit(node, "left", left), right=tree.fit(node, "right", right))
            frame.facts.carry(node, made)
            return made
        if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Minus):
            inner = plain(node.expression)
            return None if inner is None else tree.replace(node, expression=tree.fit(node, "expression", inner))
        return None

    made = plain(value)
    return made if found else None


def _store_window(frame: Frame, node: cst.Assign, target: cst.Subscript, value: Any) -> Any:
    """`queue[:, i : i + n] = keys` where only the data tells i."""
    context, base = frame.context, stripped(frame, target.value)
    places = moving(context, target.slice)
    part = window(target.slice[places[0]].slice)
    whole = all(tree.code(e.slice) == ":" for i, e in enumerate(target.slice) if i != places[0])
    if len(places) != 1 or part is None or not whole or isinstance(frame.value(node.value), Static):
        return cst.Expr(context.unconverted("data-dependent-shape", target, "a store into a slice whose length follows from data"))
    cast = tree.expression("x.astype(y.dtype)")
    cast = tree.replace(cast, func=tree.replace(cast.func, value=tree.fit(cast.func, "value", value)), args=[cst.Arg(cst.Attribute(base, cst.Name("dtype")))])
    new = call("lax.dynamic_update_slice_in_dim", [base, cast, part[0], cst.Integer(str(places[0]))])
    frame.facts.carry(base, new)
    return rebind(frame, target.value, new, node)
