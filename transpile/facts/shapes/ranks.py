"""Which arrays have as many dims, as far as the code of a function tells: `target > 0` has those of
target.

The rank of an array is the greatest of some, each that of a name at one of its values (or of an
expression of which nothing is known) and a number that is added: a number has none.
"""

from collections.abc import Callable, Iterable
from typing import Any

from ...model.expressions import Attribute, Call, Constant, Name, Slice, Starred, Subscript
from ...model.names import dotted, index_parts
from ...model.node import Expression
from ...model.operators import Binary, Compare, Unary
from ..memory.access_paths import of
from ..memory.indices import number
from ..rowwise import Rowwise
from ..values.lattice import Module, Static, Tensor

Ranks = frozenset[tuple[Any, int]]
NUMBER: Ranks = frozenset()
_LIKE_FIRST = frozenset(
    "empty_like full_like ones_like rand_like randn_like zeros_like nan_to_num type_as".split()
)
_OF_ALL = frozenset("max min amax amin std var norm prod item numel count_nonzero".split())
_PAIRS = frozenset({"topk", "sort"})


class Reader:
    """Reads ranks off expressions; `of_name` knows those of names, the rules what is `elementwise`
    and what is `reducing` along a dim."""

    def __init__(
        self,
        of_name: Callable[[str], Ranks],
        elementwise: frozenset[str],
        reducing: frozenset[str],
        rowwise: Rowwise,
    ) -> None:
        self.of_name, self.elementwise, self.reducing = of_name, elementwise, reducing
        self.rowwise = rowwise

    def ranks(self, node: Expression) -> Ranks:
        """The ranks of an expression."""
        value = of(node)
        if isinstance(value, Static) or isinstance(node, Constant):
            return NUMBER
        if isinstance(value, Tensor) and value.number:
            return NUMBER
        if isinstance(node, Name):
            return self.of_name(node.id)
        if isinstance(node, Unary):
            return self.ranks(node.operand)
        if isinstance(node, Binary) and node.operator != "@":
            return self.ranks(node.left) | self.ranks(node.right)
        if isinstance(node, Compare) and len(node.operands) == 2:
            return self._greatest(node.operands)
        if isinstance(node, Attribute):
            if node.name == "data":
                return self.ranks(node.object)
            return frozenset([(dotted(node) or node, 0)])
        if isinstance(node, Subscript):
            return self._of_subscript(node)
        if isinstance(node, Call):
            layer = of(node.function)
            if isinstance(layer, Module):
                alike = node.keywords == [None] and self.rowwise.module(layer)
                return self.ranks(node.arguments[0]) if alike else _unknown(node)
            if isinstance(node.function, Attribute):
                return self._of_call(node, node.function)
        return _unknown(node)

    def of_results(self, node: Expression) -> Ranks | None:
        """The ranks of both results of `x.topk(k)` and `x.sort()`; None of other expressions."""
        function = node.function if isinstance(node, Call) else None
        if not isinstance(function, Attribute) or function.name not in _PAIRS:
            return None
        operands = _operands(node, function)  # type: ignore[arg-type]
        return self.ranks(operands[0]) if operands else None

    def _greatest(self, nodes: Iterable[Expression]) -> Ranks:
        return frozenset[tuple[Any, int]]().union(*map(self.ranks, nodes))

    def _of_subscript(self, node: Subscript) -> Ranks:
        """`x[:, 0]` has one dim less than x, `x[:, None]` one more."""
        change = 0
        for place in index_parts(node.index):
            constant = place.constant if isinstance(place, Constant) else ()
            if isinstance(place, Slice) or constant is ...:
                continue
            if constant is None:
                change += 1
            elif number(place) is not None:
                change -= 1
            else:
                return _unknown(node)
        known = isinstance(of(node.object), Tensor)
        return moved(self.ranks(node.object), change) if known else _unknown(node)

    def _of_call(self, node: Call, function: Attribute) -> Ranks:
        name, operands = function.name, _operands(node, function)
        if not operands or any(isinstance(a, Starred) for a in node.arguments):
            return _unknown(node)
        if name in _LIKE_FIRST:
            return self.ranks(operands[0])
        if name in self.elementwise:
            return self._greatest(operands)
        given = {w: a for w, a in zip(node.keywords, node.arguments) if w is not None}
        dims = [*operands[1:2], *(given[k] for k in ("dim", "axis") if k in given)]
        if name == "unsqueeze" and len(dims) == 1:
            return moved(self.ranks(operands[0]), 1)
        if len(operands) > 2 or not given.keys() <= {"dim", "axis", "keepdim"}:
            return _unknown(node)
        if not dims:
            whole = name in self.reducing or name in _OF_ALL
            return NUMBER if whole and not given else _unknown(node)
        kept = given.get("keepdim", Constant(False))
        told = isinstance(kept, Constant) and isinstance(kept.constant, bool)
        if name not in self.reducing or number(dims[0]) is None or not told:
            return _unknown(node)
        change = 0 if isinstance(kept, Constant) and kept.constant else -1
        return moved(self.ranks(operands[0]), change)


def moved(ranks: Ranks, change: int) -> Ranks:
    """The ranks of an array with so many dims more."""
    return frozenset((token, offset + change) for token, offset in ranks)


def _unknown(node: Expression) -> Ranks:
    return frozenset([(node, 0)])


def _operands(node: Call, function: Attribute) -> list[Expression]:
    """What a function or method computes with, without keywords."""
    plain = node.positional
    return [function.object, *plain] if isinstance(of(function.object), Tensor) else plain
