"""The slice of a constructor that makes its arrays: what `init` does, or `init_state`.

It holds the events of one kind, in their order, the branches around them, and the arrays that were
made on the way to them. What else they read are fields of the module by then.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from ....facts.bindings.activity import bound
from ....facts.values.lattice import NONE, UNKNOWN, Tensor
from ....model.copy import clone
from ....model.effects import Declare, Key, Read
from ....model.expressions import Attribute, Comprehension, Lambda, Name
from ....model.layout import comments
from ....model.names import target_names
from ....model.node import Expression, Node, Statement
from ....model.operators import Unary
from ....model.program import Function
from ....model.statements import Assign, Block, If, Pass
from .available import Available
from .events import Events, declares_none, is_own


@dataclass
class Slice:
    """Statements of their own, and those of the constructor that they were made of."""

    statements: list[Statement] = field(default_factory=list)
    moved: set[Statement] = field(default_factory=set)


class Slicer:
    """Makes the slices of one constructor."""

    def __init__(self, events: Events, available: Available) -> None:
        self.events, self.available = events, available
        self.function = events.function
        self._arrays = arrays_of(self.function)

    def slice(self, kind: str) -> Slice:
        found = Slice()
        needed: set[str] = set()
        found.statements = self._block(self.function.body, kind, needed, found.moved)
        found.statements[:0] = self._given(needed)
        return found

    def _given(self, needed: set[str]) -> list[Statement]:
        """What is an array on one way, and on another what the constructor was given."""
        if not needed:
            return []
        first = self.function.body.body[0]
        me = self.events.self_name
        return [
            Assign([Name(n)], Attribute(Name(me), self.available.field(n, first)))
            for n in sorted(needed)
            if self.available.is_known(n, first)
        ]

    def _block(
        self, block: Block, kind: str, needed: set[str], moved: set[Statement]
    ) -> list[Statement]:
        out: list[Statement] = []
        for statement in reversed(block.body):
            outer = self._outer(statement)
            if self.events.is_event(statement, kind):
                moved.add(statement)
                if not declares_none(statement) or self._takes_away(statement):
                    out.append(self._taken(statement, outer, needed))
            elif isinstance(statement, If) and self.events.holds(statement, kind):
                branch = self._branch(statement, kind, needed, moved, outer)
                out += [branch] if branch is not None else []
            elif isinstance(statement, If) and set(bound(statement)) & needed:
                out.append(self._choosing(statement, needed, moved, outer))
            elif self._makes(statement, needed):
                if not statement.operator:  # type: ignore[attr-defined]
                    needed -= set(bound(statement))
                out.append(self._taken(statement, outer, needed))
                moved.add(statement)
        return out[::-1]

    def _takes_away(self, statement: Statement) -> bool:
        """Whether `self.fc.bias = None` takes an array from another module."""
        if isinstance(statement, Declare) or not isinstance(statement, Assign):
            return False
        return not all(is_own(t, self.events.self_name) for t in statement.targets)

    def _branch(
        self, node: If, kind: str, needed: set[str], moved: set[Statement], outer: Statement
    ) -> Statement | None:
        behind = set(needed)
        sides = []
        for side in (node.body, node.orelse):
            inner = set(behind)
            made = self._block(side, kind, inner, moved) if side is not None else []
            needed |= inner
            sides.append(made)
        body, orelse = sides
        if not body and not orelse:
            return None
        test = clone(node.test)
        if not body:
            test, body, orelse = Unary("not", test), orelse, []
        branch = If(test, Block(body), Block(orelse) if orelse else None)
        branch.comments = comments(node)
        self._rename(branch.test, outer, needed)
        return branch

    def _choosing(
        self, node: If, needed: set[str], moved: set[Statement], outer: Statement
    ) -> Statement:
        """A branch that makes what is needed, on one of its ways."""
        before, sides = set(needed), []
        for side in (node.body, node.orelse):
            inner = set(before)
            made = self._block(side, "", inner, moved) if side is not None else []
            needed |= inner
            sides.append(made)
        body, orelse = sides
        test = clone(node.test)
        if not body:
            test, body, orelse = Unary("not", test), orelse, []
        made_if = If(test, Block(body), Block(orelse) if orelse else None)
        made_if.comments = comments(node)
        self._rename(made_if.test, outer, needed)
        inside = [s for b in (node.body, node.orelse) if b is not None for s in b.body]
        if all(s in moved for s in inside):
            moved.add(node)
        return made_if

    def _taken(self, statement: Statement, outer: Statement, needed: set[str]) -> Statement:
        made = clone(statement)
        made.comments = comments(statement)
        self._rename(made, outer, needed)
        return made

    def _rename(self, node: Node, outer: Statement, needed: set[str]) -> None:
        """Names of the constructor's become fields, but for arrays, which are made here too."""
        targets = node.targets if isinstance(node, Assign) and not node.operator else []
        own = {n for target in targets for n in target.walk() if isinstance(n, Name)}
        inside = _bound_inside(node)
        me = self.events.self_name
        for read in [n for n in node.walk() if type(n) is Attribute and is_own(n, me)]:
            if read not in own_fields(node) and self.available.changes(read.name, outer):
                field = self.available.snapshot(read.name, outer)
                read.replace(Attribute(Name(me), field))
        for name in [n for n in node.walk() if isinstance(n, Name)]:
            if name.id in inside or name.id == self.events.self_name:
                continue
            if not self.available.is_local(name.id) or name in own:
                continue
            if name.id in self._arrays or not self.available.is_known(name.id, outer):
                needed.add(name.id)
            else:
                field = self.available.field(name.id, outer)
                name.replace(Attribute(Name(self.events.self_name), field))

    def _makes(self, statement: Statement, needed: set[str]) -> bool:
        """Whether a statement gives a value to a name that is needed."""
        if not isinstance(statement, Assign) or isinstance(statement, Declare):
            return False
        return bool(set(bound(statement)) & needed)

    def _outer(self, statement: Statement) -> Statement:
        """The statement of the constructor's own block around one."""
        found = statement
        for around in statement.ancestors():
            if around is self.function:
                break
            if isinstance(around, Statement):
                found = around
        return found

    # --- what is left -----------------------------------------------------------------------------

    def remove(self, gone: set[Statement]) -> None:
        """Take statements out of the constructor, and branches that do nothing any more."""
        for statement in gone:
            take_out(statement)
        self._empty(self.function.body)

    def gone(self, moved: set[Statement]) -> set[Statement]:
        """The events among these, and what was made for them alone."""
        events = {s for s in moved if self.events.kind(s)}
        makers = moved - events
        while True:
            inside = {n for s in moved if s in makers or s in events for n in s.walk()}
            names = (n for n in self.function.body.walk() if isinstance(n, Name))
            read = {n.id for n in names if n not in inside}
            kept = {s for s in makers if not set(bound(s)) & read}
            if kept == makers:
                return events | makers
            makers = kept

    def _empty(self, block: Block) -> None:
        """Branches that do nothing any more go."""
        for statement in list(block.body):
            if not isinstance(statement, If) or not self._is_left_empty(statement):
                continue
            take_out(statement)

    def _is_left_empty(self, node: If) -> bool:
        self._empty(node.body)
        if node.orelse is not None:
            self._empty(node.orelse)
        sides = [s for side in (node.body, node.orelse) if side is not None for s in side.body]
        return bool(sides) and all(isinstance(s, Pass) and s.start < 0 for s in sides)


def own_fields(node: Node) -> set[Node]:
    """The targets of a statement."""
    return set(node.targets) if isinstance(node, Assign) else set()


def arrays_of(function: Function) -> set[str]:
    """The names of a constructor's that hold arrays which it has made."""
    found: set[str] = set()
    assigns = [a for a in function.nodes(Assign) if a.expression is not None]
    while True:
        more = {
            name
            for assign in assigns
            if _makes_array(assign.expression, found)
            for target in assign.targets
            for name in target_names(target)
        }
        if more <= found:
            return found
        found |= more


def _makes_array(value: Expression | None, arrays: set[str]) -> bool:
    assert value is not None
    if isinstance(value.value, Tensor):
        return True
    if value.value not in (None, UNKNOWN, NONE):
        return False
    return any(
        isinstance(n, (Key, Read)) or isinstance(n, Name) and n.id in arrays for n in value.walk()
    )


def take_out(statement: Statement) -> None:
    block = statement.parent
    if not isinstance(block, Block) or not any(s is statement for s in block.body):
        return
    if len(block.body) == 1:
        block.substitute(statement, [Pass()])
    else:
        block.take(statement)


def _bound_inside(node: Node) -> set[str]:
    """The names that functions and comprehensions inside bind."""
    return set(_inner_names(node))


def _inner_names(node: Node) -> Iterator[str]:
    for inner in node.walk():
        if isinstance(inner, Comprehension):
            for clause in inner.clauses:
                yield from target_names(clause.target)
        elif isinstance(inner, Lambda):
            yield from (p.name for p in inner.parameters)
