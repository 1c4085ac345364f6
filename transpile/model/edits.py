"""Edits of a function, collected against one version of it and committed once."""

from collections.abc import Callable, Sequence
from typing import Any

from .node import Node, Statement
from .program import Scope
from .statements import Block, Pass

Make = Callable[[Any], Node]


class Edits:
    """What a pass wants of a function: facts are asked while nothing has changed yet, then
    everything changes at once.

    Inner edits go before outer ones: what is made of a node is made with what has become of its
    parts. A block of which nothing is left holds a `pass`.
    """

    def __init__(self, scope: Scope) -> None:
        self.scope, self.version = scope, scope.version
        self._edits: list[tuple[Node, Callable[[], object]]] = []

    def __bool__(self) -> bool:
        return bool(self._edits)

    def replace(self, node: Node, make: Node | Make) -> None:
        """Put another node, or what `make(node)` gives, in the place of one."""

        def edit() -> None:
            new = make if isinstance(make, Node) else make(node)
            if new is not node:
                node.replace(new)

        self._edits.append((node, edit))

    def drop(self, node: Node) -> None:
        """Forget what was wanted of one node: another edit takes its place."""
        self._edits = [edit for edit in self._edits if edit[0] is not node]

    def wrap(self, node: Node, make: Make) -> None:
        """Put a node around one: `make(node)`."""
        self.change(node, lambda node: node.wrap(make))

    def become(self, node: Node, make: Make) -> None:
        """Let a node be of another kind, with the same text."""
        self.change(node, lambda node: node.become(make(node)))

    def change(self, node: Node, edit: Callable[[Any], object]) -> None:
        """Any other edit of one node, by its own methods."""
        self._edits.append((node, lambda: edit(node)))

    def substitute(self, statement: Statement, new: Sequence[Statement]) -> None:
        """Put any number of statements in the place of one."""
        self._edits.append((statement, lambda: block_of(statement).substitute(statement, new)))

    def insert_before(self, statement: Statement, new: Sequence[Statement]) -> None:
        self._edits.append((statement, lambda: block_of(statement).insert_before(statement, new)))

    def precede(self, statement: Statement, new: Sequence[Statement]) -> None:
        self._edits.append((statement, lambda: block_of(statement).precede(statement, new)))

    def insert_after(self, statement: Statement, new: Sequence[Statement]) -> None:
        self._edits.append((statement, lambda: block_of(statement).insert_after(statement, new)))

    def remove(self, statement: Statement) -> None:
        self._edits.append((statement, lambda: block_of(statement).remove(statement)))

    def commit(self, failed: Callable[[Scope, Exception], None] | None = None) -> bool:
        """Make all edits. Returns whether there were any. `failed` is told of an edit that raises,
        with the function around it; where nobody is to be told it goes on."""
        assert self.scope.version == self.version, "the function has changed since it was looked at"
        if not self._edits:
            return False
        ordered = sorted(self._edits, key=lambda edit: depth(edit[0]), reverse=True)
        around = {node: _scope(node) for node, _ in ordered} if failed is not None else {}
        edited = [node for node, _ in ordered]
        blocks = {node.parent for node in edited if isinstance(node.parent, Block)}
        for node, edit in ordered:
            try:
                edit()
            except Exception as error:
                if failed is None:
                    raise
                failed(around[node], error)
        whole = (n for node in edited if isinstance(node, (Scope, Block)) for n in node.walk())
        for block in [*blocks, *(n for n in whole if isinstance(n, Block))]:
            if not block.body:
                block.append([Pass()])
        self._edits = []
        return True


def commit_all(edits: Sequence[Edits]) -> bool:
    """Make the edits of several scopes that were looked at together.

    A default of a parameter stands in the function, and belongs to the scope around it: the edits
    of one change the other. Returns whether there were any.
    """
    for one in edits:
        assert one.scope.version == one.version, "the function has changed since it was looked at"
    made = False
    for one in edits:
        one.version = one.scope.version
        made = one.commit() or made
    return made


def block_of(statement: Statement) -> Block:
    """The block that a statement stands in."""
    block = statement.parent
    assert isinstance(block, Block)
    return block


def leave_out(statement: Statement) -> None:
    """Take a statement out of its block; where it was alone, a `pass` stands there."""
    block = block_of(statement)
    block.substitute(statement, [] if len(block.body) > 1 else [Pass()])


def depth(node: Node) -> int:
    return sum(1 for _ in node.ancestors())


def _scope(node: Node) -> Scope:
    """The scope that a node stands in; that of a scope is itself."""
    while not isinstance(node, Scope):
        assert node.parent is not None
        node = node.parent
    return node
