"""Lists that all sides of a branch on data append to as their last step.

if x.sum() > 0:             if x.sum() > 0:
    out.append(x)               item = x
else:                       else:
    out.append(-x)              item = -x
                            out.append(item)
"""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.values.lattice import is_traced
from ...model.expressions import Attribute, Call, Name
from ...model.node import Expression, Node, Statement
from ...model.statements import ExpressionStatement, If


def on_data(node: Node) -> bool:
    """Whether a statement is a branch on data."""
    return isinstance(node, If) and node.test.value is not None and is_traced(node.test.value)


def appends(node: If) -> list[ExpressionStatement] | None:
    """The last steps of all sides of a branch on data, where all append something."""
    found: list[ExpressionStatement] = []
    for block in (node.body, node.orelse):
        last: Statement | None = block.body[-1] if block is not None and block.body else None
        if isinstance(last, If) and on_data(last):
            inner = appends(last)
            if inner is None:
                return None
            found += inner
        elif isinstance(last, ExpressionStatement) and list_of(last):
            found.append(last)
        else:
            return None
    return found


def chain(node: If) -> Iterator[If]:
    """The branches that stand last on the sides of one."""
    for block in (b for b in (node.body, node.orelse) if b is not None):
        last = block.body[-1] if block.body else None
        if isinstance(last, If):
            yield last
            yield from chain(last)


def list_of(statement: ExpressionStatement) -> str:
    """The name of the list that a statement appends one thing to, or nothing."""
    call = statement.expression
    if not isinstance(call, Call) or len(call.arguments) != 1 or call.keywords != [None]:
        return ""
    function = call.function
    plain = isinstance(function, Attribute) and function.name == "append"
    holder = function.object if plain else None  # type: ignore[attr-defined]
    return holder.id if isinstance(holder, Name) else ""


def item_of(statement: ExpressionStatement) -> Expression:
    return statement.expression.arguments[0]  # type: ignore[attr-defined, no-any-return]
