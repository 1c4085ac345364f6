"""How the places of names move along the statements of a function."""

import dataclasses
import functools
import operator

from ...model.copy import clone
from ...model.effects import Apply, New, Read, Write
from ...model.expressions import Attribute, Call, Lambda, Name, NamedExpression, Subscript
from ...model.names import dotted, in_scope, names_assigned, names_in
from ...model.node import Node, Statement
from ...model.operators import Compare, sides
from ...model.program import Class, File, Function
from ...model.statements import (
    Assign,
    ExpressionStatement,
    For,
    If,
    Raise,
    Return,
    Try,
    While,
    With,
)
from ..values import lattice
from ..values.lattice import UNKNOWN, External, Module, Sequence, Static, Tensor, Torch
from .access_paths import of
from .flow_state import COMPUTED, Program
from .indices import number
from .inplace_names import is_tensor
from .joins import Ways
from .locations import Part, Passed, fresh, merge
from .returned_memory import outputs

_KEEPING = frozenset("append add insert extend appendleft extendleft update setdefault".split())
_CALLS = (Apply, New)
_KEPT = (Call, *_CALLS, NamedExpression)
_READING = ("items", "keys", "values", "get")


class Flow(Ways):
    """An environment on its way through a function; with `record` it stays known before each
    statement."""

    def __init__(self, program: Program, scope: Function | File | Lambda) -> None:
        super().__init__(program, scope)
        self.indices: dict[For, Name] = {}  # for loops over rows, the name of the number of a turn

    def transfer(self, node: Statement) -> None:
        """Move past a statement, compound ones included."""
        if self.record:
            self.before[node] = dict(self.env)
        if isinstance(node, (Function, Class)):
            self.env[node.name] = fresh(*self.defaults(node) if isinstance(node, Function) else ())
        elif isinstance(node, If):
            self.branch(node)
        elif isinstance(node, (For, While)):
            self._loop(node)
        elif isinstance(node, With):
            for context, target in node.pairs:
                self.evaluated(context)
                if target is not None:
                    self.bind(target, context)
            self.block(node.body)
        elif isinstance(node, Try):
            self._try(node)
        else:
            self.past_simple(node)

    def _loop(self, node: For | While) -> None:
        record, self.record = self.record, False
        before = dict(self.env)
        for turn in range(2):
            start = dict(self.env)
            self.evaluated(node.iterable if isinstance(node, For) else node.test)
            if isinstance(node, For):
                self.turn(node)
            self.block(node.body)
            if turn or not self.has_turns(node):
                self.env = merge(start, self.env)
        self.record = record
        if record:  # once more from what holds at the head of any turn
            last = self.env
            self.env = head = merge(before, self.env)
            if isinstance(node, For):
                self.turn(node)
            self.block(node.body)
            self.env = last if self.has_turns(node) else merge(head, self.env)
        self.block(node.orelse)

    def turn(self, loop: For) -> None:
        """What a loop gives its target: of `for row in x` the view x[i], by a name that is made
        for that."""
        over, target = self.path(loop.iterable), loop.target
        rows = isinstance(target, Name) and is_tensor(loop.iterable) and over is not None
        if not rows or over in names_assigned(loop.body):
            self.bind(target, Part(loop.iterable))
            return
        assert isinstance(target, Name) and over is not None
        view = Subscript(clone(loop.iterable), clone(self.row_index(loop)))
        view.value = Tensor()
        self.forget(target.id)
        self.env[target.id] = fresh(*self.places(over), view=view, base=over)

    def row_index(self, loop: For) -> Name:
        """The name for the number of a turn of a loop over rows, which nothing else has."""
        if loop not in self.indices:
            names = names_in(self.scope)
            names |= {made.id for made in self.indices.values()}
            made = Name(next(n for n in ("i", *(f"i_{k}" for k in range(2, 99))) if n not in names))
            made.value = Static(type="int")
            self.indices[loop] = made
        return self.indices[loop]

    def has_turns(self, node: For | While) -> bool:
        """Whether what a call comes to may take a loop to have turns: one over layers, or over as
        many as self says, which a model without any would not have.

            for conv in self.convs: x = conv(x) + x
        """
        if not isinstance(node, For) or self.returned is None:
            return isinstance(node, For) and self._is_told_from_one(node)
        parts = [n for n in node.iterable.walk() if isinstance(n, (Name, Attribute))]
        named = (isinstance(n, Attribute) and self.name(n) is not None for n in parts)
        return any(isinstance(of(n), Module) for n in parts) or any(named)

    def _is_told_from_one(self, loop: For) -> bool:
        """Whether a loop is over a count behind the first, of which the function has left where
        there is one alone: `if n == 1: return x` before `for j in range(1, n):`."""
        over = loop.iterable
        if not isinstance(over, Call) or of(over.function) != External("builtins.range"):
            return False
        count = dotted(over.arguments[-1])
        if len(over.arguments) != 2 or number(over.arguments[0]) != 1 or count is None:
            return False
        told, around = False, {loop, *loop.ancestors()}
        for before in getattr(self.scope.body, "body", ()):
            if before in around:
                return told
            test = before.test if isinstance(before, If) else None
            if isinstance(test, Compare) and dotted(test.operands[0]) == count:
                alone = test.operators == ["=="] and number(test.operands[1]) == 1
                told = alone and isinstance(before.body.body[-1], (Return, Raise))
            elif count in [dotted(t) for t in getattr(before, "targets", ())]:
                told = False
        return False

    def _try(self, node: Try) -> None:
        before = dict(self.env)
        self.block(node.body)
        caught = merge(before, self.env)
        self.block(node.orelse)
        ends = [self.env]
        for handler in node.handlers:
            self.env = dict(caught)
            self.block(handler.body)
            ends.append(self.env)
        self.env = functools.reduce(merge, ends)
        self.block(node.final)

    # --- simple statements -----------------------------------------------------------------------

    def evaluated(self, node: Node | None) -> None:
        """Move past an expression: what its calls keep, and the names that it gives to parts of
        itself, `(z := x * 2)`."""
        self.replaced = {}
        if node is None:
            return
        inside = [*in_scope(node, *_KEPT), node]
        for call in inside:
            if isinstance(call, Call):
                self.keep(call)
        for named in inside:
            if isinstance(named, NamedExpression):
                self.bind(named.target, named.expression)

    def past_simple(self, node: Statement) -> None:
        calls = list(in_scope(node, Call, *_CALLS))
        for base in self._given_anew(node, calls):
            self.env[base] = fresh(*self.places(base))
        self._reshape(calls)
        self.evaluated(node)
        if self.returned is not None:
            self.returned += [self.result_of(value) for value in outputs(node)]
        if isinstance(node, Assign) and node.expression is not None:
            if node.operator:
                self._augmented(node)
            else:
                self.bind_all(node.targets, node.expression)
        elif isinstance(node, Write):
            self.bind(node.target, node.value)
        elif isinstance(node, ExpressionStatement) and isinstance(node.expression, Call):
            self._called(node.expression)

    def _augmented(self, node: Assign) -> None:
        target, assert_value = node.targets[0], node.expression
        value, name = of(target), self.name(target)
        if name is None or assert_value is None:
            return
        if isinstance(value, Sequence):
            self.hold(name, assert_value)
        array = isinstance(value, (Tensor, Sequence)) or isinstance(target, Read)
        if not array and value != UNKNOWN:
            self.env[name] = fresh()

    def _called(self, call: Call) -> None:
        """`acc.append(t)`, `setattr(obj, name, t)`"""
        function = call.function
        if isinstance(function, Attribute) and function.name in _KEEPING:
            holders = set(map(self.root, sides(function.object)))
            for one in sorted(h for h in holders if h is not None):
                for argument in call.arguments:
                    self.hold(one, argument)
        elif of(function) == External("builtins.setattr") and len(call.arguments) == 3:
            holder = self.root(call.arguments[0])
            if self.paths.is_self(call.arguments[0]):
                holder = COMPUTED
            if holder is not None:
                self.hold(holder, call.arguments[2])

    def _reshape(self, calls: list[Call]) -> None:
        """Move past what gives tensors another shape in place, `x.t_()`: a view of x that was taken
        before is none of x any more."""
        for call in calls:
            if call.__class__ is not Call:
                continue
            reshapes = self.program.spellings.reshapes(call)
            if reshapes is None or not isinstance(call.function, Attribute):
                continue
            name = self.path(call.function.object)
            if name is not None:
                before, places = self.places(name), fresh(*self.places(name))
                same = [other for other, its in self.env.items() if its == before]
                self.env.update({other: places for other in [name, *same]})

    def _given_anew(self, node: Statement, calls: list[Call]) -> set[str]:
        """The holders of entries, `h` of `h = d["a"]`, to which a statement may give other entries:
        `d["a"] = x`, `d.update(o)`, `fill(d)`."""
        bases = {p.base for its in self.env.values() for p in its if p.entry is not None}
        held = {base for base in bases if base is not None}
        if not held:
            return set()
        targets = node.targets if isinstance(node, Assign) else []
        stored = [t.object for t in targets if isinstance(t, (Subscript, Attribute))]
        found = {self.name(target) for target in stored}
        for call in calls:
            value = of(call.function)
            given = [] if isinstance(value, Torch) else list(call.arguments)
            if isinstance(call.function, Attribute) and call.function.name not in _READING:
                given.append(call.function.object)
            found |= {self.name(one) for one in given}
            method = isinstance(value, lattice.Function) and value.owner is not None
            if value == External("builtins.setattr") or method:
                found.add(COMPUTED)
        return {name for name in found if name in held}

    # --- what the function gives out -------------------------------------------------------------

    def passed(self) -> Passed:
        """What a function does to memory, found by going through it."""
        if isinstance(self.scope, Lambda):
            return self.passed_on(self.shares(self.scope.body), self.made(self.scope.body), {})
        assert isinstance(self.scope, Function)
        self.returned = []
        self.block(self.scope.body)
        own = {n: its for n, its in self.env.items() if n.startswith("self.") and n.count(".") == 1}
        left = {n: its for n, its in own.items() if any(p.free != n for p in its)}
        kept = {n: self.passed_on(its, frozenset(), {}) for n, its in self.stored.items()}
        for name, places in left.items():
            kept[name] = self.passed_on(places, places, {})
            if _returns_early(self.scope):
                free = kept[name].free | {name}
                kept[name] = dataclasses.replace(kept[name], free=free, exact=False)
        given = [self.of_result(result, left) for result in self.returned]
        found = functools.reduce(operator.or_, given) if given else Passed()
        later = bool(self.scope.decorators or self.scope.asynchronous) or bool(self.scope.yields)
        return dataclasses.replace(
            found,
            exact=found.exact and not later,
            items=() if later else found.items,
            kept=tuple(sorted(kept.items())),
        )


def _returns_early(function: Function) -> bool:
    """Whether a function may end before its last statement."""
    last = function.body.body[-1] if function.body.body else None
    return any(node is not last for node in function.nodes(Return))
