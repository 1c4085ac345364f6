"""Blocks under control of data in one function, as calls of `lax`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...model.effects import Cond, Loop, Repeat, Scan
from ...model.expressions import Display, Name, Subscript
from ...model.node import Expression, Node, Statement
from ...model.program import Function
from ...model.statements import Assign, For, If, While
from ...model.turns import turns
from ..closures import Closures
from ..threading.keys import Keys

KINDS = (Cond, Loop, Repeat, Scan)


def without_rows(function: Function) -> None:
    """Scans over what has no rows are loops of Python's."""
    for scan in function.nodes(Scan):
        if turns(scan) is None:
            scan.become(For(scan.target, scan.iterable, scan.body, scan.orelse))


def on_host(function: Function) -> None:
    """Where a model is built all numbers are known: Python decides."""
    for node in function.nodes(*KINDS):
        if isinstance(node, Cond):
            node.become(If(node.test, node.body, node.orelse))
        elif isinstance(node, Loop):
            node.become(While(node.test, node.body, node.orelse))
        elif isinstance(node, (Repeat, Scan)):
            node.become(For(node.target, node.iterable, node.body, node.orelse))


def write(
    function: Function, fresh: Callable[[str], str], keys: Keys, wholes: Sequence[str] = ()
) -> None:
    """Write the blocks of a function. `wholes`: the names of the params and of the state, where it
    gives new ones."""
    closures = Closures(fresh)
    for node in reversed(list(function.nodes(*KINDS))):
        carried = [whole for whole in wholes if _gives(node, whole)]
        made: list[Statement] | None
        if isinstance(node, Cond):
            made = closures.cond(node, carried)
        elif isinstance(node, Loop):
            made = closures.loop(node, carried + keys.carried_by(node))
        elif isinstance(node, Repeat):
            made = closures.repeated(node, carried + keys.carried_by(node))
        else:
            assert isinstance(node, Scan)
            rows = [keys.rows[node]] if node in keys.rows else []
            made = closures.scanned(node, carried, rows)
        assert made is not None
        node.parent.substitute(node, made)  # type: ignore[union-attr]


def stored(node: Node) -> list[Expression]:
    """The places that a statement writes into."""
    if not isinstance(node, Assign):
        return []
    found: list[Expression] = []
    for target in node.targets:
        found += target.elements if isinstance(target, Display) else [target]
    return found


def depth(target: Expression, name: str) -> int:
    """How many entries deep a place is below a name; 0 where it is none."""
    found = 0
    while isinstance(target, Subscript):
        target, found = target.object, found + 1
    return found if isinstance(target, Name) and target.id == name else 0


def _gives(node: Statement, whole: str) -> bool:
    """Whether a block gives new params, or a new state."""
    for inner in node.walk():
        for target in stored(inner):
            if depth(target, whole) or isinstance(target, Name) and target.id == whole:
                return True
    return False
