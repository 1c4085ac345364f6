"""`init` has params and `init_state` has state: code there that needs the other one is refused. While a model is built it is in training mode.

    def init(self, key):                                              def init(self, key):
        params = super().init(key)                                        params = super().init(key)
        _, state = self.init_hidden(state)  # it is read as well    ->    nn.unconverted("module-value", "self.init_hidden()")
"""

from __future__ import annotations

from collections.abc import Set
from typing import Any

import libcst as cst

from .. import tree
from ..context import Context
from ..dataflow import exposed

_ARRAYS = frozenset({"params", "state"})
_ABSENT = "there is no {} where initial values are made: let params be made without buffers, and buffers without params, by methods of their own"


def run(context: Context, statements: list[Any], given: str) -> list[Any]:
    """Refuse the statements that read arrays which are not there; `given` are those that are."""
    if _made(context, statements, frozenset({"training"})):
        statements = [tree.with_names(s, lambda n: cst.Name("True") if n.value == "training" and not context.is_original(n) else None) for s in statements]
    absent = _made(context, statements, _ARRAYS - {given})
    return [_without(context, s, absent) for s in statements] if absent else statements


def _made(context: Context, statements: list[Any], names: Set[str]) -> Set[str]:
    """Those of these names that passes have put into statements which do not set them."""
    found = {n.value for s in statements for n in tree.nodes(s, cst.Name) if n.value in names and not context.is_original(n)}
    return found & set(exposed(statements)) if found else found


def _without(context: Context, statement: Any, absent: Set[str]) -> Any:
    if absent.isdisjoint(exposed([statement])):
        return statement
    if isinstance(statement, cst.If) and not tree.names_read(statement.test) & absent:
        then = [_without(context, s, absent) for s in tree.body_statements(statement)]
        statement = tree.replace(statement, body=cst.IndentedBlock(then))
        if isinstance(statement.orelse, cst.If):
            return tree.replace(statement, orelse=_without(context, statement.orelse, absent))
        other = [_without(context, s, absent) for s in tree.else_statements(statement)]
        return tree.replace(statement, orelse=tree.replace(statement.orelse, body=cst.IndentedBlock(other))) if other else statement
    return _refused(context, statement, absent)


def _refused(context: Context, statement: Any, absent: Set[str]) -> Any:
    """The statement that raises in place of another."""
    read = " and ".join(sorted(absent & set(exposed([statement]))))
    small: Any = tree.only_small(statement)
    value = getattr(small, "value", None) or next(tree.nodes(statement, cst.Call), cst.Name(read))
    failing = context.unconverted("module-value", value, _ABSENT.format(read))
    names = sorted(set(tree.names_assigned(statement)) - _ARRAYS)  # what follows may read them
    new: Any = cst.Assign([cst.AssignTarget(cst.Name(name)) for name in names], failing) if names else cst.Expr(failing)
    if isinstance(small, cst.Return):
        new = tree.replace(small, value=failing)
    return cst.SimpleStatementLine([new], leading_lines=statement.leading_lines)
