"""Which part of the pass each node of a file goes to."""

from __future__ import annotations

from typing import Any

import libcst as cst

from ... import tree
from ...apply import Refused
from ...context import Context
from ...project import FunctionInfo
from ...values import ARRAY_TYPE, Tensor
from . import calls, definitions, dtype_tests, number_tensors, numpy_numbers, references, subscripts, type_tests
from .walk import Walk


def run(context: Context, module: cst.Module, running: set[FunctionInfo], forward: set[FunctionInfo]) -> cst.Module:
    """Convert every use of torch in a file; what cannot be is reported and raises where it stood.

    In functions that run in a forward pass, a rule for `name[traced]` goes before that for `name`: `x.item()`. In a
    comparison, a rule for `name[compared]` does: it need not care for the gradient. Where the result is cast or rounded
    in the same function, a rule for `name[whole]` does: it has torch's last digit. A rule for `name[beside]` makes a number
    for what takes the dtype of the array that it meets.
    """
    return Walk(context, running, forward, visit).convert(module)  # type: ignore[no-any-return]


def visit(walk: Walk, node: Any) -> Any:
    """A node converted, or None to go on below it."""
    kind = node.__class__  # isinstance is slow to ask where the answer is mostly no
    if kind in (cst.Import, cst.ImportFrom):
        return node
    if kind is cst.FunctionDef:
        return definitions.function(walk, node)
    if kind is cst.ClassDef:
        return definitions.class_(walk, node)
    if kind in (cst.For, cst.While, cst.If) and not walk.functions and not walk.script and (kind is not cst.If or "__name__" in tree.names_read(node.test)):
        walk.script = True
        new = walk.children(node)
        walk.script = False
        return new
    if kind is cst.AnnAssign and (plain := definitions.variable(walk, node)) is not None:
        return plain
    if kind is cst.Annotation:
        return definitions.annotation(walk, node)
    if kind in (cst.Call, cst.BinaryOperation):
        number_tensors.mark(walk, node)
    if kind in numpy_numbers.PLACES and (number := numpy_numbers.converted(walk, node)) is not None:
        return number
    if kind is cst.Subscript:
        return subscripts.picked(walk, node) or subscripts.index(walk, node)
    if kind is cst.Expr:
        walk.dropped = node.value
        return None
    if kind is cst.Call:
        return calls.called(walk, node)
    if kind is cst.Attribute:
        return references.attribute(walk, node)
    if kind is cst.Comparison:
        return _comparison(walk, node)
    if kind is cst.Name:
        name = walk.torch_name(node)
        return references.reference(walk, node, name) if name is not None else None
    if kind in (cst.Arg, cst.AnnAssign) and getattr(node, "keyword", None) is not None:
        return walk.only(node, "value")
    if kind is cst.NamedExpr and walk.compared:
        return _kept(walk, node)
    if kind in (cst.AssignTarget, cst.CompFor, cst.For, cst.NamedExpr) and isinstance(node.target, cst.Name):
        return walk.with_target(node)
    if kind is cst.AssignTarget and isinstance(node.target, cst.Subscript):
        return walk.children(node) if not isinstance(walk.context.value(node.target.value), Tensor) else node
    if kind is cst.AssignTarget and isinstance(node.target, cst.Attribute):
        value = walk.convert(node.target.value)
        return node if value is node.target.value else tree.replace(node, target=tree.replace(node.target, value=tree.fit(node.target, "value", value)))
    if kind is cst.Param:
        return definitions.parameter(walk, node)
    if kind is cst.Lambda and (walk.context.torch_name(node.body) or "").startswith("torch.nn.init."):
        return definitions.initialiser(walk, node)
    if kind is cst.IfExp and walk.context.value(node) == ARRAY_TYPE:
        return definitions.chosen_type(walk, node)
    return None


def _comparison(walk: Walk, node: cst.Comparison) -> Any:
    if walk.foreign():
        return None
    try:
        new = type_tests.compared(walk, node) or dtype_tests.compared(walk.context, node)
    except Refused as refused:
        return walk.unconverted("unsupported", node, f"{tree.code(node)}: {refused}")
    walk.compared += 1
    made = walk.children(new)
    walk.compared -= 1
    return made if made is node else walk.done(node, made)


def _kept(walk: Walk, node: cst.NamedExpr) -> Any:
    """`(size := x.abs()) > 1`: the gradient of what has a name may be asked for elsewhere."""
    compared, walk.compared = walk.compared, 0
    new = walk.convert(node)
    walk.compared = compared
    return new
