"""A dict of arguments that is only spread in calls: its entries are the arguments.

    kw = {"device": device, "dtype": dtype}  →
    torch.empty(n, **kw)                        torch.empty(n, device=device, dtype=dtype)

Only those that say where arrays are placed, which JAX decides elsewhere: the calls must show it.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from ..facts.values.lattice import PLACED
from ..model.copy import clone
from ..model.expressions import Attribute, Call, Constant, Dictionary, Name, Starred, Subscript
from ..model.names import dotted, everywhere, rebound
from ..model.node import Expression, Node
from ..model.program import Function, Scope
from ..model.statements import Assign, Block
from .pass_ import Changes, Pass


class Spread(NamedTuple):
    """`name = {…}`, the entries, and the calls with `**name`."""

    statement: Assign
    entries: dict[str, Expression]
    calls: list[tuple[Call, Starred]]


def run(scope: Scope, facts: Any = None) -> Changes:
    """Spread the dicts of one function."""
    changes = Changes(scope)
    for found in _found(scope) if isinstance(scope, Function) else ():
        for call, starred in found.calls:
            changes.change(call, _spreading(starred, found.entries))
        changes.remove(found.statement)
    return changes


def _spreading(starred: Starred, entries: dict[str, Expression]) -> Any:
    def edit(call: Call) -> None:
        call.remove(starred)
        for name, value in entries.items():
            call.append(clone(value), name)

    return edit


def _found(function: Function) -> Iterator[Spread]:
    changing = rebound(function)
    for statement in function.nodes(Assign):
        if len(statement.targets) != 1 or statement.operator:
            continue
        target, entries = statement.targets[0], _entries(statement.expression)
        if not isinstance(target, Name) or not entries or not PLACED & entries.keys():
            continue
        names = {n.id for value in entries.values() for n in value.walk() if isinstance(n, Name)}
        if changing & {target.id, *names}:
            continue
        calls = [_spread(n) for n in everywhere(function, Name) if n.id == target.id]
        calls.remove(None)  # where it is assigned
        known = [found for found in calls if found is not None]
        if known and len(known) == len(calls) and all(_follows(c, statement) for c, _ in known):
            yield Spread(statement, entries, known)


def _entries(value: Expression | None) -> dict[str, Expression] | None:
    """The entries of a dict that is written out with plain names, and values that may be asked for
    twice."""
    pairs: list[tuple[Any, Expression]] = []
    if isinstance(value, Dictionary):
        pairs = [(k.constant if isinstance(k, Constant) else None, v) for k, v in value.pairs]
    elif isinstance(value, Call) and dotted(value.function) == "dict":
        pairs = list(zip(value.keywords, value.arguments))
    plain = all(isinstance(k, str) and k.isidentifier() and _is_cheap(v) for k, v in pairs)
    return dict(pairs) if plain else None


def _is_cheap(value: Node) -> bool:
    """`device`, `self.device`, `kwargs["device"]`, `kwargs.get("device", None)`, `None`"""
    if isinstance(value, (Name, Constant)):
        return True
    if isinstance(value, Attribute):
        return _is_cheap(value.object)
    if isinstance(value, Subscript):
        return _is_cheap(value.object) and isinstance(value.index, Constant)
    if isinstance(value, Call) and isinstance(value.function, Attribute):
        return value.function.name == "get" and all(map(_is_cheap, value.children()))
    return False


def _spread(name: Name) -> tuple[Call, Starred] | None:
    """The call that a name is spread in."""
    starred = name.parent
    if not isinstance(starred, Starred) or not starred.double:
        return None
    return (starred.parent, starred) if isinstance(starred.parent, Call) else None


def _follows(call: Call, statement: Assign) -> bool:
    """Whether a statement has always run before a call: it stands in a block around it."""
    blocks = [around for around in call.ancestors() if isinstance(around, Block)]
    return statement.parent in blocks and call.start > statement.start


PASS = Pass("spread_arguments", (), run)
