"""Which names are read later: a backward analysis over structured control flow."""

from collections.abc import Iterable, Set

from ...model.control_flow import Loop, Scan
from ...model.node import Node, Statement
from ...model.program import Function
from ...model.statements import Block, Break, Continue, For, If, Raise, Return, Try, While, With
from .activity import Event, Kind, events, targets

Names = frozenset[str]
_NONE: Names = frozenset()


class Liveness:
    """The names that are live after each statement of a function, and where each block begins.

    What functions inside read is live from their definition to the end: they may be called
    anywhere.
    """

    def __init__(
        self, function: Function, at_end: Names = _NONE, unread: Set[Node] = frozenset()
    ) -> None:
        self.unread = unread  # names that are written there, and whose value is not asked
        self.after: dict[Statement, Names] = {}
        self.before: dict[Node, Names] = {}
        found = list(events(function.body))
        self.captured = frozenset(e.name for e in found if e.kind is Kind.CAPTURE)
        self._break: list[Names] = []
        self._continue: list[Names] = []
        self.before[function] = self._block(function.body, at_end | self.captured)

    def _block(self, block: Block | None, live: Names) -> Names:
        if block is None:
            return live
        for statement in reversed(block.body):
            self.after[statement] = self.after.get(statement, _NONE) | live
            live = self._statement(statement, live)
            self.before[statement] = self.before.get(statement, _NONE) | live
        self.before[block] = self.before.get(block, _NONE) | live
        return live

    def _statement(self, statement: Statement, live: Names) -> Names:
        if isinstance(statement, (Return, Raise)):
            return self._through(events(statement), self.captured)
        if isinstance(statement, Break):
            return self._break[-1]
        if isinstance(statement, Continue):
            return self._continue[-1]
        if isinstance(statement, If):
            both = self._block(statement.body, live) | self._block(statement.orelse, live)
            return self._through(events(statement.test), both)
        if isinstance(statement, While):
            return self._while(statement, live)
        if isinstance(statement, For):
            return self._for(statement, live)
        if isinstance(statement, With):
            return self._with(statement, live)
        if isinstance(statement, Try):
            return self._try(statement, live)
        return self._through(events(statement), live)

    def _while(self, loop: While, live: Names) -> Names:
        after = self._block(loop.orelse, live)
        head = self._through(events(loop.test), after)
        while True:
            body = self._turn(loop.body, head, live)
            new = self._through(events(loop.test), after | body)
            if new == head:
                return self._through(events(loop.bound), head) if isinstance(loop, Loop) else head
            head = new

    def _for(self, loop: For, live: Names) -> Names:
        if isinstance(loop, Scan):
            live = live.difference(collect.name for collect in loop.collects)
        head = self._block(loop.orelse, live)
        while True:
            body = self._through(targets(loop.target), self._turn(loop.body, head, live))
            if body | head == head:
                return self._through(events(loop.iterable), head)
            head |= body

    def _turn(self, body: Block, head: Names, after: Names) -> Names:
        self._break.append(after)
        self._continue.append(head)
        found = self._block(body, head)
        self._break.pop()
        self._continue.pop()
        return found

    def _with(self, statement: With, live: Names) -> Names:
        live = self._block(statement.body, live)
        for context, target in reversed(statement.pairs):
            if target is not None:
                live = self._through(targets(target), live)
            live = self._through(events(context), live)
        return live

    def _try(self, statement: Try, live: Names) -> Names:
        """A handler may be reached from anywhere in the body: what it reads is live all over
        that."""
        live = self._block(statement.final, live)
        caught = _NONE
        for handler in statement.handlers:
            inside = self._block(handler.body, live)
            caught |= self._through(events(handler.type), inside - {handler.name or ""})
        if statement.final is not None:
            caught |= self.before[statement.final]
        orelse = self._block(statement.orelse, live)
        for inner in _statements(statement.body):
            self.after[inner] = self.after.get(inner, _NONE) | caught
        return self._block(statement.body, orelse | caught) | caught

    def _through(self, made: Iterable[Event], live: Names) -> Names:
        """What is live before some events, given what is live after them."""
        names = set(live)
        for event in reversed(list(made)):
            if event.kind in (Kind.READ, Kind.CAPTURE):
                if event.node not in self.unread:
                    names.add(event.name)
            elif event.kind is Kind.BIND:
                names.discard(event.name)
        return frozenset(names)


def _statements(block: Block) -> list[Statement]:
    return [n for n in block.walk() if isinstance(n, Statement)]
