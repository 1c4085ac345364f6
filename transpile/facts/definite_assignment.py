"""Which fields a block sets on `self` whichever way it is left."""

from collections.abc import Iterable

from ..model.effects import Declare
from ..model.names import is_own, statements
from ..model.node import Node, Statement
from ..model.program import Function
from ..model.statements import Assign, Block, If, Return, With


def sets(block: Block | None, name: str, me: str = "self") -> bool:
    """Whether every way through a block sets a field."""
    return _any_sets(block.body if block is not None else (), name, me)


def is_set_again(statement: Statement, name: str, me: str = "self") -> bool:
    """Whether every way on from a statement of a function sets a field: what it sets there is gone
    at the end."""
    inner: Node = statement
    for around in statement.ancestors():
        if isinstance(around, Function):
            return False
        if isinstance(around, Block) and isinstance(inner, Statement):
            if _any_sets(around.body[around.body.index(inner) + 1 :], name, me):
                return True
        inner = around
    return False


def _any_sets(body: Iterable[Statement], name: str, me: str) -> bool:
    for statement in body:
        if _sets(statement, name, me):
            return True
        if any(isinstance(n, Return) for n in statements(statement)):
            return False  # `if plain: return` before it
    return False


def _sets(statement: Statement, name: str, me: str) -> bool:
    if isinstance(statement, Declare):
        return statement.name == name
    if isinstance(statement, Assign):
        return any(_is_field(n, name, me) for t in statement.targets for n in t.walk())
    if isinstance(statement, If):
        return sets(statement.body, name, me) and sets(statement.orelse, name, me)
    return isinstance(statement, With) and sets(statement.body, name, me)


def _is_field(node: Node, name: str, me: str) -> bool:
    return is_own(node, me) and node.name == name
