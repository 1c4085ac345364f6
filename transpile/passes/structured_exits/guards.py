"""`if m is not None and m.sum() > 0:` is two branches: what Python knows chooses first.

    if flag and x.sum() > 0:             if flag:
        y = y * 2                 ->         if x.sum() > 0:
                                                 y = y * 2

The second one, on data, must not be there for what the first one rules out: under jit both of its
sides are computed. The side that both tests lead to is written twice, if it is short.
"""

from collections.abc import Sequence

from ...model.copy import moved_copy
from ...model.expressions import Attribute, Name
from ...model.fallthrough import always_returns
from ...model.names import dotted, in_scope
from ...model.node import Expression, Node, Statement
from ...model.operators import Boolean, Compare
from ...model.statements import Block, If
from ..truth import traced
from .ends import is_long


def split(block: Block, node: If, rest: Sequence[Statement]) -> bool:
    """Make two branches of one, where that can be done; says whether it was."""
    test = node.test
    if not isinstance(test, Boolean) or traced_first(test) or not traced(test.right):
        return False
    if test.operator == "and":
        return _both(node, test)
    return _either(block, node, test, rest)


def traced_first(test: Boolean) -> bool:
    """Whether data decide whether the right side is asked."""
    return traced(test.left) or isinstance(test.left, Boolean) and traced(test.left.right)


def _both(node: If, test: Boolean) -> bool:
    other = node.orelse
    if other is not None and is_long(other.body):
        return False
    inner = If(test.right, Block(), None if other is None else moved_copy(other))
    test.replace(test.left)
    body = node.body
    body.wrap(lambda old: Block([_with_body(inner, old)]))
    return True


def _with_body(node: If, body: Block) -> If:
    node.body, body.parent = body, node
    return node


def _either(block: Block, node: If, test: Boolean, rest: Sequence[Statement]) -> bool:
    """`if m is None or m.sum() > 0:` where what follows needs what is not None."""
    guarded = _compared(test.left, "is")
    following = [*(node.orelse.body if node.orelse is not None else []), *rest]
    if not guarded or is_long(node.body.body) or not _reads(following, guarded):
        return False
    inner = If(test.right, moved_copy(node.body))
    test.replace(test.left)
    if node.orelse is None and always_returns(node.body):
        block.insert_after(node, [inner])
    elif node.orelse is None:
        node.otherwise(Block([inner]))
    else:
        node.orelse.wrap(lambda old: _below(inner, old))
    return True


def _below(inner: If, orelse: Block) -> Block:
    inner.orelse, orelse.parent = orelse, inner
    return Block([inner])


def _compared(test: Expression, operator: str) -> set[str]:
    """What is compared with None in a test."""
    compared = [n for n in [test, *test.walk()] if isinstance(n, Compare)]
    names = (dotted(n.operands[0]) for n in compared if n.operators[0] == operator)
    return {name for name in names if name is not None}


def _reads(statements: Sequence[Statement], names: set[str]) -> bool:
    """Whether any of these names and attributes is read."""
    inside: list[Node] = [n for s in statements for n in in_scope(s, Name, Attribute)]
    return any(dotted(n) in names for n in inside)
