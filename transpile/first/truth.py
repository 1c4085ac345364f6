"""Truth values and choices as expressions: how they are negated, and when both sides of a choice may be computed."""

from __future__ import annotations

from typing import Any

import libcst as cst

from . import tree
from .context import Context
from .emit import call
from .project import FunctionInfo
from .values import Static, Tensor, Value, is_traced

_INVERSE: dict[type, Any] = {cst.Equal: cst.NotEqual, cst.NotEqual: cst.Equal}
_ORDERED: dict[type, Any] = {cst.LessThan: cst.GreaterThanEqual, cst.GreaterThanEqual: cst.LessThan, cst.GreaterThan: cst.LessThanEqual, cst.LessThanEqual: cst.GreaterThan}


def negated(context: Context, node: Any) -> Any:
    """The opposite of a traced truth value: `a != b` for `a == b`, `~(a < b)` where a NaN may be in it."""
    value = context.value(node)
    if isinstance(node, cst.Comparison) and len(node.comparisons) == 1:
        target = node.comparisons[0]
        table = dict(_INVERSE)
        if all(_is_whole(context.value(n)) for n in (node.left, target.comparator)):
            table |= _ORDERED
        if type(target.operator) in table:
            return tree.replace(node, comparisons=[tree.replace(target, operator=table[type(target.operator)]())])
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.BitInvert):
        return node.expression
    if isinstance(value, Tensor) and value.python and not isinstance(node, (cst.Comparison, cst.UnaryOperation)):
        return call("jnp.logical_not", [node])  # `~True` is -2
    if isinstance(value, Tensor) and value.kind == "b" or is_boolean(node):
        operation = cst.UnaryOperation(cst.BitInvert(), node)
        return tree.replace(operation, expression=tree.fit(operation, "expression", node))
    return compared(node, cst.Equal())


def compared(node: Any, operator: Any) -> cst.Comparison:
    """A comparison of an expression with 0."""
    made = cst.Comparison(cst.Name("x"), [cst.ComparisonTarget(operator, cst.Integer("0"))])
    return tree.replace(made, left=tree.fit(made, "left", node))


def is_boolean(node: Any) -> bool:
    """Whether the form of an expression says that its value is boolean."""
    if isinstance(node, cst.Comparison):
        return True
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, (cst.BitAnd, cst.BitOr)):
        return is_boolean(node.left) and is_boolean(node.right)
    if isinstance(node, cst.UnaryOperation):
        return isinstance(node.operator, (cst.BitInvert, cst.Not)) and is_boolean(node.expression)
    if not isinstance(node, cst.Call) or not isinstance(node.func, cst.Attribute) or tree.dotted(node.func.value) == "math":
        return False  # `~math.isnan(v)` is the complement of a bool of Python's, -1 or -2, and so always true
    return node.func.attr.value in ("any", "all", "isnan", "isinf", "isfinite", "allclose", "array_equal")


def _is_whole(value: Value) -> bool:
    return isinstance(value, Static) and value.type == "int" or isinstance(value, Tensor) and value.kind == "i"


def alike(context: Context, a: Any, b: Any) -> bool:
    """Whether two expressions are plain arithmetic of one shape, so that computing both costs little and `jnp.where` is exact.

    Not division and the like: `x / n if n > 0 else 0.0` would have the gradient of the side not taken, which is NaN.
    """
    names: set[str] = set()
    return _plain(context, a, names) and _plain(context, b, names) and len(names) <= 1


def _plain(context: Context, node: Any, names: set[str]) -> bool:
    value = context.value(node)
    if isinstance(node, (cst.Integer, cst.Float)) or isinstance(node, cst.Name) and node.value in ("True", "False"):
        return True
    if isinstance(node, (cst.Name, cst.Attribute)):
        if isinstance(value, Static):
            return value.type in ("int", "float", "bool")
        names.add(tree.code(node))
        return isinstance(value, Tensor) and not value.none
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Minus):
        return _plain(context, node.expression, names)
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, (cst.Add, cst.Subtract, cst.Multiply)):
        return _plain(context, node.left, names) and _plain(context, node.right, names)
    return False


def window(part: Any) -> tuple[Any, Any] | None:
    """The start and length of a slice `i : i + n`, where both can be said without computing anything."""
    if not isinstance(part, cst.Slice) or part.lower is None or part.upper is None or part.step is not None:
        return None
    lower, upper = part.lower, part.upper
    if isinstance(upper, cst.BinaryOperation) and isinstance(upper.operator, cst.Add):
        for start, length in ((upper.left, upper.right), (upper.right, upper.left)):
            if tree.code(start) == tree.code(lower):
                return lower, length
    return None


def is_loop_on_data(context: Context, node: Any) -> bool:
    """Whether the number of turns of a loop follows from data."""
    if node.__class__ is cst.While:
        return is_traced(context.value(node.test))
    return node.__class__ is cst.For and context.facts.counts_on_data(node.iter)


def moving(context: Context, index: Any) -> list[int]:
    """The places in an index of slices whose bounds are data."""
    found = []
    for i, element in enumerate(index):
        part = element.slice
        if isinstance(part, cst.Slice) and any(b is not None and is_traced(context.value(b)) for b in (part.lower, part.upper)):
            found.append(i)
    return found


def asks_for_none(info: FunctionInfo) -> bool:
    """`def exists(value): return value is not None`: it takes a module for what it is, not for what it computes."""
    names = [p.name.value for p in info.parameters()]
    body = [s for s in tree.body_statements(info.node) if not tree.is_docstring(s)]
    return len(names) == 1 and len(body) == 1 and tree.code(body[0]).strip() in (f"return {names[0]} is not None", f"return {names[0]} is None")
