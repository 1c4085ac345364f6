"""The attributes that one method keeps for its next call, where they are a cache."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...facts.shapes.syntactic_sizes import is_size
from ...model.constants import is_int, is_none
from ...model.edits import block_of
from ...model.expressions import Attribute, Call, Constant, Dictionary, Name, Subscript
from ...model.fresh_names import Names
from ...model.names import dotted, is_docstring, is_target, names_assigned, names_in, text
from ...model.node import Expression, Node, Statement
from ...model.operators import Boolean, Compare
from ...model.program import Function
from ...model.statements import Assign, ExpressionStatement, For, If, Return, Try, While
from ...model.statements import Pass as PassStatement
from .guards import ABSENT, compared, holds
from .stores import changed_by_call, is_changed, written

if TYPE_CHECKING:
    from . import _Caches
    from .filling_methods import Fills

_ORDERED = frozenset(("<", "<=", ">", ">="))


class Kept:
    """`names` are those of the attributes; `body` is that of the method, with what it calls to fill
    them written out."""

    def __init__(self, caches: _Caches, method: Function, fills: Fills, left: set[str]) -> None:
        self.caches, self.method, self.body = caches, method, fills.body
        self.me = method.receiver
        self.order = {node: i for i, node in enumerate(self.body.walk())}
        self.sets = list(written(self.body, self.me))
        calls = {dotted(n.function) for n in self.order if isinstance(n, Call)}
        unknown = {
            n for w, m in fills.own.items() if f"{self.me}.{w}" in calls for _, n in written(m)
        }
        self.names = {n for _, n in self.sets if caches.is_own(n)} - left - unknown
        self.built = {name: caches.built(name) for name in self.names}
        self.numbers = {p.name for p in method.parameters if is_int(p.default)}
        self.guards: list[If] = []
        while self.names and not self._holds():
            pass
        if not self.names & {name for guard in self.guards for name in self._asks(guard)}:
            self.names = set()

    @property
    def touched(self) -> set[str]:
        """The attributes of self that the method reads or sets."""
        own = (n for n in self.order if isinstance(n, Attribute) and dotted(n.object) == self.me)
        return {n.name for n in own}

    # --- is it one --------------------------------------------------------------------------------

    def _own(self, node: Node) -> list[Attribute]:
        """The attributes at or below a node that are kept."""
        found = [n for n in node.walk() if isinstance(n, Attribute) and n.name in self.names]
        return [n for n in found if dotted(n.object) == self.me]

    def _asks(self, guard: If) -> set[str]:
        texts = {n.constant for n in guard.test.walk() if isinstance(n, Constant)}
        return {n.name for n in self._own(guard.test)} | texts & self.names

    def _holds(self) -> bool:
        """Whether all names are of a cache; else those that are not are left out."""
        ifs = [n for n in self.body.walk() if isinstance(n, If)]
        last = {name: max(self.order[s] for s, n in self.sets if n == name) for name in self.names}
        # what asks for it after all that sets it only uses it
        self.guards = [n for n in ifs if any(self.order[n] < last[a] for a in self._asks(n))]
        tests = [guard.test for guard in self.guards]
        keys = {*compared(tests, self._own, self.method)} | self.numbers
        purity, method = self.caches.purity, self.method
        self.pure = purity.local_names(method, self.body, keys - {self.me}, self.names)
        gone = set[str]()
        for guard in self.guards:
            if not self._is_pure(guard.test) or not self._gives_back(guard):
                gone |= self._asks(guard)
            if not self._is_again(guard):
                gone |= self._asks(guard) | {n for _, n in written(guard.body, self.me)}
        first = {n: min(self.order[s] for s, m in self.sets if m == n) for n in self.names}
        for statement, name in self.sets:
            if name in self.names and not (self._is_fill(statement) and self._is_sure(statement)):
                gone.add(name)
        for read in self._own(self.body):
            filled = isinstance(read.parent, Subscript) and is_target(read.parent)
            if not filled and (
                is_changed(read, self.body)
                or changed_by_call(read, self.caches.project, self.method)
            ):
                gone.add(read.name)
            inside = [a for a in read.ancestors() if isinstance(a, If) and a in self.guards]
            if self.order[read] < first[read.name] and not inside and not is_target(read):
                gone.add(read.name)
        self.names -= gone
        return not gone

    def _is_sure(self, statement: Statement) -> bool:
        """Whether it stands in a guard, or in no branch or loop at all."""
        around = [n for n in statement.ancestors() if isinstance(n, (If, For, While, Try))]
        return not around or around[-1] in self.guards

    def _is_pure(self, value: Expression | None) -> bool:
        return self.caches.purity.of(value, self.method, self.pure, self.names)

    def _is_again(self, guard: If) -> bool:
        """Whether what a guard does may be done again: it fills attributes, or gives one that is
        filled. `if self.first: self.first = False; y = x` does what is done once."""
        inside = set(guard.body.walk())
        fills = [n for s, n in self.sets if s in inside]
        gives = any(isinstance(n, Return) for n in inside)
        bound = set(names_assigned(guard.body)) - set(
            names_assigned(guard.orelse) if guard.orelse is not None else ()
        )
        names = (n for n in self.order if isinstance(n, Name) and n.id in bound)
        used = any(n not in inside and not is_target(n) for n in names)
        if gives and fills or used or not all(map(self._is_filling, guard.body.body)):
            return False
        tests = [n for n in guard.test.walk() if isinstance(n, Compare) and self._own(n)]
        ordered = any(word in _ORDERED for test in tests for word in test.operators)
        return not ordered or gives or any(map(self._is_sized, inside))

    def _gives_back(self, guard: If) -> bool:
        """Whether the other side of a guard does no more than to give back under the names of the
        first what that has filled last."""
        if guard.orelse is None:
            return True
        assigns = [s for s in guard.body.walk() if isinstance(s, Assign) and len(s.targets) == 1]
        last = {dotted(s.targets[0]): s for s in assigns}
        filled = {
            (text(s.targets[0]), s.expression.id)
            for s in assigns
            if isinstance(s.expression, Name) and self._own(s.targets[0])
            if self.order[s] > self.order[last.get(s.expression.id, s)]
        }
        return self._decided(guard) is True and all(
            isinstance(s, Assign)
            and s.expression is not None
            and (text(s.expression), dotted(s.targets[0])) in filled
            for s in guard.orelse.body
        )

    def _is_sized(self, node: Node) -> bool:
        """`torch.arange(n)`, `self.make(n)`: a table for what is compared, and not itself."""
        if not isinstance(node, Call) or not isinstance(node.function, Attribute):
            return False
        parts = (n for a in node.arguments for n in a.walk())
        return any(is_size(n) or isinstance(n, Name) and n.id in self.pure for n in parts)  # type: ignore[arg-type]

    def _is_filling(self, statement: Statement) -> bool:
        """Whether a statement of a guard may be run again, or for nothing."""
        if isinstance(statement, (PassStatement, Return)) or is_docstring(statement):
            return True
        if isinstance(statement, If):
            blocks = [b for b in (statement.body, statement.orelse) if b is not None]
            inner = (s for block in blocks for s in block.body)
            return self._is_pure(statement.test) and all(map(self._is_filling, inner))
        return self._is_fill(statement)

    def _is_fill(self, statement: Statement) -> bool:
        """`self.mask = v` of what is pure, and the same of a local name."""
        if isinstance(statement, ExpressionStatement):
            kept = [n for s, n in written(statement, self.me) if s is statement]
            given = statement.expression
            return bool(kept) and set(kept) <= self.names and self._is_pure(given.arguments[1])  # type: ignore[attr-defined]
        if not isinstance(statement, Assign) or statement.operator or len(statement.targets) > 1:
            return False
        target = statement.targets[0]
        whole = target.object if isinstance(target, Subscript) else target
        own = isinstance(whole, Attribute) and whole.name in self.names
        if not own and not isinstance(whole, Name):
            return False
        own_reads = self._own(statement.expression)  # type: ignore[arg-type]
        before = [n for n in own_reads if not self._is_set_before(n)]
        return all(map(self._is_as_built, before)) and self._is_pure(statement.expression)

    def _is_as_built(self, read: Attribute) -> bool:
        """Whether what is read is what the constructor has left: in what is done where something
        is not there yet. `if self.size is None: self.size = self.base * n; self.base = None`"""
        for guard in [g for g in self.guards if g in read.ancestors()]:
            inside = set(guard.body.walk())
            once = {n for s, n in self.sets if s in inside and n in self._absent(guard.test)}
            if once and all(s in inside for s, n in self.sets if n in {*once, read.name}):
                return True
        return False

    def _absent(self, test: Expression) -> set[str]:
        """The attributes that are not there yet where a test holds: `self.size is None and x`."""
        if isinstance(test, Boolean) and test.operator == "and":
            return self._absent(test.left) | self._absent(test.right)
        if isinstance(test, Compare) and test.operators == ["is"] and is_none(test.operands[1]):
            return {n.name for n in self._own(test.operands[0])}
        return set()

    def _is_set_before(self, read: Attribute) -> bool:
        sets = {s for s, n in self.sets if n == read.name}
        before = any(self.order[s] < self.order[read] for s in sets)
        return before and sets.isdisjoint(read.ancestors())

    @property
    def is_told(self) -> bool:
        """Whether what is kept may be longer than what is asked for."""
        tests = [n for g in self.guards for n in g.test.walk() if isinstance(n, Compare)]
        return any(word in _ORDERED for test in tests for word in test.operators)

    @property
    def is_given(self) -> bool:
        """Whether a number that the method is given decides what is kept: `rank=0`."""
        return any(self.numbers & names_in(guard.body) for guard in self.guards)

    @property
    def is_decided(self) -> bool:
        """Whether no test is left that asks what the constructor has set."""
        return all(self._decided(guard) is not None for guard in self.guards)

    def _decided(self, guard: If) -> bool | None:
        return holds(guard.test, self.me, self.built) if self._is_early(guard) else None

    def _is_early(self, guard: If) -> bool:
        """Whether it asks before anything is set."""
        asked = self._asks(guard)
        return all(self.order[s] > self.order[guard] for s, n in self.sets if n in asked)

    # --- writing ----------------------------------------------------------------------------------

    def write(self, names: Names) -> None:
        """Decide the guards, and put local names in the place of attributes."""
        decided = {guard: self._decided(guard) for guard in self.guards}
        local = {name: names.fresh(name.strip("_") or name) for name in sorted(self.names)}
        left = [g for g in self.guards if decided[g] is None]
        tests = {n for g in left if self._is_early(g) for n in g.test.walk()}
        for statement, name in list(written(self.body, self.me)):
            if name in self.names and isinstance(statement, ExpressionStatement):
                given = statement.expression.arguments[1]  # type: ignore[attr-defined]
                statement.replace(Assign([Attribute(Name(self.me), name)], given))
        for guard, held in decided.items():
            if held:
                block_of(guard).unfold(guard, guard.body)
            elif held is False:
                block_of(guard).remove(guard)
        self._leave_out(tests)
        reads = [n for n in self._own(self.body) if n not in tests]
        begins = {n.name for n in reads if left or not self._is_set_first(n.name)}
        for node in reads:
            node.replace(Name(local[node.name]))
        first = next((s for s in self.body.body if not is_docstring(s)), None)
        made: list[Statement] = [self._begin(name, local[name]) for name in sorted(begins)]
        if made and first is not None:
            self.body.insert_before(first, made)

    def _begin(self, name: str, local: str) -> Statement:
        built = self.built[name]
        value: Expression = Attribute(Name(self.me), name)
        if built == {}:
            value = Dictionary([])
        elif built is ABSENT or built is None:
            value = Constant(None)
        return Assign([Name(local)], value)

    def _leave_out(self, tests: set[Node]) -> None:
        """What is set and not read: `self.seq_len_cached = n`; tests read what was built."""
        own = [n for n in self._own(self.body) if n not in tests]
        wholes = {n: n.parent if isinstance(n.parent, Subscript) else n for n in own}
        read = {n.name for n, whole in wholes.items() if not is_target(whole)}
        for node, whole in wholes.items():
            around = whole.parent
            if node.name not in read and isinstance(around, Assign) and len(around.targets) == 1:
                _remove(around)

    def _is_set_first(self, name: str) -> bool:
        own = [n for n in self._own(self.body) if n.name == name]
        first = own[0].parent if own else None
        top = isinstance(first, Assign) and is_target(own[0])
        value = first.expression if isinstance(first, Assign) else None
        within = value is not None and any(n.name == name for n in self._own(value))
        return top and first.parent is self.body and not within  # type: ignore[union-attr]


def _remove(statement: Statement) -> None:
    """Leave out a statement, and the branch that does nothing else."""
    block = block_of(statement)
    block.remove(statement)
    branch = block.parent
    if isinstance(branch, If) and branch.orelse is None and not any(map(_does, block.body)):
        block_of(branch).remove(branch)


def _does(statement: Statement) -> bool:
    return not isinstance(statement, PassStatement)
