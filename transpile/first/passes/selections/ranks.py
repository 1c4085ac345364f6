"""Which arrays have as many dims, as far as the code of a function tells: `target > 0` has those of target.

The rank of an array is the greatest of some, each that of a name (or of an expression of which nothing is known) and a number that is added.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import libcst as cst

from ... import tree
from ...values import Static, Tensor, Value

Ranks = frozenset[tuple[Any, int]]
_LIKE = frozenset({"empty_like", "full_like", "ones_like", "rand_like", "randn_like", "zeros_like"})


class Reader:
    """Reads ranks off expressions; `of_name` knows those of names."""

    def __init__(self, value: Callable[[Any], Value], of_name: Callable[[str], Ranks], elementwise: frozenset[str], reducing: frozenset[str]) -> None:
        self.value, self.of_name, self.elementwise, self.reducing = value, of_name, elementwise, reducing

    def ranks(self, node: Any) -> Ranks:
        """The ranks of an expression."""
        unknown = frozenset([(id(node), 0)])
        if isinstance(self.value(node), Static) or isinstance(node, (cst.Integer, cst.Float)):
            return frozenset()
        if isinstance(node, cst.Name):
            return self.of_name(node.value)
        if isinstance(node, cst.UnaryOperation):
            return self.ranks(node.expression)
        if isinstance(node, cst.BinaryOperation) and not isinstance(node.operator, cst.MatrixMultiply):
            return self.ranks(node.left) | self.ranks(node.right)
        if isinstance(node, cst.Comparison) and len(node.comparisons) == 1:
            return self.ranks(node.left) | self.ranks(node.comparisons[0].comparator)
        if isinstance(node, cst.Attribute):
            return self.ranks(node.value) if node.attr.value == "data" else frozenset([(tree.dotted(node) or id(node), 0)])
        if isinstance(node, cst.Subscript):
            return self._of_subscript(node, unknown)
        return self._of_call(node, unknown) if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) else unknown

    def of_results(self, node: Any) -> Ranks | None:
        """The ranks of both results of `x.topk(k)` and `x.sort()`; None of other expressions."""
        name = node.func.attr.value if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) else ""
        if name not in ("topk", "sort"):
            return None
        operand = node.func.value if isinstance(self.value(node.func.value), Tensor) else node.args[0].value if node.args and node.args[0].keyword is None else None
        return self.ranks(operand) if operand is not None else None

    def _of_subscript(self, node: cst.Subscript, unknown: Ranks) -> Ranks:
        """`x[:, 0]` has one dim less than x, `x[:, None]` one more."""
        change = 0
        for element in node.slice:
            place: Any = element.slice
            if isinstance(place, cst.Index) and isinstance(place.value, cst.Integer):
                change -= 1
            elif isinstance(place, cst.Index) and tree.code(place.value) == "None":
                change += 1
            elif isinstance(place, cst.Index) and not isinstance(place.value, cst.Ellipsis):
                return unknown
        return moved(self.ranks(node.value), change) if isinstance(self.value(node.value), Tensor) else unknown

    def _of_call(self, node: cst.Call, unknown: Ranks) -> Ranks:
        func: Any = node.func
        name, args = func.attr.value, list(node.args)
        operands = [a.value for a in args if a.keyword is None]
        if isinstance(self.value(func.value), Tensor):
            operands = [func.value, *operands]
        if not operands or any(a.star for a in args):
            return unknown
        if name in _LIKE:
            return self.ranks(operands[0])
        if name in self.elementwise:
            return frozenset[tuple[Any, int]]().union(*map(self.ranks, operands))
        given = {a.keyword.value: a.value for a in args if a.keyword is not None}
        dims = [*operands[1:2], *(given[k] for k in ("dim", "axis") if k in given)]
        if name == "unsqueeze" and len(dims) == 1:
            return moved(self.ranks(operands[0]), 1)
        if name not in self.reducing or len(operands) > 2 or not given.keys() <= {"dim", "axis", "keepdim"}:
            return unknown
        if not dims:
            return unknown if given else frozenset()
        kept = tree.code(given["keepdim"]) if "keepdim" in given else "False"
        if not isinstance(tree.literal(dims[0]) if isinstance(dims[0], cst.Integer) else _negative(dims[0]), int) or kept not in ("True", "False"):
            return unknown
        return self.ranks(operands[0]) if kept == "True" else moved(self.ranks(operands[0]), -1)


def _negative(node: Any) -> int | None:
    return -1 if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Minus) and isinstance(node.expression, cst.Integer) else None


def moved(ranks: Ranks, change: int) -> Ranks:
    """The ranks of an array with so many dims more."""
    return frozenset((token, offset + change) for token, offset in ranks)
