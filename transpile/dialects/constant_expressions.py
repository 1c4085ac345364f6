"""Expressions of a support file in which parameters, attributes and arguments are known or gone."""

import ast
import copy
import operator
from collections.abc import Callable, Mapping

Constants = Mapping[str, ast.Constant]
# the parameters of functions and classes that are no more, with their places among the arguments
Gone = Mapping[str, Mapping[str, int | None]]

_COMPARED: dict[type[ast.cmpop], Callable[[object, object], object]] = {
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}


class Fold(ast.NodeTransformer):
    """Puts `constants` in the place of names, `fixed` of attributes of `self`, takes what is `gone`
    out of calls, and decides what is known then."""

    def __init__(self, constants: Constants, gone: Gone, fixed: Constants) -> None:
        self.constants, self.gone, self.fixed = constants, gone, fixed

    def folded(self, node: ast.AST) -> ast.AST:
        new: ast.AST = self.visit(node)
        return new

    def visit_Name(self, node: ast.Name) -> ast.expr:
        known = isinstance(node.ctx, ast.Load) and self.constants.get(node.id)
        return copy.copy(known) if known else node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        self.generic_visit(node)
        own = getattr(node.value, "id", "") == "self" and isinstance(node.ctx, ast.Load)
        return copy.copy(self.fixed[node.attr]) if own and node.attr in self.fixed else node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        lost = self.gone.get(getattr(node.func, "id", ""), {})
        node.args = [a for i, a in enumerate(node.args) if i not in lost.values()]
        node.keywords = [k for k in node.keywords if k.arg not in lost]
        made = isinstance(node.func, ast.Attribute) and node.func.attr in ("ones", "zeros")
        if made and isinstance(node.args[-1], ast.Constant) and node.args[-1].value is None:
            node.args.pop()  # no dtype
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        self.generic_visit(node)
        compare, other = _COMPARED.get(type(node.ops[0])), node.comparators[0]
        if len(node.ops) > 1 or compare is None or not isinstance(node.left, ast.Constant):
            return node
        if not isinstance(other, ast.Constant):
            return node
        if isinstance(node.ops[0], (ast.Is, ast.IsNot)) and other.value is not None:
            return node
        return ast.Constant(bool(compare(node.left.value, other.value)))

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.op, ast.Not) and isinstance(node.operand, ast.Constant):
            return ast.Constant(not node.operand.value)
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        self.generic_visit(node)
        goes_on, values = isinstance(node.op, ast.And), list[ast.expr]()
        for value in node.values:
            known = isinstance(value, ast.Constant)
            last = value is node.values[-1]
            if known and bool(value.value) is goes_on:  # type: ignore[attr-defined]
                if not last or values and all(map(_is_bool, values)):
                    continue
            values.append(value)
            if known and not last:
                break
        node.values = values
        return values[0] if len(values) == 1 else node

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.test, ast.BoolOp):
            node.test = decided(node.test)
        if isinstance(node.test, ast.Constant):
            return node.body if node.test.value else node.orelse
        return node


def _is_bool(node: ast.expr) -> bool:
    negated = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
    return negated or isinstance(node, ast.Compare)


def decided(test: ast.BoolOp) -> ast.expr:
    """A test of which one part decides, `batched or True`, and the others only read."""
    deciding = isinstance(test.op, ast.Or)
    parts = [v for v in test.values if isinstance(v, ast.Constant) and bool(v.value) is deciding]
    if parts and not any(isinstance(n, ast.Call) for n in ast.walk(test)):
        return ast.Constant(deciding)
    return test
