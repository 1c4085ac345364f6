"""The way through the blocks of one function: what follows a branch that may leave moves into its
sides that go on."""

from collections.abc import Sequence

from ...facts.bindings import Liveness, bound
from ...model.constants import is_none
from ...model.copy import clone
from ...model.diagnostics import Diagnostic
from ...model.effects import Unconverted
from ...model.expressions import Name
from ...model.fallthrough import always_returns, completes, own_jumps
from ...model.fresh_names import Names
from ...model.names import dotted, names_assigned
from ...model.node import Expression, Node, Statement
from ...model.positions import place, source_of
from ...model.program import Function
from ...model.statements import (
    Assign,
    Block,
    Continue,
    ExpressionStatement,
    For,
    If,
    Pass,
    Return,
    Try,
    While,
    With,
)
from ...passes.truth import is_branch_on_data
from ..truth import negated
from . import guards
from .ends import blocks, end_quietly, leaves, only_raises, returns, returns_on_data
from .flags import Flags, Left, last_break


class Exits:
    """One function while it is restructured."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.names = Names(function)
        self.live = {node: set(names) for node, names in Liveness(function).after.items()}
        self.defined = {p.name for p in function.parameters}
        self.loop: Left | None = None  # how the innermost loop is left
        self.diagnostics: list[Diagnostic] = []
        given = [node.expression for node in function.nodes(Return)]
        self.silent = bool(given) and all(e is None or is_none(e) for e in given)

    def run(self) -> None:
        self.block(self.function.body, True)
        if self.silent:
            end_quietly(self.function.body)

    def block(self, block: Block, tail: bool) -> None:
        """Restructure a block. `tail`: what follows it is the end of the function, or of a turn."""
        at = 0
        while at < len(block.body):
            statement, rest = block.body[at], block.body[at + 1 :]
            if isinstance(statement, If) and guards.split(block, statement, rest):
                continue
            if self._is_check(statement):
                self._leave_out(block, statement)
                continue
            if tail and not rest and (flag := last_break(self.loop, statement)) is not None:
                block.substitute(statement, [flag])
                return
            if isinstance(statement, (If, With)) and self.holds(statement):
                if not tail or isinstance(statement, With) and not _may_enter(statement, rest):
                    self.refuse(block, statement)
                elif self._push(block, statement, rest):
                    return
            elif isinstance(statement, (For, While)):
                names = names_assigned(statement)
                at = Flags(self, block, statement, tail, rest).run()
                self.defined.update(names)
                continue
            elif isinstance(statement, (If, With, Try)):
                for inner in blocks(statement):
                    self.block(inner, tail and not rest)
            elif self.loop is not None and self._ends_turn(statement):
                for unreached in rest:
                    block.remove(unreached)
                self._leave(block, statement)
                return
            self.defined.update(names_assigned(statement))
            at += 1

    def holds(self, node: Statement) -> bool:
        """Whether a branch on data at or below a statement, outside inner loops, leaves the block
        it stands in.
        """
        if is_branch_on_data(node):
            return returns(node) or bool(own_jumps(node))
        if self.loop is not None and isinstance(node, If):
            if own_jumps(node) or self.loop.flag and returns(node):
                return True  # the turn becomes a function: no jump can stay one
        if isinstance(node, (If, With)):
            return any(self.holds(s) for block in blocks(node) for s in block.body)
        if not isinstance(node, (For, While)):
            return False
        flagged = self.loop is not None and bool(self.loop.flag)
        return returns_on_data(node) or flagged and returns(node)

    # --- branches --------------------------------------------------------------------------------

    def _push(self, block: Block, node: If | With, rest: Sequence[Statement]) -> bool:
        """Move what follows a statement into the sides that go on; says whether nothing is left to
        look at.
        """
        if rest and isinstance(node, If) and self._is_way_out(node):
            inside = If(negated(node.test), Block())
            self._move(block, inside.body, rest, copied=False)
            block.substitute(node, [inside])
            self.block(inside.body, True)
            return True
        then = node.body
        if rest and then.is_empty:
            for inner in list(then.body):
                then.remove(inner)
        if isinstance(node, With):
            self._move(block, then, rest if completes(then) else [], copied=False)
            self.block(then, True)
            return True
        other = node.orelse
        twice = completes(then) and completes(other)
        if rest and completes(then):
            self._move(block, then, rest, copied=twice)
            rest = rest if twice else []
        before = set(self.defined)
        self.block(then, True)
        if other is None and always_returns(then) and not is_branch_on_data(node):
            self.defined = before  # Python's own `if`: what follows is where it was
            return False
        both, self.defined = self.defined, before
        if other is None and rest:
            other = Block()
            node.otherwise(other)
        if other is not None:
            self._move(block, other, rest if completes(other) else [], copied=False)
            self.block(other, True)
        self.defined |= both
        for unreached in block.body[block.body.index(node) + 1 :]:
            block.remove(unreached)
        return True

    def _is_way_out(self, node: If) -> bool:
        """Whether all that a branch on data does is to end a function without a result."""
        if not self.silent or self.loop is not None:
            return False
        alone = len(node.body.body) == 1 and isinstance(node.body.body[0], Return)
        return alone and node.orelse is None and is_branch_on_data(node)

    def _move(self, block: Block, to: Block, rest: Sequence[Statement], copied: bool) -> None:
        """Put what follows at the end of a side."""
        for statement in rest:
            if copied:
                made = clone(statement)
                for new, old in zip(made.walk(), statement.walk()):
                    if isinstance(old, Statement) and old in self.live:
                        self.live[new] = self.live[old]  # type: ignore[index]
                to.append([made])
            else:
                block.take(statement)
                to.append([statement])

    def _ends_turn(self, statement: Statement) -> bool:
        flagged = self.loop is not None and bool(self.loop.flag)
        return leaves(statement) and (flagged or not isinstance(statement, Return))

    def _leave(self, block: Block, statement: Statement) -> None:
        """`break` and `return` set the flag; `continue` is the end of the turn already."""
        assert self.loop is not None
        if isinstance(statement, Continue):
            block.remove(statement)
        else:
            block.substitute(statement, self.loop.leave(statement))

    # --- what cannot be --------------------------------------------------------------------------

    def report(self, id: str, node: Node, message: str) -> None:
        found = Diagnostic(*place(node), id, message)
        if found not in self.diagnostics:  # what is written twice is reported once
            self.diagnostics.append(found)

    def _is_check(self, node: Statement) -> bool:
        """`if torch.isnan(x).any(): raise …`, with or without another side."""
        if not isinstance(node, If) or not is_branch_on_data(node):
            return False
        other = node.orelse
        return only_raises(node.body) or only_raises(other) and other is not None

    def _leave_out(self, block: Block, node: Statement) -> None:
        assert isinstance(node, If)
        message = "a check of a tensor's value cannot raise under jit: it was left out"
        self.report("data-check", node.test, message)
        kept = node.orelse if only_raises(node.body) else node.body
        statements = list(kept.body) if kept is not None else []
        rest = block.body[block.body.index(node) + 1 :] if always_returns(kept) else []
        for statement in statements:
            assert kept is not None
            kept.take(statement)
        for unreached in rest:
            block.remove(unreached)
        block.substitute(node, statements)

    def refuse(self, block: Block, node: Statement) -> Statement:
        """What raises stands for a statement, and for all that it would have set."""
        what: Expression = node.test if isinstance(node, (If, While)) else node.children()[0]  # type: ignore[assignment]
        if isinstance(node, For):
            what = node.iterable
        message = "a return from inside a loop, under a branch on a tensor's value"
        self.report("traced-branch", what, message)
        poison = Unconverted("traced-branch", source_of(what))
        targets = [Name(n) for n in bound(node) if n in self.live.get(node, ())]
        made = Assign(targets, poison) if targets else ExpressionStatement(poison)
        block.substitute(node, [made])
        return made


def _may_enter(node: With, rest: Sequence[Statement]) -> bool:
    """Whether what follows a `with` may as well run in it: it computes nothing."""
    if not rest or not completes(node.body):
        return True
    first = rest[0]
    plain = isinstance(first, Return) and (
        first.expression is None or dotted(first.expression) is not None
    )
    return plain or all(isinstance(s, Pass) for s in rest)
