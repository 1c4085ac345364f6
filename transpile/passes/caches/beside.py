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

from typing import TYPE_CHECKING, NamedTuple

from ...model.edits import block_of, leave_out
from ...model.expressions import Attribute, Call
from ...model.names import dotted, names_assigned
from ...model.node import Expression, Node, Statement
from ...model.operators import Boolean, Compare
from ...model.program import Function
from ...model.statements import Assign, Block, If
from .stores import written

if TYPE_CHECKING:
    from . import _Caches

_SIZES = frozenset({"dim", "ndim", "shape", "size"})


class Beside(NamedTuple):
    """Such a guard, what keeps the value in it, and what makes the first one."""

    guard: If
    stores: list[Statement]
    built: list[Statement]

    def write(self, _: Node) -> None:
        for statement in self.stores:
            leave_out(statement)
        assert self.guard.orelse is not None
        block_of(self.guard).unfold(self.guard, self.guard.orelse)


def found(caches: _Caches, method: Function) -> list[Beside]:
    """Those of one method."""
    guards = [n for n in method.body.walk() if isinstance(n, If)]
    made = [_of(caches, method, g, g.orelse) for g in guards if g.orelse is not None]
    return [one for one in made if one is not None]


def _of(caches: _Caches, method: Function, guard: If, other: Block) -> Beside | None:
    me, taken = method.parameters[0].name, guard.body.body[0]
    value = taken.expression if isinstance(taken, Assign) and len(guard.body.body) == 1 else None
    kept = [(s, n) for s, n in written(other, me) if s.parent is other and isinstance(s, Assign)]
    given = {n: dotted(s.expression) for s, n in kept if isinstance(s, Assign) and s.expression}
    stores: list[Statement] = [s for s, _ in kept]
    made = other.body[: -len(kept)]
    if not isinstance(value, Attribute) or not given or [*made, *stores] != other.body:
        return None
    built = [s for s, n in written(caches.constructor) if n in given]  # type: ignore[arg-type]
    alone = all(_is_alone(caches, name, [guard, *built]) for name in given)
    local = given.pop(value.name, None) if dotted(value.object) == me else None
    if not alone or local is None or dotted(taken.targets[0]) != local:  # type: ignore[attr-defined]
        return None
    parts = [p for p in _parts(guard.test) if isinstance(p, Compare) and p.operators == ["=="]]
    pairs = [{dotted(side) for side in p.operands} for p in parts]
    asked = len(parts) == len(_parts(guard.test))
    asked = asked and all({f"{me}.{name}", size} in pairs for name, size in given.items())
    names = {size for size in given.values() if size is not None} | set(names_assigned(other))
    follows = asked and _is_pure(caches, method, made, names)
    words = {size: name for name, size in given.items()}
    begins = follows and _begins(caches, me, value, made, words)
    return Beside(guard, stores, built) if begins else None


def _parts(test: Expression) -> list[Expression]:
    if isinstance(test, Boolean) and test.operator == "and":
        return [*_parts(test.left), *_parts(test.right)]
    return [test]


def _is_alone(caches: _Caches, name: str, places: list[Statement]) -> bool:
    """Whether these statements alone ask for an attribute."""
    nodes = [n for n in caches.names.attributes.get(name, []) if caches.cls in n.ancestors()]
    return caches.is_own(name) and all(set(places) & set(n.ancestors()) for n in nodes)


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
