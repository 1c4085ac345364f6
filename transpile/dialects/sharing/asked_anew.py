"""Expressions that give the same modules when they are asked again later: `[self.a, self.b]`."""

from collections.abc import Iterable, Mapping

from ...facts.bindings.activity import bound
from ...facts.modules import Field
from ...facts.values.attribute_names import WALKS
from ...model.copy import clone
from ...model.effects import New
from ...model.expressions import Attribute, Call, Constant, ForClause, Name, Subscript
from ...model.names import own_word, target_names, text
from ...model.node import Expression
from ...model.program import Function
from ...model.statements import Assign
from .list_growth import MAKING
from .parallel_names import beside
from .submodule_paths import replaces

_FETCHING = MAKING | WALKS | frozenset("getattr range zip enumerate len reversed".split())


def spelled(store: Assign, init: Function, fields: Mapping[str, Field]) -> Expression | None:
    """What a constructor keeps, by the names that `self` has for its modules: `[self.a]` for `[a]`,
    where `self.a = a`. None where it would be other modules later."""
    assert store.expression is not None
    again = clone(store.expression)
    for node in [n for n in again.walk() if isinstance(n, Name) and n is not again]:
        name = beside(node, store, init, fields)
        if isinstance(name, Constant):
            own = Attribute(Name(init.receiver), str(name.constant))
            own.value = node.value
            node.replace(own)
    return again if _is_the_same(again, init) else None


def _is_the_same(value: Expression, init: Function) -> bool:
    inside = {n for c in value.walk() if isinstance(c, ForClause) for n in target_names(c.target)}
    local = set(bound(init.body)) | {p.name for p in init.parameters[1:]}
    for node in value.walk():
        if isinstance(node, New):
            return False
        if isinstance(node, Call) and own_word(node.function) not in _FETCHING:
            return False
        if isinstance(node, Name) and node.id in local - inside:
            return False
    return True


def is_replaced(value: Expression, store: Assign, methods: Iterable[Function]) -> bool:
    """Whether something else is put later where the modules stand."""
    above = {text(n) for n in value.walk() if isinstance(n, (Attribute, Subscript))}
    body = store.parent.body  # type: ignore[union-attr]
    later = [n for s in body[body.index(store) + 1 :] for n in s.walk()]
    later += [n for m in methods for n in m.body.walk()]
    return any(replaces(node, above) for node in later)
