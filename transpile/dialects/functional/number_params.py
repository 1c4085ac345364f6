"""Params that are plain numbers on some way: the module has the number, and params have it not.

self.b = Parameter(randn(n)) if use else 2.0   →   self.b = None if use else 2.0
                                                   init: if self.use: params["b"] = …
x * self.b                                     →   x * (params["b"] if "b" in params else self.b)
"""

from collections.abc import Iterable

from ...facts.values.lattice import NONE, UNKNOWN, Static
from ...model.copy import clone
from ...model.effects import MIXED, Declare
from ...model.expressions import Attribute, Constant, Name, Subscript
from ...model.node import Expression
from ...model.operators import Compare, Conditional
from ...model.program import Function
from ...model.statements import Assign, Block


def numbers(functions: Iterable[Function]) -> set[str]:
    """The names of params that are numbers on some way."""
    declares = (d for f in functions for d in f.nodes(Declare) if d.kind == MIXED)
    return {d.name for d in declares if d.expression is not None and _holds(d.expression)}


def apart(function: Function) -> None:
    """Let a constructor keep the numbers, and what is left of the declarations move to `init`."""
    for declare in function.nodes(Declare):
        value = declare.expression
        if declare.kind != MIXED or value is None or not _holds(value):
            continue
        if not isinstance(value, Conditional):
            plain = Assign(declare.targets, value)
            declare.become(plain)
            for part in plain.children():
                part.parent = plain
            continue
        assert isinstance(declare.parent, Block)
        number = Assign([clone(declare.targets[0])], _only(value, True))
        declare.parent.insert_before(declare, [number])
        value.replace(_only(value, False))


def read(name: str, entries: Expression, module: Expression) -> Expression:
    """The param where there is one, and else the number."""
    there = Compare([Constant(name), clone(entries)], ["in"])
    return Conditional(Subscript(entries, Constant(name)), there, Attribute(module, name))


def _holds(value: Expression) -> bool:
    if isinstance(value, Conditional):
        return _holds(value.body) or _holds(value.orelse)
    known = value.value
    return isinstance(known, Static) and known != NONE or known == UNKNOWN and _is_name(value)


def _is_name(value: Expression) -> bool:
    return isinstance(value, Name)


def _only(value: Expression, numbers: bool) -> Expression:
    """A choice with None in the place of what is no number, or is one."""
    if isinstance(value, Conditional):
        sides = _only(value.body, numbers), _only(value.orelse, numbers)
        return Conditional(sides[0], clone(value.test), sides[1])
    return clone(value) if _holds(value) == numbers else Constant(None)
