"""What is kept for the sizes of the last call, where other sizes make it anew: no call keeps it.

    if n == self.n and self.table.dtype == x.dtype:
        table = self.table
    else:
        table = make_table(n).type_as(x)
        self.table = table                                (these two are left out)
        self.n = n

The constructor makes it in the same way: `self.table = make_table(self.n)`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...model.expressions import Attribute, Call
from ...model.names import dotted, names_assigned
from ...model.node import Expression, Statement
from ...model.operators import Boolean, Compare
from ...model.program import Function
from ...model.statements import Assign, Block, If
from .stores import written

if TYPE_CHECKING:
    from . import _Caches

_SIZES = frozenset({"dim", "ndim", "shape", "size"})


def stores(caches: _Caches, method: Function) -> list[Statement]:
    """The statements of a method that keep what need not be kept."""
    guards = [n for n in method.body.walk() if isinstance(n, If)]
    return [s for g in guards if g.orelse is not None for s in _of(caches, method, g, g.orelse)]


def _of(caches: _Caches, method: Function, guard: If, other: Block) -> list[Statement]:
    me, taken = method.parameters[0].name, guard.body.body[0]
    value = taken.expression if isinstance(taken, Assign) and len(guard.body.body) == 1 else None
    kept = [(s, n) for s, n in written(other, me) if s.parent is other and isinstance(s, Assign)]
    given = {n: dotted(s.expression) for s, n in kept if isinstance(s, Assign) and s.expression}
    found: list[Statement] = [s for s, _ in kept]
    made = other.body[: -len(kept)]
    if not isinstance(value, Attribute) or not given or [*made, *found] != other.body:
        return []
    local = given.pop(value.name, None) if dotted(value.object) == me else None
    if local is None or dotted(taken.targets[0]) != local:  # type: ignore[attr-defined]
        return []
    parts = [p for p in _parts(guard.test) if isinstance(p, Compare) and p.operators == ["=="]]
    pairs = [{dotted(side) for side in p.operands} for p in parts]
    asked = len(parts) == len(_parts(guard.test))
    asked = asked and all({f"{me}.{name}", size} in pairs for name, size in given.items())
    alone = all(_is_alone(caches, name, guard) for name in (value.name, *given))
    names = {size for size in given.values() if size is not None} | set(names_assigned(other))
    follows = _is_pure(caches, method, made, names)
    words = {size: name for name, size in given.items()}
    return found if asked and alone and follows and _begins(caches, me, value, made, words) else []


def _parts(test: Expression) -> list[Expression]:
    if isinstance(test, Boolean) and test.operator == "and":
        return [*_parts(test.left), *_parts(test.right)]
    return [test]


def _is_alone(caches: _Caches, name: str, guard: If) -> bool:
    """Whether the guard and the constructor alone ask for an attribute."""
    nodes = [n for n in caches.names.attributes.get(name, []) if caches.cls in n.ancestors()]
    others = [n for n in nodes if guard not in n.ancestors()]
    return caches.is_own(name) and all(n.nearest(Function) is caches.constructor for n in others)


def _is_pure(caches: _Caches, method: Function, made: list[Statement], names: set[str]) -> bool:
    """Whether statements bind names to what follows from these, from dtypes and devices."""
    nodes = [n for s in made for n in s.walk()]
    sized = any(isinstance(n, Attribute) and n.name in _SIZES for n in nodes)
    values = [n.test for n in nodes if isinstance(n, If)]
    values += [n.expression for n in nodes if isinstance(n, Assign) and n.expression]
    plain = all(isinstance(s, (Assign, If)) for s in made) and not sized
    return plain and all(caches.purity.of(value, method, names, ()) for value in values)


def _begins(
    caches: _Caches, me: str, kept: Attribute, made: list[Statement], sizes: dict[str | None, str]
) -> bool:
    """Whether the constructor makes it by the same function, of what it has under these names."""
    there = made[0].expression if made and isinstance(made[0], Assign) else None
    while isinstance(inner := getattr(getattr(there, "function", None), "object", None), Call):
        there = inner  # `make(n)` of `make(n).type_as(x)`
    init = caches.constructor
    begun = [s for s, _ in written(init)] if init is not None else []
    built = {dotted(s.targets[0]): s.expression for s in begun if isinstance(s, Assign)}
    first = built.get(dotted(kept))
    if not isinstance(first, Call) or not isinstance(there, Call) or len(begun) > len(built):
        return False
    one, other = (
        [sizes.get(dotted(a)) or (dotted(a) or "").removeprefix(f"{me}.") for a in call.arguments]
        for call in (first, there)
    )
    bound = names_assigned(init) if init is not None else []
    given = [n for a, n in zip(first.arguments, one) if not isinstance(a, Attribute)]
    known = all(n not in bound and dotted(built.get(f"{me}.{n}")) == n for n in given)
    alike = dotted(first.function) == dotted(there.function) and first.keywords == there.keywords
    return known and alike and one == other and all(one)
