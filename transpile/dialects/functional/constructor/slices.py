"""The slice of a constructor that makes its arrays: what `init` does, or `init_state`.

It holds the events of one kind, in their order, the branches around them, and the arrays that were
made on the way to them. What else they read are fields of the module by then.
"""

from dataclasses import dataclass, field

from ....facts.bindings.activity import bound
from ....model.copy import clone
from ....model.effects import Declare, Tie, Unconverted
from ....model.empty_branches import without_empty_branches
from ....model.expressions import Attribute, Name
from ....model.layout import comments
from ....model.names import is_own, target_names
from ....model.node import Statement
from ....model.operators import turned
from ....model.positions import source_of
from ....model.statements import (
    Assign,
    Block,
    Break,
    Continue,
    Delete,
    ExpressionStatement,
    For,
    If,
    Return,
)
from ...reports import Reports
from .arrays import arrays_of, drawn_lists, take_out
from .events import Events, declares_none
from .field_names import Naming
from .init_methods import draws
from .init_scope import Available
from .mutated_lists import Changing, does_more
from .rebinding import are_apart

_NOT_AGAIN = "the arrays that are made of it cannot be made apart from the module"


@dataclass
class Slice:
    """Statements of their own, and those of the constructor that they were made of."""

    statements: list[Statement] = field(default_factory=list)
    moved: set[Statement] = field(default_factory=set)


class Slicer:
    """Makes the slices of one constructor."""

    def __init__(self, events: Events, available: Available, reports: Reports) -> None:
        self.events, self.available, self.reports = events, available, reports
        self.function = events.function
        self.changing = Changing(self.function)
        arrays = arrays_of(self.function)
        arrays |= drawn_lists(self.function, lambda node: draws(node, available.plan))
        self.naming = Naming(events, available, arrays, self.changing)

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
        first, made = self.function.body.body[0], list[Statement]()
        for name in sorted(n for n in needed if self.available.is_known(n, first)):
            if name in self.changing.in_place(self.function.body) - set(bound(self.function.body)):
                made.append(self._refused(first, f"{name} is changed, which the caller has too"))
                continue
            field = self.available.field(name, first)
            made.append(Assign([Name(name)], Attribute(Name(self.events.self_name), field)))
        return made

    def _refused(self, statement: Statement, why: str) -> Statement:
        self.reports.report("unsupported", statement, f"{why}: {_NOT_AGAIN}")
        return ExpressionStatement(Unconverted("unsupported", source_of(statement)))

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
            elif self.events.copies(statement, kind):  # the copy itself is made where it stands
                out.append(self._taken(statement, outer, needed))
            elif isinstance(statement, If) and self.events.holds(statement, kind):
                out += self._branch(statement, kind, needed, moved, outer)
            elif isinstance(statement, If) and self.changing.of(statement) & needed:
                out += self._branch(statement, "", needed, moved, outer)
                sides = [b for b in (statement.body, statement.orelse) if b is not None]
                if all(s in moved for side in sides for s in side.body):
                    moved.add(statement)
            elif self._makes(statement, needed):
                out.append(self._made(statement, needed, moved, outer))
        return out[::-1]

    def _made(
        self, statement: Statement, needed: set[str], moved: set[Statement], outer: Statement
    ) -> Statement:
        """A statement that gives needed names their values."""
        simple = isinstance(statement, (Assign, ExpressionStatement, Delete))
        if not simple and does_more(statement, self.events.self_name):
            return self._loop(statement, needed, moved, outer)
        if isinstance(statement, Assign) and not statement.operator:
            needed -= set(bound(statement))
        made = self._taken(statement, outer, needed)
        loops = (n for n in statement.walk() if isinstance(n, For))
        needed -= {name for loop in loops for name in target_names(loop.target)}
        moved.add(statement)
        return made

    def _loop(
        self, node: Statement, needed: set[str], moved: set[Statement], outer: Statement
    ) -> Statement:
        """What a loop does to names that are needed, where it also builds modules."""
        leaves = any(isinstance(n, (Break, Continue, Return)) for n in node.walk())
        if not isinstance(node, For) or leaves or node.orelse is not None:
            names = ", ".join(sorted(self.changing.of(node) & needed))
            return self._refused(node, f"{names} is made beside other things")
        before: set[str] = set()
        while before != needed:
            before = set(needed)
            needed |= self._read(node.body, needed)
        body = self._block(node.body, "", needed, moved)
        made = For(clone(node.target), clone(node.iterable), Block(body))
        made.comments = comments(node)
        self.naming.rename(made.iterable, outer, node, needed)
        needed -= set(target_names(node.target))
        return made

    def _read(self, block: Block, needed: set[str]) -> set[str]:
        """What a turn has to know: names of the turn before it."""
        found = set(needed)
        self._block(block, "", found, set())
        return found

    def _takes_away(self, statement: Statement) -> bool:
        """Whether there may be an array to take: `self.fc.bias = None` of another module, or
        `self.bias = None` of what a class above has made, or this one before."""
        if isinstance(statement, Declare):
            return self.available.is_made_above(statement.name) or self._made_before(statement)
        assert isinstance(statement, Assign)
        return not all(is_own(t, self.events.self_name) for t in statement.targets)

    def _made_before(self, absent: Declare) -> bool:
        """Whether the array has been made by then, on a way that leads here."""
        for made in self.function.nodes(Declare):
            if made is absent:
                return False
            if made.name == absent.name and not declares_none(made):
                if not are_apart(made, absent):
                    return True
        return False

    def _branch(
        self, node: If, kind: str, needed: set[str], moved: set[Statement], outer: Statement
    ) -> list[Statement]:
        """A branch that makes what is needed, on one of its ways; nothing where none does."""
        before, sides = set(needed), []
        for side in (node.body, node.orelse):
            inner = set(before)
            made = self._block(side, kind, inner, moved) if side is not None else []
            needed |= inner
            sides.append(made)
        body, orelse = sides
        if not body and not orelse:
            return []
        test = clone(node.test)
        if not body:
            test, body, orelse = turned(test), orelse, []
        branch = If(test, Block(body), Block(orelse) if orelse else None)
        branch.comments = comments(node)
        self.naming.rename(branch.test, outer, node, needed)
        return [branch]

    def _taken(self, statement: Statement, outer: Statement, needed: set[str]) -> Statement:
        turning = self.naming.turning(statement, statement)
        if turning:
            needed |= set(bound(statement))
            return self._refused(statement, f"self.{turning[0]} is another one in each turn")
        made = clone(statement)
        made.comments = comments(statement)
        if not isinstance(statement, Tie):  # whose paths are those of params, not values
            self.naming.rename(made, outer, statement, needed)
        return made

    def _makes(self, statement: Statement, needed: set[str]) -> bool:
        """Whether a statement gives a value to a name that is needed."""
        if isinstance(statement, Declare):
            return False
        return bool(self.changing.of(statement) & needed)

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
        without_empty_branches(self.function.body)

    def gone(self, moved: set[Statement]) -> set[Statement]:
        """The events among these, and what was made for them alone."""
        events = {s for s in moved if self.events.kind(s)}
        makers = moved - events
        stored = {s: self.available.stored_behind(self._outer(s)) for s in makers}
        while True:
            inside = {n for s in moved if s in makers or s in events for n in s.walk()}
            names = (n for n in self.function.body.walk() if isinstance(n, Name))
            read = {n.id for n in names if n not in inside}
            kept = {s for s in makers if not self.changing.of(s) & (read | stored[s])}
            if kept == makers:
                return events | makers
            makers = kept
