"""What train() keeps for the calls that follow is made where it is read.

    def train(self, mode=True):
        super().train(mode)
        if mode and hasattr(self, "bias"):
            del self.bias
        else:
            self.bias = self.table[:, self.places]

    x + self.bias                   →               x + self.table[:, self.places]

What no_grad stands around has no gradient: it is detached.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...model.copy import clone
from ...model.edits import leave_out
from ...model.expressions import Attribute, Call
from ...model.names import below, dotted, is_own, is_target, text
from ...model.node import Expression, Node, Statement
from ...model.program import Class, Function
from ...model.statements import Assign, Block, Delete, If, With
from ..pass_ import Changes
from .stores import is_changed, written

if TYPE_CHECKING:
    from . import _Caches

_ANEW = (
    "this is made anew for each call, where torch keeps what train() or eval() made: of params that"
    " change in between the two differ"
)


def found(caches: _Caches) -> Iterator[Changes]:
    """The changes of train(), and of the methods that read what it keeps."""
    train = caches.project.methods(caches.cls).get("train")
    if train is None:
        return
    stores = [(s, name) for s, name in written(train)]
    kept = {name: s for s, name in stores if _is_made(caches, train, s, name)}
    if not kept or len(stores) > len(kept):
        return
    removed = {*kept.values(), *(d for d in below(train.body, Delete) if _deletes(d, train, kept))}
    changes = Changes(train)
    for statement in train.body.body:
        if _is_left_empty(statement, removed):
            changes.change(statement, leave_out)
        elif any(part in removed for part in statement.walk()):
            return  # what else stands there may depend on it
    for store in kept.values():
        changes.report("taken-for-granted", store, _ANEW)
    yield changes
    for name, store in kept.items():
        for read in _elsewhere(caches, train, name):
            changes = Changes(read.nearest(Function) or train)
            changes.replace(read, _value(train, store))
            yield changes


def _is_made(caches: _Caches, train: Function, store: Statement, name: str) -> bool:
    """Whether what is kept follows from params and constants, and other methods only read it."""
    if not isinstance(store, Assign) or store.operator or store.expression is None:
        return False
    whole = len(store.targets) == 1 and is_own(store.targets[0], train.receiver)
    if not whole or not caches.is_own(name):
        return False
    said = [t for t in caches.names.texts.get(name, ()) if caches.cls in t.ancestors()]
    if any(train not in t.ancestors() for t in said):
        return False
    for read in _elsewhere(caches, train, name):
        around = read.nearest(Function)
        if around is None or is_target(read) or is_changed(read, around):
            return False
        if dotted(read.object) != train.receiver:
            return False
    classes = [c for c in caches.family if isinstance(c, Class)]
    methods = [m for c in classes for m in caches.project.methods(c).values()]
    methods = [m for m in methods if m.name != "__init__"]
    set_later = {n for m in methods for _, n in written(m)}
    used = {n.name for n in below(store.expression, Attribute) if is_own(n, train.receiver)}
    return not used & set_later and caches.purity.of(store.expression, train, (), used)


def _elsewhere(caches: _Caches, train: Function, name: str) -> list[Attribute]:
    """Where the class names an attribute outside of train()."""
    nodes = [n for n in caches.names.attributes.get(name, []) if caches.cls in n.ancestors()]
    return [n for n in nodes if train not in n.ancestors()]


def _deletes(delete: Delete, train: Function, kept: dict[str, Statement]) -> bool:
    return all(is_own(t, train.receiver) and t.name in kept for t in delete.targets)


def _is_left_empty(statement: Node, removed: set[Statement]) -> bool:
    if isinstance(statement, (If, With)):
        blocks = [b for b in statement.children() if isinstance(b, Block)]
        return all(_is_left_empty(s, removed) for block in blocks for s in block.body)
    return statement in removed


def _value(train: Function, store: Statement) -> Expression:
    assert isinstance(store, Assign) and store.expression is not None
    made = clone(store.expression)
    around = [text(d) for d in train.decorators]
    around += [text(item) for n in store.ancestors() if isinstance(n, With) for item, _ in n.pairs]
    still = any("no_grad" in word or "inference_mode" in word for word in around)
    return Call(Attribute(made, "detach")) if still else made
