"""Loops that data may end: what leaves them sets a flag, which each turn asks.

`running` is asked by the loop's test, or around the turn. `returned` tells a return from a break,
where a loop has both; `result` keeps what is returned, where that cannot be told after the loop. A
return of the very thing that is returned right after the loop is a break.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING

from ...facts.bindings import bound
from ...facts.carried.written_places import certain
from ...facts.values.lattice import UNKNOWN, Static
from ...model.copy import moved_copy
from ...model.effects import Unset
from ...model.equality import equal
from ...model.expressions import Constant, Name
from ...model.fallthrough import own_jumps
from ...model.names import in_scope, names_assigned, target_names
from ...model.node import Expression, Statement
from ...model.operators import Binary, Boolean
from ...model.statements import Assign, Block, Break, For, If, Pass, Return, While
from ...passes.truth import is_branch_on_data, is_loop_on_data
from ..truth import negated, told, traced
from .ends import is_endless, names_read

if TYPE_CHECKING:
    from .exits import Exits


@dataclass
class Left:
    """How a loop is left."""

    flag: str = ""  # what its test asks, where it is left before its end
    returned: str = ""  # set where it is left by a return; "" where only one kind leaves it
    result: str = ""  # what keeps the value returned; "" where that can be told after the loop
    at_times: bool = False  # what is no data may keep all turns from a return: the flag stays True

    def leave(self, statement: Statement) -> list[Statement]:
        """What stands for a `break` or `return`."""
        made: list[Statement] = []
        if isinstance(statement, Return) and statement.expression is not None and self.result:
            target = Name(self.result)
            target.value = statement.expression.value
            made.append(Assign([target], statement.expression))
        if isinstance(statement, Return) and self.returned:
            made.append(_assigned(self.returned, True))
        return [*made, _assigned(self.flag, False)]


def last_break(left: Left | None, node: Statement) -> Assign | None:
    """`if n >= 20: break` at the end of a turn: the flag is the opposite of the test."""
    if left is None or not left.flag or not isinstance(node, If) or not is_branch_on_data(node):
        return None
    alone = node.orelse is None and len(node.body.body) == 1
    leaving = (Break,) if left.result or left.returned else (Break, Return)
    if not alone or not isinstance(node.body.body[0], leaving):
        return None
    return Assign([told(Name(left.flag))], negated(node.test))


def _assigned(flag: str, constant: bool) -> Assign:
    value = Constant(constant)
    value.value = Static(constant, "bool")
    return Assign([told(Name(flag))], value)


class Flags:
    """One loop while it is restructured."""

    def __init__(
        self, exits: Exits, block: Block, node: For | While, tail: bool, rest: Sequence[Statement]
    ) -> None:
        self.exits, self.block, self.node, self.tail = exits, block, node, tail
        self.rest, self.defined = rest, set(exits.defined)
        self.live = exits.live.get(node, set())

    def run(self) -> int:
        """Restructure the loop, and say where what follows it begins in its block."""
        exits, node = self.exits, self.node
        outer, exits.loop = exits.loop, None
        if isinstance(node, For):
            exits.defined |= set(target_names(node.target))
        if self._is_left(outer):
            self._left(outer)
        else:
            for inner in (node.body, node.orelse):
                if inner is not None:
                    exits.block(inner, False)
            exits.loop, exits.defined = outer, self.defined
        return next((i for i, s in enumerate(self.block.body) if s is self.node), -1) + 1

    def _is_left(self, outer: Left | None) -> bool:
        """Whether data tell where a turn ends, or the loop; a turn of a loop around this one that
        they end is a function, which no return can leave.
        """
        body = self.node.body.body
        if any(self.exits.holds(s) for s in body):
            return True
        returns = bool(self._returns())
        if outer is not None and outer.flag and returns:
            return True
        return is_loop_on_data(self.node) and (returns or any(map(own_jumps, body)))

    def _returns(self) -> list[Return]:
        return list(in_scope(self.node.body, Return))

    def _left(self, outer: Left | None) -> None:
        exits, node = self.exits, self.node
        returns = self._returns()
        breaks = any(isinstance(j, Break) for s in node.body.body for j in own_jumps(s))
        if returns and self._is_said_after(returns):
            breaks, returns = True, []
        left = Left(exits.names.fresh("running") if breaks or returns else "")
        if returns and not self._keep(left, returns, breaks):
            exits.loop, exits.defined = outer, self.defined
            made = exits.refuse(self.block, node)
            self.node = made  # type: ignore[assignment]
            return
        exits.loop, left.at_times = left, any(map(self._may_pass, returns))
        exits.block(node.body, True)
        exits.loop, exits.defined = outer, self.defined
        if left.flag:
            self._flag(left, returns)

    def _is_said_after(self, returns: Sequence[Return]) -> bool:
        """Whether all that is returned is what is returned right after the loop."""
        if self.node.orelse is not None:
            return False
        if not self.rest:
            ends = self.block is self.exits.function.body
            return ends and all(r.expression is None for r in returns)
        last = self.rest[0]
        return isinstance(last, Return) and all(
            equal(r.expression, last.expression) for r in returns
        )

    def _keep(self, left: Left, returns: Sequence[Return], breaks: bool) -> bool:
        """Say how it is told after the loop whether, and what, it has returned; False where that
        cannot be.
        """
        node = self.node
        if not self.tail or node.orelse is not None:
            return False
        if breaks:
            left.returned = self.exits.names.fresh("returned")
        values = [r.expression for r in returns]
        loops = [n for n in [node, *in_scope(node.body, For)] if isinstance(n, For)]
        turning = {name for loop in loops for name in target_names(loop.target)}
        known = self.defined | (set().union(*map(names_read, values)) - set(bound(node.body)))
        told = all(names_read(v) <= known and not names_read(v) & turning for v in values)
        if not told or not all(equal(v, values[0]) for v in values[1:]):
            if None in values:
                return False
            left.result = self.exits.names.fresh("result")
        return True

    # --- the flag --------------------------------------------------------------------------------

    def _flag(self, left: Left, returns: Sequence[Return]) -> None:
        node, block = self.node, self.block
        starts: list[Statement] = [_assigned(left.flag, True)]
        if left.returned:
            starts.append(_assigned(left.returned, False))
        if left.result:
            starts.append(_unset(left.result))
        names, endless = self._set_first(left), isinstance(node, While) and is_endless(node.test)
        if isinstance(node, While):
            self._ask(node, left.flag)
        else:
            kept = self._kept(node)
            names += [target.id for target in _targets(kept) if target.id not in self.defined]
            self._ask_around(node, left.flag, kept)
        starts += [_unset(name) for name in sorted(set(names))]
        block.insert_before(node, starts)
        after: list[Statement] = []
        if node.orelse is not None:
            orelse, node.orelse = node.orelse, None
            node.restate()
            orelse.slot = None
            after.append(If(told(Name(left.flag)), orelse))
        if returns:
            after.append(self._after(left, returns[0], endless))
        block.insert_after(node, after)

    def _after(self, left: Left, first: Return, endless: bool) -> Statement:
        """What asks right after a loop whether it has returned, as `while True` must have."""
        value = first.expression
        if left.result:
            assert value is not None
            known, value = value.value, Name(left.result)
            value.value = known
        elif value is not None:
            value = moved_copy(value)
        if endless and not left.returned:
            return Return(value)
        leave = Block([Return(value)])
        if left.returned:
            # a bool of Python's where no turn asks data, of which `~` is another thing
            return If(told(Name(left.returned), python=True), leave)
        return If(told(Name(left.flag), python=left.at_times), Block([Pass()]), leave)

    def _may_pass(self, leaving: Return) -> bool:
        """Whether what is no data may keep a turn from a return."""
        around = takewhile(lambda n: n is not self.node, leaving.ancestors())
        return any(isinstance(n, If) and not _all_traced(n.test) for n in around)

    def _ask(self, node: While, flag: str) -> None:
        """The loop's test asks for the flag too."""
        asked = told(Name(flag))
        if is_endless(node.test):
            node.test.replace(asked)
        elif traced(node.test):
            node.test.wrap(lambda test: told(Binary(asked, "&", test)))
        else:
            node.test.wrap(lambda test: told(Boolean(test, "and", asked)))

    def _ask_around(self, node: For, flag: str, kept: list[Statement]) -> None:
        """The turn asks for the flag."""
        if kept and node.body.body:
            node.body.insert_before(node.body.body[0], kept)
        else:
            node.body.append(kept)
        node.body.wrap(lambda body: Block([If(told(Name(flag)), body)]))

    def _kept(self, node: For) -> list[Statement]:
        """What keeps the loop's target where that is read later: turns after a break must not
        change it.
        """
        kept: list[Statement] = []
        for target in [n for n in node.target.walk() if isinstance(n, Name)]:
            if target.id not in self.live or target.id not in target_names(node.target):
                continue
            name, new = target.id, self.exits.names.fresh(f"next_{target.id}")
            known = target.value
            value, to = Name(new), Name(name)
            value.value = to.value = known
            target.rename(new)
            kept.append(Assign([to], value))
        return kept

    def _set_first(self, left: Left) -> list[str]:
        """Names that any turn sets for certain, and nothing has set before: they start unset."""
        node = self.node
        if isinstance(node, While) and not is_endless(node.test):
            return []
        first = certain(node.body)
        first |= certain(node.orelse).intersection(names_assigned(node.body))
        known = {*self.defined, left.flag, left.returned, left.result}
        return [name for name in first & self.live if name not in known]


def _all_traced(test: Expression) -> bool:
    """Whether all that has to hold is data: not of `not self.training and x.mean() > 0`."""
    if isinstance(test, Boolean) and test.operator == "and":
        return _all_traced(test.left) and _all_traced(test.right)
    return traced(test)


def _targets(statements: Iterable[Statement]) -> list[Name]:
    assigned = (s.targets[0] for s in statements if isinstance(s, Assign))
    return [target for target in assigned if isinstance(target, Name)]


def _unset(name: str) -> Assign:
    """`name = Unset`: it is set before it is read."""
    start = Unset()
    start.value = UNKNOWN
    return Assign([Name(name)], start)
