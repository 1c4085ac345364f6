"""How statements end, and which jumps are in them."""

from collections.abc import Sequence

from ...facts.bindings import read
from ...facts.values.lattice import Static
from ...model.edits import leave_out
from ...model.expressions import Constant
from ...model.names import in_scope
from ...model.node import Expression, Node, Statement
from ...model.statements import (
    Assign,
    Block,
    Break,
    Continue,
    ExpressionStatement,
    For,
    If,
    Raise,
    Return,
    Try,
    While,
    With,
)
from ...passes.truth import is_branch_on_data


def is_endless(test: Expression) -> bool:
    """`while True:`"""
    if isinstance(test, Constant):
        return bool(test.constant)
    return isinstance(test.value, Static) and test.value.const is True and not test.value.loose


def blocks(node: Node) -> list[Block]:
    """The blocks right below a statement."""
    found = [child for child in node.children() if isinstance(child, Block)]
    handlers = node.handlers if isinstance(node, Try) else []
    return [*found, *(handler.body for handler in handlers)]


def returns(node: Node) -> bool:
    """Whether a function may be left below a statement."""
    return isinstance(node, Return) or any(True for _ in in_scope(node, Return))


def returns_on_data(node: Node) -> bool:
    """Whether a branch on data at or below a statement returns."""
    if is_branch_on_data(node) and returns(node):
        return True
    if not isinstance(node, (If, With, For, While, Try)):
        return False
    return any(returns_on_data(s) for block in blocks(node) for s in block.body)


def end_quietly(block: Block, on_data: bool = False) -> None:
    """Let a branch on data just end where it returns nothing, and nothing follows: `return` in
    `if self.ready: return`, when the rest of a method without a result is its other side."""
    last = block.body[-1] if block.body else None
    if isinstance(last, Return) and on_data:
        leave_out(last)
    elif isinstance(last, If):
        for inner in blocks(last):
            end_quietly(inner, on_data or is_branch_on_data(last))


def only_raises(block: Block | None) -> bool:
    """Whether a block does nothing but raise: what it computes is for the message."""
    if block is None or not block.body or not isinstance(block.body[-1], Raise):
        return False
    return all(isinstance(s, (Raise, ExpressionStatement, Assign)) for s in block.body)


def is_long(statements: Sequence[Statement]) -> bool:
    """Whether statements are too many to be written twice."""
    inside = (n for s in statements for n in s.walk())
    return sum(isinstance(n, Statement) and not blocks(n) for n in inside) > 4


def leaves(node: Statement) -> bool:
    return isinstance(node, (Break, Continue, Return))


def names_read(node: Node | None) -> set[str]:
    return set(read(node))
