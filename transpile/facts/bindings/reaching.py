"""Which definitions a name may have where it is read: reaching definitions over structured
control flow."""

from collections.abc import Iterable

from ...model.control_flow import Loop, Scan
from ...model.expressions import Name
from ...model.node import Node, Statement
from ...model.program import Function, Scope
from ...model.statements import Block, Break, Continue, For, If, Raise, Return, Try, While, With
from .activity import Event, Kind, events, targets

Reaching = dict[str, frozenset[Node | None]]
_UNBOUND: frozenset[Node | None] = frozenset([None])


class Definitions:
    """Definitions and uses of the names of one scope.

    A definition is what binds: the name in a target, a parameter, an import, a function or class.
    None among the definitions of a read stands for a way on which nothing has bound the name yet.
    """

    def __init__(self, scope: Scope) -> None:
        self.of: dict[Node, frozenset[Node | None]] = {}  # what reads a name -> its definitions
        self.uses: dict[Node, list[Node]] = {}  # a definition -> what reads it, in order
        self.everywhere: dict[str, list[Node]] = {}  # all definitions of each name
        self._jumps: list[tuple[list[Reaching], list[Reaching]]] = []
        start: Reaching = {}
        if isinstance(scope, Function):
            for parameter in scope.parameters:
                self._bind(start, parameter.name, parameter)
        self.at_end = self._block(scope.body, start)  # type: ignore[attr-defined]
        for reader, found in self.of.items():
            for definition in found:
                if definition is not None:
                    self.uses.setdefault(definition, []).append(reader)

    def unique(self, name: str) -> Node | None:
        """The one definition of a name, where it has no more."""
        found = self.everywhere.get(name, [])
        return found[0] if len(found) == 1 else None

    def definition(self, name: Name) -> Node | None:
        """The one definition that a name that is read has here; None where it may have others,
        or none yet."""
        found = self.of.get(name, frozenset())
        return next(iter(found)) if len(found) == 1 else None

    # --- the walk --------------------------------------------------------------------------------

    def _bind(self, now: Reaching, name: str, node: Node) -> None:
        known = self.everywhere.setdefault(name, [])
        if not any(d is node for d in known):
            known.append(node)
        now[name] = frozenset([node])

    def _happen(self, found: Iterable[Event], now: Reaching) -> None:
        for event in found:
            if event.kind is Kind.BIND:
                self._bind(now, event.name, event.node)
            elif event.kind is Kind.UNBIND:
                now.pop(event.name, None)
            else:
                here = now.get(event.name, _UNBOUND)
                self.of[event.node] = self.of.get(event.node, frozenset()) | here

    def _block(self, block: Block | None, now: Reaching) -> Reaching | None:
        """What reaches the end of a block; None where its end is not reached."""
        state: Reaching | None = now
        for statement in block.body if block is not None else ():
            if state is None:
                break
            state = self._statement(statement, state)
        return state

    def _statement(self, statement: Statement, now: Reaching) -> Reaching | None:
        if isinstance(statement, If):
            self._happen(events(statement.test), now)
            return _join(self._block(statement.body, dict(now)), self._block(statement.orelse, now))
        if isinstance(statement, (For, While)):
            return self._loop(statement, now)
        if isinstance(statement, With):
            for context, target in statement.pairs:
                self._happen(events(context), now)
                if target is not None:
                    self._happen(targets(target), now)
            return self._block(statement.body, now)
        if isinstance(statement, Try):
            return self._try(statement, now)
        self._happen(events(statement), now)
        if isinstance(statement, (Break, Continue)) and self._jumps:
            self._jumps[-1][isinstance(statement, Continue)].append(now)
        return None if isinstance(statement, (Return, Raise, Break, Continue)) else now

    def _loop(self, loop: For | While, now: Reaching) -> Reaching | None:
        if isinstance(loop, For):
            self._happen(events(loop.iterable), now)
        elif isinstance(loop, Loop):
            self._happen(events(loop.bound), now)
        head = now
        while True:
            before = dict(head)
            self._jumps.append(([], []))
            turn: Reaching | None = dict(head)
            assert turn is not None
            if isinstance(loop, For):
                self._happen(targets(loop.target), turn)
            else:
                self._happen(events(loop.test), turn)
                head = dict(turn)  # what the test binds is bound after the loop
            turn = self._block(loop.body, turn)
            left, continued = self._jumps.pop()
            for state in [turn, *continued]:
                head = _join(head, state) or head
            if head == before:
                break
        done = self._block(loop.orelse, dict(head))
        for state in left:
            done = _join(done, state)
        if isinstance(loop, Scan) and done is not None:
            for collect in loop.collects:
                self._bind(done, collect.name, collect)
        return done

    def _try(self, statement: Try, now: Reaching) -> Reaching | None:
        """A handler may be reached from anywhere in the body."""
        anywhere = dict(now)
        done: Reaching | None = dict(now)
        for inner in statement.body.body:
            if done is None:
                break
            done = self._statement(inner, done)
            anywhere = _join(anywhere, done) or anywhere
        for name in {e.name for e in events(statement.body) if e.kind is Kind.BIND}:
            every: frozenset[Node | None] = frozenset(self.everywhere.get(name, ()))
            anywhere[name] = anywhere.get(name, _UNBOUND) | every
        done = self._block(statement.orelse, done) if done is not None else None
        for handler in statement.handlers:
            state = dict(anywhere)
            self._happen(events(handler.type), state)
            if handler.name is not None:
                self._bind(state, handler.name, handler)
            done = _join(done, self._block(handler.body, state))
        if statement.final is None:
            return done
        after = self._block(statement.final, _join(anywhere, done) or anywhere)
        return after if done is not None else None


def _join(a: Reaching | None, b: Reaching | None) -> Reaching | None:
    """What may reach the place where two ways meet."""
    if a is None or b is None:
        return a if b is None else b
    return {name: a.get(name, _UNBOUND) | b.get(name, _UNBOUND) for name in {**a, **b}}
