"""Keys as values: every draw of a function gets a key of its own.

n draws     keys = nn.split(key, n), and keys[0], keys[1], …; one draw uses the key itself
branches    that exclude each other share their keys
loops       one key a turn, all from one split: for x, k in zip(xs, nn.split(key, n))
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from ...model.control_flow import Loop, Repeat, Scan
from ...model.copy import clone
from ...model.effects import Key, Support
from ...model.expressions import (
    Call,
    Comprehension,
    Constant,
    Display,
    ForClause,
    Lambda,
    Name,
    Subscript,
)
from ...model.iteration import turns
from ...model.names import target_names
from ...model.node import Expression, Node, Statement
from ...model.program import Class, Function
from ...model.statements import Assign, Block, Break, Continue, For, If, Raise, Return, While
from .iteration_counts import at_start, beginning, length, pair, word

Give = Callable[[Expression], None]
_LEAVING = (Return, Raise, Break, Continue)


class Form:
    """What a dialect says of keys."""

    def draws(self, node: Node) -> bool:
        """Whether a node, apart from what is below it, needs a key: a `Key`, a call."""
        raise NotImplementedError

    def give(self, node: Node, key: Expression) -> None:
        """Give a call its key."""
        if isinstance(node, Key):
            node.replace(key)
        elif isinstance(node, Call):
            node.append(key, "key")

    def split(self, key: Expression, count: Expression) -> Expression:
        """Several keys of one."""
        return Call(Support("split"), [key, count])

    def rows(self, key: Expression, count: Expression) -> Expression:
        """Several keys as the rows of a scan; None where there is no key."""
        return Call(Support("split_rows"), [key, count])

    def stream(self, key: Expression) -> Expression:
        """Keys without end of one, for turns that nobody counts."""
        return Call(Support("key_stream"), [key])


@dataclass
class Slots:
    """The draws of one stretch of code that runs once, each with the number of its key."""

    taken: list[tuple[int, Give]] = field(default_factory=list)
    count: int = 0

    def add(self, give: Give) -> None:
        self.taken.append((self.count, give))
        self.count += 1


class Keys:
    """Gives keys to the draws of one function. `rows` are the keys of scans, by the loop."""

    def __init__(self, form: Form, fresh: Callable[[str], str]) -> None:
        self.form, self.fresh = form, fresh
        self.rows: dict[Scan, tuple[str, Expression]] = {}
        self.carried: dict[Loop | Repeat, str] = {}
        self.before: list[tuple[Statement, Statement]] = []
        self._names: list[str] = []  # of the keys of turns, outer before inner
        self._several: dict[int, str] | None = None  # of what is split, by the loops around
        self._asked, self._depth = set[int](), 0

    def function(self, function: Function, key: str) -> None:
        """Give keys to all draws in a function, whose own key has this name: nothing is given
        before it is known which loops split one, since outer ones get the plain name `keys`."""
        self._several = None
        self._fill(function.body, Name(key))
        self._several = {depth: self.fresh("keys") for depth in sorted(self._asked)}
        self._fill(function.body, Name(key))

    def expression(self, body: Expression, key: Expression) -> None:
        """Give keys to all draws of an expression, of this one key."""
        slots, self._several = Slots(), {}
        self._expressions(body, slots)
        self._hand(slots, key, None)

    # --- allotment --------------------------------------------------------------------------------

    def _fill(self, block: Block, key: Expression) -> None:
        """Give keys to the draws of a block that runs once for a key."""
        slots = Slots()
        self._block(block, slots)
        self._hand(slots, key, block)

    def _hand(self, slots: Slots, key: Expression, block: Block | None) -> None:
        count = max((number for number, _ in slots.taken), default=-1) + 1
        if self._several is None:
            self._asked |= {self._depth} if count > 1 and block is not None else set()
            return
        if count <= 1:
            for _, give in slots.taken:
                give(clone(key))
            return
        if block is None:  # inside an expression there is no place for a statement
            for number, give in slots.taken:
                several = self.form.split(clone(key), Constant(count))
                give(Subscript(several, Constant(number)))
            return
        keys = self._several[self._depth]
        at_start(block, Assign([Name(keys)], self.form.split(key, Constant(count))))
        for number, give in slots.taken:
            give(Subscript(Name(keys), Constant(number)))

    def _block(self, block: Block | None, slots: Slots) -> None:
        """`if a: return f(x)` and what follows it exclude each other."""
        most = 0
        for statement in list(block.body) if block is not None else ():
            if isinstance(statement, If) and isinstance(statement.body.body[-1], _LEAVING):
                self._expressions(statement.test, slots)
                start = slots.count
                self._block(statement.body, slots)
                most, slots.count = max(most, slots.count), start
                self._block(statement.orelse, slots)
            else:
                self._statement(statement, slots)
        slots.count = max(most, slots.count)

    def _statement(self, statement: Statement, slots: Slots) -> None:
        if isinstance(statement, (Function, Class)):
            if isinstance(statement, Function) and self.form.draws(statement):
                slots.add(lambda key: self.form.give(statement, key))
        elif isinstance(statement, If):
            self._expressions(statement.test, slots)
            self._sides([statement.body, statement.orelse], slots)
        elif isinstance(statement, For):
            self._expressions(statement.iterable, slots)
            self._turns(statement, slots)
            self._block(statement.orelse, slots)
        elif isinstance(statement, While):
            self._expressions(statement.test, slots)
            self._turns(statement, slots)
        else:
            for child in statement.children():
                if isinstance(child, Block):
                    self._block(child, slots)
                else:
                    self._expressions(child, slots)

    def _sides(self, sides: list[Block | None], slots: Slots) -> None:
        """Only one of them runs: they have the same keys."""
        start, most = slots.count, slots.count
        for side in sides:
            slots.count = start
            self._block(side, slots)
            most = max(most, slots.count)
        slots.count = most

    def _expressions(self, node: Node, slots: Slots) -> None:
        if isinstance(node, Comprehension):
            self._comprehension(node, slots)
            return
        if isinstance(node, Lambda):
            if self._draws_below(node.body):
                self._inside(node.body, slots)
            return
        for child in node.children():
            if isinstance(child, Block):
                self._block(child, slots)
            else:
                self._expressions(child, slots)
        if self.form.draws(node):
            slots.add(lambda key: self.form.give(node, key))

    def _inside(self, body: Expression, slots: Slots) -> None:
        """The draws of an expression that is evaluated elsewhere share what one key gives."""
        inner = Slots()
        self._expressions(body, inner)
        slots.add(lambda key: self._hand(inner, key, None))

    # --- turns ------------------------------------------------------------------------------------

    @contextmanager
    def _turn(self) -> Iterator[str]:
        """The name of the key of a turn: loops have one of their own only inside of others."""
        if self._depth == len(self._names):
            self._names.append(self.fresh("k"))
        self._depth += 1
        yield self._names[self._depth - 1]
        self._depth -= 1

    def _turns(self, loop: For | While, slots: Slots) -> None:
        if not self._draws_below(loop.body):
            return
        with self._turn() as name:
            self._fill(loop.body, Name(name))

        def give(key: Expression) -> None:
            if isinstance(loop, Scan):
                self._scan(loop, name, key)
            elif isinstance(loop, (Loop, Repeat)):
                self._carry(loop, name, key)
            elif isinstance(loop, For):
                self._zip(loop, name, key, [loop.body])
            else:
                stream = self.fresh("stream")
                self.before.append((loop, Assign([Name(stream)], self.form.stream(key))))
                at_start(loop.body, Assign([Name(name)], Call(Name("next"), [Name(stream)])))

        slots.add(give)

    def _comprehension(self, node: Comprehension, slots: Slots) -> None:
        self._expressions(node.clauses[0].iterable, slots)
        self._clauses(node, node.clauses, slots)

    def _clauses(self, node: Comprehension, clauses: Sequence[ForClause], slots: Slots) -> None:
        """The keys of what a clause's turns evaluate, the clauses inside it as well: of `m for _ in
        range(2) for m in (Linear(d, d), ReLU())` the layer is made in a turn of the first."""
        clause, *inner = clauses
        made = [node.element, *([node.key] if node.key is not None else [])]
        found = [*([inner[0].iterable] if inner else made), *clause.conditions]
        body = [*made, *inner, *clause.conditions]
        if not any(map(self._draws_below, body)):
            return
        turn = Slots()
        with self._turn() as name:
            for expression in found:
                self._expressions(expression, turn)
            if inner:
                self._clauses(node, inner, turn)
            self._hand(turn, Name(name), None)
        slots.add(lambda key: self._zip(clause, name, key, body))

    def _zip(self, loop: For | ForClause, name: str, key: Expression, body: Sequence[Node]) -> None:
        """A loop whose turns have a key each."""
        target, iterable = loop.target, loop.iterable
        used = {n.id for part in body for n in part.walk() if isinstance(n, Name)}
        unused = not used & set(target_names(target))
        count = length(iterable)
        keys = self.form.stream(key) if count is None else self.form.split(key, count)
        kind = word(iterable)
        if kind == "range" and count is not None and unused:
            target.replace(Name(name))
            iterable.replace(keys)
        elif count is not None and (begins := beginning(iterable)) is not None:
            target.wrap(lambda target: pair(target, name))
            iterable.replace(Call(Name("enumerate"), [keys, *begins]))
        elif kind == "zip" and isinstance(target, Display) and isinstance(iterable, Call):
            flat = target
            flat.wrap(lambda _: Display("tuple", [*flat.elements, Name(name)]))
            iterable.append(keys)
        else:
            target.wrap(lambda target: pair(target, name))
            iterable.wrap(lambda iterable: Call(Name("zip"), [iterable, keys]))

    def _scan(self, loop: Scan, name: str, key: Expression) -> None:
        """Keys as rows: None where there is no key."""
        over = turns(loop)
        if over is None:
            return
        count = over.count or Call(Name("len"), [clone(over.rows[0][1])])
        several = self.fresh("turn_keys")
        split = self.form.rows(key, clone(count))
        self.before.append((loop, Assign([Name(several)], split)))
        self.rows[loop] = name, Name(several)

    def _carry(self, loop: Loop | Repeat, name: str, key: Expression) -> None:
        """A key that is carried: each turn splits it."""
        carried = self.fresh("turn_key")
        self.before.append((loop, Assign([Name(carried)], key)))
        pair = Display("tuple", [Name(carried), Name(name)])
        at_start(loop.body, Assign([pair], self.form.split(Name(carried), Constant(2))))
        self.carried[loop] = carried

    def carried_by(self, loop: Loop | Repeat) -> list[str]:
        """The name of the key that a loop carries."""
        return [self.carried[loop]] if loop in self.carried else []

    def place(self) -> None:
        """Put the statements that loops need before them."""
        for loop, statement in self.before:
            block = loop.parent
            assert isinstance(block, Block)
            block.insert_before(loop, [statement])

    def _draws_below(self, node: Node) -> bool:
        return any(self.form.draws(inner) for inner in node.walk())
