"""The places of names where a function takes one of two ways."""

import functools

from ...model.expressions import Lambda
from ...model.names import below
from ...model.node import Node, Statement
from ...model.program import File, Function
from ...model.statements import Block, If, Return
from .flow_state import Program
from .locations import Env, merge
from .returned_memory import Giving


class Ways(Giving):
    """An environment on its way through a function; with `record` it stays known before each
    statement."""

    record = False

    def __init__(self, program: Program, scope: Function | File | Lambda) -> None:
        super().__init__(program, scope)
        self.together, self.known = program.presence.of_scope(scope), frozenset[str]()
        self.starts: dict[Block, Env] = {}  # what held before the blocks that were met

    def transfer(self, node: Statement) -> None:
        """Move past a statement."""
        raise NotImplementedError

    def evaluated(self, node: Node | None) -> None:
        """Move past an expression."""
        raise NotImplementedError

    def block(self, block: Block | None) -> None:
        if block is not None:
            self.starts[block] = dict(self.env)
        for statement in block.body if block is not None else ():
            self.transfer(statement)

    def branch(self, node: If) -> None:
        """Move past an `if`."""
        self.evaluated(node.test)
        decided = self.together.decided(self.known, node.test)
        before, ends, outer = dict(self.env), [], self.known
        for block in (node.body, node.orelse):
            holds = block is node.body
            if decided is not None and decided is not holds:
                continue
            self.env, self.known = before, self.together.known(outer, node.test, holds)
            again = self._again(node) if block is not None and self.known != outer else None
            self.env = dict(before if again is None else again)
            self.block(block)
            if again is not None:  # what has not changed is on either side what it was
                kept = (n for n, its in again.items() if n in before and self.env[n] == its)
                self.env.update({name: before[name] for name in kept})
            if not _leaves(block):
                ends.append(self.env)
        self.env, self.known = functools.reduce(merge, ends) if ends else before, outer

    def _again(self, node: If) -> Env | None:
        """What holds before an `if`, by the earlier ones that are decided in its body.

        if w is not None:
            x = conv(x, w)
        if b is not None:  # which is only where w is
            x.add_(b)
        """
        block = node.parent
        if not isinstance(block, Block) or block not in self.starts:
            return None
        earlier = block.body[: block.body.index(node)]
        tests = [inner.test for one in earlier for inner in below(one, If)]
        if all(self.together.decided(self.known, test) is None for test in tests):
            return None
        record, self.record = self.record, False
        self.env = dict(self.starts[block])
        for statement in earlier:
            self.transfer(statement)
        self.evaluated(node.test)
        self.record = record
        return self.env


def _leaves(block: Block | None) -> bool:
    """Whether a block ends with a return: what holds there does not go on."""
    return block is not None and bool(block.body) and isinstance(block.body[-1], Return)
