"""What a constructor keeps under one name on all ways has that name first, and others behind it.

if old:                                    self.conv = conv
    self.conv_0 = conv                     if old:
    self.conv = conv                 →         self.conv_0 = conv
else:
    self.conv = conv

One module, or parameter, has one set of arrays here, those of its first name: a name that it has on
some ways alone cannot be that one. It is done on syntax alone, and only where there are two names.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from ..facts.bindings.activity import bound
from ..model.edits import leave_out
from ..model.empty_branches import without_empty_branches
from ..model.expressions import Attribute, Name
from ..model.names import below, dotted
from ..model.node import Node, Statement
from ..model.program import Function, Scope
from ..model.statements import Assign, Block, If
from .pass_ import Changes, Pass


def run(scope: Scope, facts: Any = None) -> Changes:
    """The names of one constructor."""
    changes = Changes(scope)
    if isinstance(scope, Function) and scope.name == "__init__" and scope.parameters:
        me, body, done = scope.receiver, scope.body, set[Statement]()
        for branch in [s for s in body.body if isinstance(s, If)]:
            for stores in [*_on_all_ways(branch, me), *_behind(branch, body, me)]:
                if done.isdisjoint(stores):
                    done.update(stores)
                    changes.change(body, partial(_hoist, branch, stores))
    return changes


def _hoist(branch: If, stores: list[Assign], body: Block) -> None:
    first, *others = stores
    for store in others:
        leave_out(store)
    leave_out(first)
    body.insert_before(branch, [first])
    without_empty_branches(body)


def _on_all_ways(branch: If, me: str) -> Iterator[list[Assign]]:
    """The stores of a branch that keep what it did not make, by names that they give on all ways:
    one on each."""
    for store in _kept(branch.body.body, me):
        stores = _like(branch, store)
        if stores is not None and _may_go_first(branch, store, stores, me):
            yield stores


def _behind(branch: If, body: Block, me: str) -> Iterator[list[Assign]]:
    """A store right behind a branch that keeps on some way the same by another name."""
    at = body.body.index(branch) + 1
    for store in _kept(body.body[at : at + 1], me):
        if _may_go_first(branch, store, [store], me):
            yield [store]


def _kept(statements: Sequence[Node], me: str) -> list[Assign]:
    """`self.conv = conv`"""
    return [s for s in statements if isinstance(s, Assign) and _name(s, me) is not None]


def _name(store: Assign, me: str) -> str | None:
    """The name under which a plain assignment keeps what a local name stands for."""
    target = store.targets[0]
    own = isinstance(target, Attribute) and dotted(target.object) == me and not store.targets[1:]
    plain = own and isinstance(store.expression, Name) and not store.operator
    return target.name if plain and isinstance(target, Attribute) else None


def _like(branch: If, store: Assign) -> list[Assign] | None:
    """The stores that do the same as one, one on each way; None where one has none."""
    found = list[Assign]()
    for block in (branch.body, branch.orelse):
        body = block.body if block is not None else []
        inside: list[Assign] | None = [s for s in body if isinstance(s, Assign) and _same(s, store)]
        if not inside and len(body) == 1 and isinstance(body[0], If):
            inside = _like(body[0], store)
        if not inside:
            return None
        found += inside
    return found


def _same(statement: Assign, store: Assign) -> bool:
    if statement.operator or statement.targets[1:]:
        return False
    alike = dotted(statement.targets[0]) == dotted(store.targets[0])
    return alike and dotted(statement.expression) == dotted(store.expression)


def _may_go_first(branch: If, store: Assign, stores: list[Assign], me: str) -> bool:
    """Whether a branch keeps the same by another name, and neither makes it nor asks for it by
    this one."""
    name, made = dotted(store.targets[0]), dotted(store.expression)
    assigns = list(below(branch, Assign))
    kept = {dotted(s.expression) for s in _kept(assigns, me) if not _same(s, store)}
    asked = [n for n in below(branch, Attribute) if dotted(n) == name]
    stored = [s for s in stores if s in assigns]
    return made in kept and made not in bound(branch) and len(asked) == len(stored)


PASS = Pass("hoisted_names", (), run)
