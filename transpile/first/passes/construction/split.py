"""The split of `__init__`, statement by statement: what stays, and what goes to `init`, `init_state` and properties."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from typing import Any

import libcst as cst

from ... import tree
from ...arrays import Arrays
from ...callgraph import reachable
from ...context import Context
from ...project import PLAIN_MODULE, ClassInfo, FunctionInfo
from ...values import Function, Module
from ...walks import walks
from .attribute_names import AttributeNames
from .bindings import assigned, changed_attributes
from .constructors import Constructor, Original
from .copied_modules import Copied
from .copies import filled_at_once
from .declarations import declared, declared_below, makes_array
from .early_returns import without_early_returns
from .failures import fails, functions
from .in_place import staying
from .initial_values import registered_name
from .local_values import Locals
from .moves import Move, Moves
from .questions import asked_of_self
from .shared_memory import SharedMemory
from .statements import Mark, branch, one_by_one, without_dead, without_marks
from .storage import resolve


class Split:
    """Split the `__init__` of one class."""

    def __init__(self, context: Context, cls: ClassInfo, node: cst.FunctionDef, arrays: Arrays, names: AttributeNames, initialising: Set[FunctionInfo], failing: Set[FunctionInfo], walking: Set[FunctionInfo]) -> None:
        self.original = Original(context, cls, without_early_returns(Original(context, cls, node, arrays, names)), arrays, names)
        self.failing, self.walking = failing, walking
        self.locals = Locals(self.original)
        self.moves = Moves(self.original, self.locals, initialising, self._may_walk_later)
        self.changed = changed_attributes(self.original.node, self.original.self_name)
        self.result = Constructor()
        self.sharing = SharedMemory(self.original, self.locals)
        self.delayed: list[tuple[int, list[Any]]] = []  # declarations, and the places after the writes to what they hold

    def run(self) -> Constructor:
        self._all(self.original.statements, self.original.node.body)
        result = self.result
        resolve(self.original, self.locals, result)
        result.kept = without_dead(result.kept, self.locals.names - self.original.parameters, self.locals.moved)
        result.kept = [asked_of_self(self.original, s) for s in filled_at_once(self.original, result.kept)]
        result.properties = {name: [asked_of_self(self.original, s) for s in body] for name, body in result.properties.items()}
        return result

    def _all(self, statements: list[Any], block: Any) -> None:
        self.locals.blocks.append(block)
        for statement in statements:
            self._one(statement)
            self._declare(self.locals.places.end(statement) if self.delayed else 0)
        if self.delayed and len(self.locals.blocks) == 1:
            self._declare(self.delayed[-1][0])
        self.locals.blocks.pop()

    def _declare(self, place: int) -> None:
        """Put in the declarations whose values are there by a place."""
        self.result.kept.extend(line for end, lines in self.delayed if end <= place for line in lines)
        self.delayed = [(end, lines) for end, lines in self.delayed if end > place]

    def _one(self, statement: Any) -> None:
        self.locals.enter(statement)
        if isinstance(statement, cst.SimpleStatementLine):
            self.sharing.report(statement)
        if isinstance(statement, cst.SimpleStatementLine) and len(statement.body) == 1:
            if not self._is_plain_super(statement.body[0]):
                self._line(statement)
        elif isinstance(statement, (cst.If, cst.With, cst.For, cst.While, cst.Try)) and self.moves.touches_arrays(statement):
            self._compound(statement)
        elif isinstance(statement, cst.If) and any(map(self._copied, tree.nodes(statement, cst.Assign))):
            self._if(statement)
        elif isinstance(statement, cst.If) and self._walks(statement) and fails(self.original.context, statement, self.failing):
            self._if(statement)
        elif self._defers(statement):
            self._to_params(statement)
        else:
            self.locals.note(statement)
            self.result.kept.append(statement)

    def _is_plain_super(self, small: Any) -> bool:
        """`super().__init__()` where that reaches nn.Module itself."""
        if not isinstance(small, cst.Expr) or not isinstance(small.value, cst.Call):
            return False
        func, cls = small.value.func, self.original.cls
        if not isinstance(func, cst.Attribute) or func.attr.value != "__init__":
            return False
        if isinstance(func.value, cst.Call) and isinstance(func.value.func, cst.Name) and func.value.func.value == "super":
            return cls.above("__init__") is None
        text = tree.code(func.value)
        return text == "nn.Module" or self.original.context.facts.project.resolve(cls.module, text) in PLAIN_MODULE

    # ------------------------------------------------------------------ lines

    def _line(self, statement: Any) -> None:
        """A line with one small statement."""
        apart = one_by_one(statement)
        for line in apart:
            self.locals.places.put(line, self.locals.here)
        if any(self.moves.of(line, line.body[0]).where for line in apart):
            for line in apart:
                self._line(line)
            return
        move = self.moves.of(statement, statement.body[0])
        if self.moves.registers_computed(statement.body[0]):
            self.result.kept.extend(declared(self.original, statement))
            return
        if move.where:
            self._move(statement, move)
            return
        self.locals.note(statement)
        if self._defers(statement):
            self._to_params(statement)
        else:
            self.result.kept.append(statement)
        self._to_params(*self._copied(statement.body[0]))

    def _copied(self, small: Any) -> list[Any]:
        """`self.target = copy.deepcopy(self.online)`: both start with the same params."""
        copied = Copied.of(self.original, small)
        if copied is None or any(self._walks(s) and copied.reached_by(s) for s in copied.later):
            return []  # what walks over either of them later gives values where it stands
        self._to(self.result.state, *copied.state(self.result.state))
        return copied.params()

    def _move(self, statement: Any, move: Move) -> None:
        result = self.result
        self.sharing.note(statement, _set_by(self.original, statement))
        if move.where == "property":
            if self.locals.resolvable(move.value) and self._set_once(move.name, move.value) and not self.locals.stays(move.value):
                result.constants[move.name] = (statement, move.value)
                self._mark(statement)
            else:
                result.kept.append(self._eager(statement, move.name, move.value))
        elif move.where == "replaced":
            result.kept.extend(move.lines)
        elif move.where in ("params", "state"):
            self._report_late(statement)
            lost = {tree.code(n): n for line in move.lines for n in self.locals.lost(line)}
            if lost and makes_array(self.original, statement):
                self.delayed.append((self.locals.written_until(statement), declared(self.original, statement, list(lost))))
                return
            saved = {code: self._saved(n) for code, n in lost.items()}
            result.kept.extend(move.stays)
            self._to(result.params if move.where == "params" else result.state, *(self._reading(line, saved) for line in move.lines))
            self._mark(statement)

    def _report_late(self, statement: Any) -> None:
        """Report a method that runs in `init`, and reads an attribute that has another value by then."""
        called = reachable(self.original.context.facts.calls, functions(self.original.context, statement))
        for info in (f for f in called if f.owner in self.original.cls.family()):
            set_here = {id(t.target) for t in tree.nodes(info.node, cst.AssignTarget)}
            for node in tree.nodes(info.node.body, cst.Attribute):
                name = node.attr.value if tree.dotted(node.value) == info.self_name and id(node) not in set_here else None
                if name is None or self.original.array(node) is not None or isinstance(self.original.context.value(node), (Module, Function)):
                    continue
                if self.original.names.set_again(self.original.cls, name) or any(place > self.locals.here for place in self.locals.places.changed.get(name, ())):
                    self.original.context.report("taken-for-granted", node, f"{info.name} runs in init here, which comes after the constructor, and self.{name} has other values by then")

    def _saved(self, node: Any) -> str:
        """The attribute that keeps what a local or attribute has here, since it gets other values later."""
        attribute, is_new = self.locals.saved_as(node)
        if is_new:
            value = tree.expression(self.original.names.keeping(self.original.cls, tree.code(node))) if isinstance(node, cst.Attribute) else node
            self.result.kept.append(tree.assignment(f"{self.original.self_name}.{attribute}", value))
        return attribute

    def _reading(self, node: Any, saved: Mapping[str, str]) -> Any:
        """Code that reads what was saved in place of the locals and attributes that had it."""

        def before(n: Any) -> Any:
            if isinstance(n, cst.AssignTarget):
                return n
            if isinstance(n, cst.Attribute) and tree.code(n) in saved:
                return self.original.holding(n, saved[tree.code(n)])
            return None

        if not saved:
            return node
        node = tree.rewrite(node, before, only={cst.AssignTarget, cst.Attribute})
        return tree.with_names(node, lambda n: self.original.holding(n, saved[n.value]) if n.value in saved else None)

    def _to_params(self, *lines: Any) -> None:
        self._to(self.result.params, *lines)

    def _to(self, moved: list[Any], *lines: Any) -> None:
        """Put lines made of the current statement among those that moved."""
        for line in lines:
            self.locals.places.put(line, self.locals.here)
        moved.extend(lines)

    def _mark(self, statement: Any) -> None:
        """Remember where a moved statement stood: what it needs is stored there."""
        self.result.kept.append(self.locals.mark(statement))

    def _set_once(self, name: str, value: Any) -> bool:
        """Whether a constant, and what it is made of, keeps its first value: a property computes it when it is asked for."""
        if self.original.arrays.host.draws(value):
            return False
        read = {self.original.attribute(n) for n in tree.nodes(value, cst.Attribute)}
        return not ({name} | read) & self.changed

    def _eager(self, statement: Any, name: str, value: Any) -> Any:
        """A constant that cannot be a property: computed once, where it stood."""
        return tree.replace(statement, body=[self.original.setting(name, value)])

    def _defers(self, statement: Any) -> bool:
        """Whether a statement that could not be converted only gives initial values: it raises where those are made.

        A module whose initialisers are beyond us can still be built, and take its params from a checkpoint.
        """
        if not fails(self.original.context, statement, self.failing) or self._walks(statement):
            return False
        if isinstance(statement, cst.SimpleStatementLine) and not all(isinstance(s, cst.Expr) for s in statement.body):
            return False
        set_here = assigned(statement)
        elsewhere = {n for s in self.original.statements if s is not statement for n in tree.names_read(s)}
        own = any(self.original.attribute(n.target) is not None for n in tree.nodes(statement, cst.AssignTarget))
        leaves = any(isinstance(n, (cst.Return, cst.Raise)) for n in tree.walk_scope(statement))
        return not own and not leaves and not set_here & elsewhere and self.locals.resolvable(statement, set_here)

    def _may_walk_later(self, statement: Any) -> bool:
        """Whether modules may get other initial values after a statement: here, in a class below, or from outside."""
        body, calls = self.original.statements, self.original.context.facts.calls
        at = next((i for i, s in enumerate(body) if s is statement or any(n is statement for n in tree.walk(s))), -1)
        if at < 0 or any(self._walks(s) for s in body[at + (body[at] is statement) :]):
            return bool(self.walking)
        before = [f for s in body[:at] for f in functions(self.original.context, s)]
        known = {*before, *reachable(calls, before), self.original.info}
        return not self.walking <= known

    def _walks(self, statement: Any) -> bool:
        """Whether a statement gives modules other initial values: in `init` that would come too late."""
        return walks(statement) or not self.walking.isdisjoint(functions(self.original.context, statement))

    # ------------------------------------------------------------------ blocks

    def _compound(self, statement: Any) -> None:
        """A statement that holds others, some of which make arrays."""
        if isinstance(statement, cst.If):
            self._if(statement)
        elif isinstance(statement, cst.With):
            for inner in tree.body_statements(statement):
                self._one(inner)
        elif (where := self.moves.only_writes(statement)) and self.locals.resolvable(statement, self._bound_within(statement)):
            self._to(self.result.params if where == "params" else self.result.state, self.moves.unaugmented(statement))
            self._mark(statement)
        else:
            self.result.kept.append(declared_below(self.original, staying(self.original, statement)))

    def _bound_within(self, statement: Any) -> set[str]:
        """The names that a loop binds for itself alone."""
        elsewhere = {n for s in self.original.statements if s is not statement for n in tree.names_read(s) - assigned(s)}
        return assigned(statement) - elsewhere

    def _if(self, statement: cst.If) -> None:
        """A branch is split in two: one for what stays, one for what moves, under the same test."""
        then, orelse = self._side(statement), statement.orelse
        if isinstance(orelse, cst.If):
            other = self._apart(lambda: self._if(orelse))
        else:
            other = self._side(orelse) if orelse is not None else Constructor()
        self.locals.enter(statement)
        if not self.locals.resolvable(statement.test):
            self.result.kept.append(declared_below(self.original, staying(self.original, statement)))
            return
        for a, b, joined in ((then.params, other.params, self.result.params), (then.state, other.state, self.result.state)):
            if a or b:
                self._to(joined, branch(statement, a, b))
        kept = [self._with_constants(part) for part in (then, other)]
        if any(without_marks(part) for part in kept):
            self.result.kept.append(branch(statement, *map(without_marks, kept)))
        if then.params or then.state or other.params or other.state:
            self._mark(statement)
        else:
            self.result.kept.extend(item for part in kept for item in part if isinstance(item, Mark))

    def _side(self, block: Any) -> Constructor:
        statements = tree.body_statements(block)
        found = self._apart(lambda: self._all(statements, block.body))
        found.kept = [line for line in found.kept if not isinstance(tree.only_small(line), cst.Pass)]
        found.params = self.locals.with_definitions(found.params, statements)
        found.state = self.locals.with_definitions(found.state, statements)
        return found

    def _apart(self, split: Callable[[], None]) -> Constructor:
        """What a split gives, in parts of their own."""
        saved, self.result = self.result, Constructor()
        split()
        found, self.result = self.result, saved
        return found

    def _with_constants(self, part: Constructor) -> list[Any]:
        """What stays of a side; a property has no branches, so that constants made in one are computed there."""
        kept = part.kept
        for name, (line, value) in part.constants.items():
            kept = [self._eager(line, name, value) if isinstance(k, Mark) and k.statement is line else k for k in kept]
        return kept


def _set_by(original: Original, statement: Any) -> str | None:
    """The attribute that a line sets, or registers."""
    small = tree.only_small(statement)
    if isinstance(small, cst.Assign):
        return original.attribute(small.targets[0].target)
    value = getattr(small, "value", None)
    return registered_name(value) if isinstance(value, cst.Call) else None
