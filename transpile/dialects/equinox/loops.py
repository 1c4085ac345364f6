"""Loops over modules that change them: each as a function that gives back what it changes.

for m in self.modules():         def init(m):
    zeros_(m.weight)                 m = eqx.tree_at(lambda m: m.weight, m, v)
                                     return m
                                 nn.assign_fields(self, nn.map_modules(init, self))
for m, s in zip(self.a, b):      def init(m, s): …
    fill_(m.bias, s)             self.a = [init(m, s) for m, s in zip(self.a, b)]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...facts.bindings import Liveness
from ...facts.bindings.activity import bound
from ...facts.values.lattice import Method, Module
from ...model.copy import clone
from ...model.edits import block_of
from ...model.effects import Key, Support, Walk
from ...model.expressions import (
    Attribute,
    Call,
    Comprehension,
    Constant,
    Display,
    ForClause,
    Name,
    Subscript,
)
from ...model.fallthrough import own_jumps
from ...model.fresh_names import taken
from ...model.names import dotted, reads_of, target_names, text
from ...model.node import Expression, Statement
from ...model.program import Function, Parameter
from ...model.statements import Assign, Block, ExpressionStatement, For, Return
from ..fresh_names import fresh
from .loop_bodies import WALKS, leaves
from .module_paths import Places, Unplaced
from .plan import Plan

_UNKNOWN = "a loop changes modules or params that it comes to in a way not known"
_BESIDE = ("zip", "enumerate")
_LISTED = frozenset({"torch.nn.ModuleList"})


class Loops:
    """The loops of one function. `write`: writes the changes of the block of a loop."""

    def __init__(
        self, function: Function, plan: Plan, places: Places, write: Callable[[Block], None]
    ) -> None:
        self.function, self.plan, self.places, self._write = function, plan, places, write
        self.changes = plan.signatures.changes
        self.building = plan.is_building(function)
        self.made: list[Function] = []  # the functions, inner ones first
        self._taken = taken(function)
        # asked before anything is edited
        walks = any(isinstance(n, Walk) for n in function.body.walk())
        self._live: Liveness | None = Liveness(function) if walks else None

    def write(self, loop: For) -> list[Statement] | None:
        """A loop that changes what it goes over, as a function."""
        names = target_names(loop.target)
        if not self.changes.roots(loop.body, self.building) & set(names):
            if isinstance(loop, Walk):
                self._plain(loop)
            return None
        self._check(loop, names)
        self._written_out(loop.iterable)
        if isinstance(loop.iterable, Display):
            return self._each(loop, names)
        if isinstance(loop.iterable, Call) and dotted(loop.iterable.function) in _BESIDE:
            return self._beside(loop, names)
        place, word, named = self._walked(loop.iterable)
        if not self.places.has(place):
            raise Unplaced(_UNKNOWN)
        if len(names) != 1 + named:
            raise Unplaced("a loop changes what it goes over, under names that cannot be told")
        made = self._function(loop, names)
        call = Call(Support(word), [Name(made.name), clone(place)])
        if named:
            call.append(Constant(True), "named")
        if self._draws(made):
            call.append(Key(), "key")
        if (held := self.plan.names_of(place, self.function)) is not None:
            given = [clone(held.object), held, call]
            return [made, ExpressionStatement(Call(Support("assign_named"), given))]
        return [made, *self.places.store(place, call)]

    def _written_out(self, over: Expression) -> None:
        """Let loops, where nothing else reads it, go over the places that a list is made of:
        `nets = [self.a, self.b]` has the modules as they were."""
        listed = self.places.stands_for(over)
        if not isinstance(over, Name) or not isinstance(listed, Display):
            return
        made, reads = listed.parent, reads_of(self.function, over.id)
        if not isinstance(made, Assign) or len(made.targets) > 1:
            return
        later = (a for a in self.function.nodes(Assign) if a.start > made.start)
        anew = {text(t) for assign in later for t in assign.targets}
        looped = all(isinstance(r.parent, For) and r.parent.iterable is r for r in reads)
        if looped and anew.isdisjoint(map(text, listed.elements)):
            for read in reads:
                read.replace(clone(listed))
            block_of(made).remove(made)

    def _plain(self, loop: Walk) -> None:
        """A walk that changes nothing: `for m in nn.modules(self)`."""
        _, word, named = self._walked(loop.iterable)
        if self.places.changes_self(loop.body):
            raise Unplaced("what a walk over modules does here has no form in Equinox")
        helper = word.removeprefix("map_")
        call = loop.iterable
        assert isinstance(call, Call) and isinstance(call.function, Attribute)
        made = Call(Support(f"named_{helper}" if named else helper), [call.function.object])
        call.replace(made)
        loop.become(For(loop.target, loop.iterable, loop.body, loop.orelse))

    def _walked(self, iterable: Expression) -> tuple[Expression, str, bool]:
        """The place that a loop goes over, what maps it, and whether there are names."""
        if isinstance(iterable, Call) and isinstance(iterable.function, Attribute):
            function = iterable.function
            known = isinstance(function.value, Method) or function.name in ("values", "items")
            if function.name in WALKS and known and not iterable.arguments:
                return function.object, *WALKS[function.name]
        elif isinstance(iterable, (Name, Attribute, Subscript)):
            given = isinstance(iterable, Name) and iterable.id in self.places.own
            if (
                given
                or isinstance(iterable.value, Module)
                or self.plan.names_of(iterable, self.function)
            ):
                return iterable, "map_children", False
        raise Unplaced(_UNKNOWN)

    def _each(self, loop: For, names: list[str]) -> list[Statement]:
        """`for m in (self.a, self.b)`: one call for each."""
        elements = loop.iterable.elements  # type: ignore[attr-defined]
        if len(names) != 1 or not all(self.places.has(e) for e in elements):
            raise Unplaced("a loop changes modules that it comes to in a way not known")
        made = self._function(loop, names)
        stored: list[Statement] = []
        for element in elements:
            call = Call(Name(made.name), [clone(element)])
            if self._draws(made):
                call.append(Key(), "key")
            stored += self.places.store(element, call)
        return [made, *stored]

    def _beside(self, loop: For, names: list[str]) -> list[Statement]:
        """`for m, s in zip(self.heads, scales)`: a list of what it gives for each."""
        zipped: Any = loop.iterable
        changed = self.changes.roots(loop.body, self.building) & set(names)
        given = zipped.arguments if dotted(zipped.function) == "zip" else [None, *zipped.arguments]
        known = isinstance(loop.target, Display) and len(names) == len(given) and len(changed) == 1
        place = given[names.index(min(changed))] if known else None
        held = getattr(getattr(place, "value", None), "classes", frozenset[str]())
        if place is None or not held <= _LISTED or not self.places.has(place):
            raise Unplaced(_UNKNOWN)
        made = self._function(loop, names, min(changed))
        if self._draws(made):
            raise Unplaced("a loop that draws changes modules beside something else")
        call = Call(Name(made.name), [Name(n) for n in names])
        clause = ForClause(clone(loop.target), clone(zipped))
        return [made, *self.places.store(place, Comprehension("list", None, call, [clause]))]

    def _check(self, loop: For, names: list[str]) -> None:
        if self._live is None:
            self._live = Liveness(self.function)
        inside = set(bound(loop.body)) - set(names)
        after, before = self._live.after.get(loop, frozenset()), self._live.before.get(loop.body)
        if loop.orelse is not None or inside & (after | (before or frozenset())):
            raise Unplaced("a loop that changes modules hands names on from turn to turn")
        if leaves(loop.body) or self.places.changes_self(loop.body):
            raise Unplaced("a loop that changes modules does more than that")

    def _function(self, loop: For, names: list[str], changed: str = "") -> Function:
        """The body of a loop as a function that gives back what it changes, by default the last."""
        name = fresh("init", self._taken)
        self._taken.add(name)
        self.places.own.update(names)
        body, changed = loop.body, changed or names[-1]
        self._write(body)
        for jump in own_jumps(body):
            block_of(jump).substitute(jump, [Return(Name(changed))])
        body.append([Return(Name(changed))])
        made = Function(name, [Parameter(n) for n in names], body)
        if self._draws(made):
            made.parameters.append(Parameter("key"))
            made.adopt()
        self.made.append(made)
        return made

    def _draws(self, function: Function) -> bool:
        calls = self.plan.signatures
        return any(
            isinstance(n, Key) or isinstance(n, Call) and calls.of_call(n).draws
            for n in function.body.walk()
        )
