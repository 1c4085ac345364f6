"""A choice between two calls that nobody takes the value of, as a branch.

nn.init.ones_(w) if first else nn.init.zeros_(w)    →    if first: nn.init.ones_(w)
                                                         else: nn.init.zeros_(w)
"""

from __future__ import annotations

from ...model.expressions import Call
from ...model.names import dotted
from ...model.node import Expression, Statement
from ...model.operators import Conditional
from ...model.statements import Block, ExpressionStatement, If


def chooses_writes(node: Expression) -> bool:
    """Whether a choice writes in place on one of its ways."""
    if isinstance(node, Conditional):
        return chooses_writes(node.body) or chooses_writes(node.orelse)
    name = (dotted(node.function) or "") if isinstance(node, Call) else ""
    return name.endswith("_") and not name.endswith("__")


def branch(statement: ExpressionStatement) -> Statement:
    """The branch that stands in the place of a choice."""
    choice = statement.expression
    assert isinstance(choice, Conditional)
    return _branch(choice)


def _branch(node: Expression) -> Statement:
    if not isinstance(node, Conditional):
        return ExpressionStatement(node)
    form = "elif" if isinstance(node.orelse, Conditional) else "indented"
    return If(node.test, Block([_branch(node.body)]), Block([_branch(node.orelse)], form))
