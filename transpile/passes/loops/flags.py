"""A flag of a loop that is a comparison of numbers: it is asked in the test itself.

running = True
while running:                  while n < 20:
    n += 1                          n += 1
    running = n < 20

So that the counter is a bound. It must hold before the first turn.
"""

from __future__ import annotations

from ...facts.bindings import read
from ...facts.carried import Carrying
from ...facts.carried.written_places import written
from ...model.carry import Carry
from ...model.copy import clone
from ...model.expressions import Constant, Name
from ...model.node import Expression
from ...model.operators import COMPARISONS, Binary, Boolean, Compare
from ...model.statements import Assign, Block, While
from ..pass_ import Changes
from .bounds import start_of


class Flagged:
    """A loop with such a flag: its name in the test, and the last statement of a turn, which sets
    it."""

    def __init__(self, loop: While, flag: Name, last: Assign, asked: Compare) -> None:
        self.loop, self.flag, self.last, self.asked = loop, flag, last, asked

    @staticmethod
    def of(loop: While, carrying: Carrying) -> Flagged | None:
        flag, body = _flag(loop.test), loop.body.body
        last = body[-1] if len(body) > 1 else None
        if flag is None or not isinstance(last, Assign) or last.operator:
            return None
        target, asked = last.targets[0], last.expression
        if len(last.targets) > 1 or not isinstance(target, Name) or target.id != flag.id:
            return None
        others = {name for s in body[:-1] for name in (*written(s), *read(s))}
        others |= carrying.liveness.after.get(loop, frozenset())
        others |= {name.id for name in loop.test.walk() if isinstance(name, Name)} - {flag.id}
        if flag.id in others or not isinstance(asked, Compare) or not _holds(asked, loop):
            return None
        return (
            Flagged(loop, flag, last, asked)
            if set(read(asked)) <= _carried(carrying, loop)
            else None
        )

    def edit(self, changes: Changes, carry: Carry) -> None:
        """Ask in the test; the flag is no more."""
        name = self.flag.id
        changes.replace(self.flag, clone(self.asked))
        changes.remove(self.last)
        block = self.loop.parent
        assert isinstance(block, Block)
        at = block.body.index(self.loop)
        for statement in block.body[:at]:
            if isinstance(statement, Assign) and written(statement) == [name]:
                changes.remove(statement)
        carry.inputs.remove(name)
        carry.outputs.remove(name)
        carry.names.pop(name, None)


def _carried(carrying: Carrying, loop: While) -> set[str]:
    return set(carrying.carried(loop))


def _flag(test: Expression) -> Name | None:
    """The flag in `running` or `running & …`."""
    both = isinstance(test, Boolean) and test.operator == "and"
    if both or isinstance(test, Binary) and test.operator == "&":
        test = test.left  # type: ignore[attr-defined]
    return test if isinstance(test, Name) else None


def _holds(test: Compare, loop: While) -> bool:
    """Whether a comparison of numbers is true with what names are given before a loop."""
    if len(test.operands) != 2 or test.operators[0] not in COMPARISONS:
        return False
    sides = [_number(side, loop) for side in test.operands]
    if None in sides:
        return False
    return bool(COMPARISONS[test.operators[0]](*sides))


def _number(node: Expression, loop: While) -> int | float | None:
    if isinstance(node, Name):
        return start_of(node.id, loop)
    plain = isinstance(node, Constant) and type(node.constant) in (int, float)
    return node.constant if plain else None  # type: ignore[attr-defined]
