"""The operators among the expressions; four classes, so that an index by class tells them apart."""

import operator
from collections.abc import Callable, Iterable
from typing import Any, TypeGuard

from .constants import is_none
from .expressions import Attribute, Constant, Name
from .node import Expression, Node

COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}


class Unary(Expression):
    """`-x`, `+x`, `~x`, `not x`."""

    __slots__ = ("operator", "operand")
    parts = ("operand",)

    def __init__(self, operator: str, operand: Expression) -> None:
        super().__init__()
        self.operator, self.operand = operator, operand
        operand.parent = self


class Binary(Expression):
    """`left operator right`, of arithmetic and bits."""

    __slots__ = ("left", "operator", "right")
    parts = ("left", "right")

    def __init__(self, left: Expression, operator: str, right: Expression) -> None:
        super().__init__()
        self.left, self.operator, self.right = left, operator, right
        left.parent = right.parent = self


class Compare(Expression):
    """`a < b <= c`: one operator fewer than operands."""

    __slots__ = ("operands", "operators")
    parts = ("operands",)

    def __init__(self, operands: Iterable[Expression], operators: Iterable[str]) -> None:
        super().__init__()
        self.operands, self.operators = list(operands), list(operators)
        self.adopt()


class Boolean(Expression):
    """`left and right`, `left or right`: the right side is evaluated only where the left one
    leaves it open."""

    __slots__ = ("left", "operator", "right")
    parts = ("left", "right")

    def __init__(self, left: Expression, operator: str, right: Expression) -> None:
        super().__init__()
        self.left, self.operator, self.right = left, operator, right
        left.parent = right.parent = self


class Conditional(Expression):
    """`body if test else orelse`."""

    __slots__ = ("body", "test", "orelse")
    parts = ("body", "test", "orelse")

    def __init__(self, body: Expression, test: Expression, orelse: Expression) -> None:
        super().__init__()
        self.body, self.test, self.orelse = body, test, orelse
        body.parent = test.parent = orelse.parent = self


def asks_for_none(node: Node | None) -> TypeGuard[Compare]:
    """Whether something is `x is None`, or `x != None`; `None in seen` asks for an item."""
    if not isinstance(node, Compare) or not any(map(is_none, node.operands)):
        return False
    return node.operators[0] in ("is", "is not", "==", "!=")


def sides(value: Node | None) -> list[Expression]:
    """What an expression may be: both sides of a choice."""
    if isinstance(value, Conditional):
        return [*sides(value.body), *sides(value.orelse)]
    return [value] if isinstance(value, Expression) else []


_OPPOSITES = {"is": "is not", "is not": "is", "in": "not in", "not in": "in"}


def only_chooses(
    node: Expression, makes: Callable[[Expression], bool] = lambda node: False
) -> bool:
    """Whether an expression does nothing but name, compare and choose; or `makes` allows it."""
    if isinstance(node, Attribute):
        return only_chooses(node.object, makes)
    if isinstance(node, (Conditional, Compare, Boolean)):
        return all(only_chooses(n, makes) for n in node.children() if isinstance(n, Expression))
    return isinstance(node, (Name, Constant)) or makes(node)


def conjuncts(test: Expression) -> list[Expression]:
    """What has to hold, all of it, where a test does: `a`, `b`, `c` of `a and b and c`."""
    if isinstance(test, Boolean) and test.operator == "and":
        return [*conjuncts(test.left), *conjuncts(test.right)]
    return [test]


def turned(test: Expression) -> Expression:
    """What holds where a test does not: `x is not None` for `x is None`."""
    if isinstance(test, Unary) and test.operator == "not":
        return test.operand
    word = test.operators[0] if isinstance(test, Compare) and len(test.operators) == 1 else ""
    if isinstance(test, Compare) and word in _OPPOSITES:
        return Compare(test.operands, [_OPPOSITES[word]])
    return Unary("not", test)
