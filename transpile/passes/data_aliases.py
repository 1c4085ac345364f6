"""A name for the data of a module's array, through which that is written, is the array itself.

w = self.proj.weight.data                      init.xavier_uniform_(self.proj.weight.data
init.xavier_uniform_(w.view(n, -1))       →                         .view(n, -1))
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ..model.copy import clone
from ..model.expressions import Attribute, Name
from ..model.names import dotted, everywhere, rebound
from ..model.node import Node
from ..model.program import Function, Scope
from ..model.statements import Assign
from .pass_ import Changes, Pass
from .written import is_written


def run(scope: Scope, facts: Any = None) -> Changes:
    """Spell out the aliases of one function."""
    changes = Changes(scope)
    if isinstance(scope, Function):
        for statement, name in _found(scope):
            for use in _uses(scope, name, statement):
                changes.replace(use, _spelling(statement))
            changes.remove(statement)
    return changes


def _spelling(statement: Assign) -> Callable[[Node], Node]:
    value = statement.expression
    assert value is not None
    return lambda _: clone(value)


def _found(function: Function) -> Iterator[tuple[Assign, str]]:
    """Names that are given `self.a.b.data` once, and written through, where nothing above that data
    is set later in the function."""
    me = function.parameters[0].name if function.owner and function.parameters else None
    changing = rebound(function)
    stored = [t for a in function.nodes(Assign) for t in a.targets if isinstance(t, Attribute)]
    for statement in function.nodes(Assign):
        target, value = statement.targets[0], statement.expression
        if len(statement.targets) != 1 or statement.operator or not isinstance(target, Name):
            continue
        path = dotted(value) if isinstance(value, Attribute) and value.name == "data" else None
        if path is None or me is None or path.split(".")[0] != me or path.count(".") < 2:
            continue
        words = path.split(".")
        above = {".".join(words[:i]) for i in range(2, len(words) + 1)}
        places = {dotted(t) for t in stored if t.start > statement.start}
        if changing & {target.id, me} or above & places:
            continue
        uses = list(_uses(function, target.id, statement))
        if statement.parent is function.body and any(map(is_written, uses)):
            yield statement, target.id


def _uses(function: Function, name: str, statement: Assign) -> Iterator[Name]:
    return (n for n in everywhere(function, Name) if n.id == name and n.parent is not statement)


PASS = Pass("data_aliases", (), run)
