"""What is kept for the sizes of the last call, where other sizes make it anew: each call makes it.

    if n == self.n and self.table.dtype == x.dtype:
        table = self.table
    else:                                             →    table = make_table(n).type_as(x)
        table = make_table(n).type_as(x)
        self.table = table
        self.n = n

The constructor makes it in the same way, `self.table = make_table(self.n)`, and need not.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...model.edits import block_of
from ...model.expressions import Attribute, Call
from ...model.names import dotted, names_assigned
from ...model.node import Expression, Statement
from ...model.operators import Compare, conjuncts
from ...model.program import Function
from ...model.statements import Assign, Block, If
from .stores import written

if TYPE_CHECKING:
    from . import _Caches

# What makes no other values.
_CASTS = frozenset({"contiguous", "cuda", "to", "type", "type_as"})


def found(caches: _Caches, method: Function) -> Iterator[tuple[If, list[Statement]]]:
    """The guards of one method, each with what keeps the value, and what makes the first one."""
    for guard in [n for n in method.body.walk() if isinstance(n, If)]:
        if guard.orelse is not None and (stores := _stores(caches, method, guard, guard.orelse)):
            yield guard, stores


def unfold(guard: If) -> None:
    assert guard.orelse is not None
    block_of(guard).unfold(guard, guard.orelse)


def _stores(caches: _Caches, method: Function, guard: If, other: Block) -> list[Statement]:
    me, taken = method.receiver, guard.body.body[0]
    value = taken.expression if isinstance(taken, Assign) and len(guard.body.body) == 1 else None
    kept = {s: n for s, n in written(other, me) if s.parent is other and isinstance(s, Assign)}
    sizes = {name: dotted(s.expression) for s, name in kept.items() if isinstance(s, Assign)}
    stores, made = list(kept), other.body[: -len(kept)]
    if not isinstance(value, Attribute) or not kept or [*made, *stores] != other.body:
        return []
    built = [s for s, n in written(caches.constructor) if n in sizes]  # type: ignore[arg-type]
    alone = all(_is_alone(caches, name, [guard, *built]) for name in sizes)
    local = sizes.pop(value.name, None) if dotted(value.object) == me else None
    if not alone or local is None or dotted(taken.targets[0]) != local:  # type: ignore[attr-defined]
        return []
    tests = conjuncts(guard.test)
    parts = [p for p in tests if isinstance(p, Compare) and p.operators == ["=="]]
    pairs = [{dotted(side) for side in p.operands} for p in parts]
    asked = all({f"{me}.{name}", size} in pairs for name, size in sizes.items())
    there = _made(made, local)
    if len(pairs) < len(tests) or not asked or not isinstance(there, Call):
        return []
    words = {size: name for name, size in sizes.items() if size is not None}
    fits = caches.purity.of(there, method, words, ()) and _begins(caches, value, there, words)
    return [*stores, *built] if fits else []


def _is_alone(caches: _Caches, name: str, places: list[Statement]) -> bool:
    """Whether these statements alone ask for an attribute."""
    nodes = [n for n in caches.names.attributes.get(name, []) if caches.cls in n.ancestors()]
    return caches.is_own(name) and all(set(places) & set(n.ancestors()) for n in nodes)


def _made(made: list[Statement], local: str) -> Expression | None:
    """`make(n)` of `table = make(n).type_as(x)`, where what follows only casts it."""
    steps = [n for s in made for n in s.walk() if isinstance(n, Assign)]
    plain = all(isinstance(s, (Assign, If)) for s in made) and made[:1] == steps[:1]
    values = [_uncast(s.expression) for s in steps if dotted(s.targets[0]) == local]
    same = len(values) == len(steps) and all(dotted(value) == local for value in values[1:])
    return values[0] if plain and same and values else None


def _uncast(node: Expression | None) -> Expression | None:
    function = node.function if isinstance(node, Call) else None
    cast = isinstance(function, Attribute) and function.name in _CASTS
    return _uncast(function.object) if cast else node  # type: ignore[union-attr]


def _begins(caches: _Caches, kept: Attribute, there: Call, sizes: dict[str, str]) -> bool:
    """Whether the constructor makes it by the same function, of what it has under these names."""
    init, me = caches.constructor, dotted(kept.object)
    begun = [s for s, _ in written(init)] if init is not None else []
    built = {dotted(s.targets[0]): s.expression for s in begun if isinstance(s, Assign)}
    first = built.get(dotted(kept))
    if not isinstance(first, Call) or len(begun) > len(built):
        return False
    one, other = (
        [sizes.get(n, n).removeprefix(f"{me}.") for n in (dotted(a) or "" for a in call.arguments)]
        for call in (first, there)
    )
    bound = names_assigned(init) if init is not None else []
    given = [n for a, n in zip(first.arguments, one) if not isinstance(a, Attribute)]
    known = all(n not in bound and dotted(built.get(f"{me}.{n}")) == n for n in given)
    alike = dotted(first.function) == dotted(there.function) and first.keywords == there.keywords
    return known and alike and one == other and all(one)
