"""Writes to params of modules that stand elsewhere: each gives a new module for its place.

zeros_(self.head.bias)          self.head = eqx.tree_at(lambda m: m.bias, self.head, v)
init(self.fc)                   self.fc = init(self.fc)
for m in self.modules():        def init(m):
    zeros_(m.weight)                m = eqx.tree_at(lambda m: m.weight, m, v)
                                    return m
                                nn.assign_fields(self, nn.map_modules(init, self))
"""

from __future__ import annotations

from ...facts.bindings import Liveness
from ...facts.bindings.activity import bound
from ...facts.values.lattice import NONE, Method, Module, Tensor
from ...model.copy import clone
from ...model.edits import block_of, leave_out
from ...model.effects import BUFFER, CONSTANT, Declare, Key, Read, Support, Walk, Write
from ...model.expressions import Attribute, Call, Constant, Display, Name, Subscript
from ...model.names import root, target_names
from ...model.node import Expression, Statement
from ...model.program import Function, Parameter
from ...model.statements import (
    Assign,
    Block,
    ExpressionStatement,
    For,
    Return,
)
from ..fresh import fresh, taken
from ..reports import Reports
from ..threading.changes import is_applied, is_part_of_module
from .bodies import WALKS, freezes, jumps, leaves
from .listed import makes_list, of_list, stored, with_layer
from .places import Places, Unplaced
from .plan import Plan

_UNKNOWN = "a loop changes modules or params that it comes to in a way not known"
_FROZEN = "arrays have no requires_grad: say what is trained where gradients are taken"


class Changing:
    """Writes the changes of one function; those of modules that it has no place for are left."""

    def __init__(self, function: Function, plan: Plan, reports: Reports) -> None:
        self.function, self.plan, self.reports = function, plan, reports
        self.changes = plan.signatures.changes
        self.building = plan.is_building(function)
        self.inner: list[Function] = []  # the functions that were made of loops, inner ones first
        changed = self.changes.parameter(function)
        self.places = Places(function, self.building, changed, self._gives_back)
        self._taken = taken(function)
        self._live: Liveness | None = None

    def write(self) -> list[Function]:
        """Returns the functions that were made: their draws have keys of their own."""
        changed = self.changes.parameter(self.function)
        if any(isinstance(n, Walk) for n in self.function.body.walk()):
            self._live = Liveness(self.function)
        self._block(self.function.body)
        if changed is not None:
            self._give_back(self.function, changed)
        return self.inner

    def _block(self, block: Block) -> None:
        for statement in list(block.body):
            if freezes(statement):
                self.reports.report("frozen-param", statement, _FROZEN)
                leave_out(statement)
                continue
            try:
                self._statement(statement)
            except Unplaced as why:
                id = "module-walk" if isinstance(statement, For) else "parameter-write"
                self.reports.refuse(id, statement, str(why))

    def _statement(self, statement: Statement) -> None:
        if isinstance(statement, Function):
            return
        made: list[Statement] | None = None
        if isinstance(statement, Write):
            made = self._write(statement)
        elif isinstance(statement, Assign):
            made = self._assign(statement)
        elif isinstance(statement, For):
            made = self._loop(statement)
        elif isinstance(statement, ExpressionStatement):
            made = self._call(statement)
        if made is not None:
            block_of(statement).substitute(statement, made)
            return
        for child in statement.children():
            if isinstance(child, Block):
                self._block(child)
            elif isinstance(child, Expression):
                self._expression(child)

    # --- single places ----------------------------------------------------------------------------

    def _write(self, write: Write) -> list[Statement] | None:
        target, value = write.target, write.value
        state = not self.building and self.plan.signatures.is_state(target)
        if state or not self.places.has(target):
            return None
        if isinstance(target, Read) and target.kind in (BUFFER, CONSTANT):
            value = self.plan.held(target.kind, target.name, self.function.owner, value)
            static = not self.plan.signatures.is_state(target)
            if static and not self.places.is_own_attribute(target):
                given = [clone(target.object), Constant(target.name), value]
                return self.places.store(target.object, Call(Support("with_field"), given))
        return self.places.store(target, value)

    def _assign(self, assign: Assign) -> list[Statement] | None:
        """`self.fc.bias = v`: a submodule is not written, but replaced."""
        if isinstance(assign, Declare) or assign.expression is None or len(assign.targets) != 1:
            return None
        target = assign.targets[0]
        if assign.expression.value == NONE:  # `done = zero(self.a)`, which gives nothing in torch
            filled = self._call(ExpressionStatement(clone(assign.expression)))
            return filled and [*filled, Assign([target], Constant(None))]
        if not is_part_of_module(target) or self.places.is_own_attribute(target):
            return None
        assert isinstance(target, Attribute)
        if assign.operator or not self.places.has(target):
            return None
        if isinstance(target, Read) or isinstance(assign.expression.value, (Tensor, Module)):
            return self.places.store(target, assign.expression, target.name == "bias")
        # what is no array is static, and no leaf of a tree
        given = [clone(target.object), Constant(target.name), assign.expression]
        return self.places.store(target.object, Call(Support("with_field"), given))

    # --- calls of what changes a module -----------------------------------------------------------

    def _call(self, statement: ExpressionStatement) -> list[Statement] | None:
        call = statement.expression
        if isinstance(call, Call) and (added := with_layer(self.places, call)) is not None:
            return added
        if isinstance(call, Call) and (holder := self._receiver(call)) is not None:
            if not self.places.has(holder):
                raise Unplaced("a module that is changed has been built: return what is new")
            call.function.wrap(lambda method: Call(Support("changed"), [method]))
            return self.places.store(holder, call)
        place = self.changes.argument(call) if isinstance(call, Call) else None
        if place is None or not isinstance(call, Call):
            return None
        if isinstance(place, Display):
            return stored(self.places, place, call)
        if not self.places.has(place):
            raise Unplaced("a module that is changed has been built: return what is new")
        value: Expression = self._applied(call) if is_applied(call) else call
        targets = () if is_applied(call) else self.changes.targets(call) or ()
        if any(makes_list(t, self.changes.parameter(t)) for t in targets):
            value = of_list(call, place)
        return self.places.store(place, value)

    def _receiver(self, call: Call) -> Expression | None:
        """What is built already, and set by a method of it while another module is built."""
        holder = self.changes.receiver(call) if self.building else None
        own = isinstance(holder, Name) and holder.id == self.places.self_name
        own = own or isinstance(holder, Call)  # super().reset()
        ran = set(self.changes.targets(call) or ())
        return None if own or not ran <= self.plan.signatures.building else holder

    def _expression(self, node: Expression) -> None:
        """`head = nn.Sequential(…).apply(f)`: what is new is what the call gives."""
        if any(isinstance(n, Call) and self._receiver(n) is not None for n in node.walk()):
            raise Unplaced("a method changes a module and gives something: do it in two")
        for call in [n for n in node.walk() if isinstance(n, Call) and is_applied(n)]:
            assert isinstance(call.function, Attribute)
            if root(call.function.object) is not None:
                raise Unplaced("what apply() gives back is used, and so is the module itself")
            call.replace(self._applied(call))

    def _applied(self, call: Call) -> Call:
        assert isinstance(call.function, Attribute)
        function = call.arguments[0]
        targets = self.plan.signatures.targets(call)
        if not targets or any(self.changes.parameter(t) is None for t in targets):
            raise Unplaced("what apply() calls is not a function that can give back its module")
        made = Call(Support("apply"), [clone(call.function.object), function])
        if self.plan.signatures.of_call(call).draws:
            made.append(Key(), "key")
        return made

    def _gives_back(self, call: Call, name: Name) -> bool:
        """Whether a call gives a module back that it is given."""
        return self.changes.argument(call) is name

    # --- loops ------------------------------------------------------------------------------------

    def _loop(self, loop: For) -> list[Statement] | None:
        """A loop that changes what it goes over, as a function."""
        names = target_names(loop.target)
        if not self.changes.roots(loop.body, self.building) & set(names):
            if isinstance(loop, Walk):
                self._plain(loop)
            return None
        self._check(loop, names)
        if isinstance(loop.iterable, Display):
            return self._each(loop, names)
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

    def _check(self, loop: For, names: list[str]) -> None:
        if self._live is None:
            self._live = Liveness(self.function)
        inside = set(bound(loop.body)) - set(names)
        after, before = self._live.after.get(loop, frozenset()), self._live.before.get(loop.body)
        if loop.orelse is not None or inside & (after | (before or frozenset())):
            raise Unplaced("a loop that changes modules hands names on from turn to turn")
        if leaves(loop.body) or self.places.changes_self(loop.body):
            raise Unplaced("a loop that changes modules does more than that")

    def _function(self, loop: For, names: list[str]) -> Function:
        """The body of a loop as a function that gives back what it changes."""
        name = fresh("init", self._taken)
        self._taken.add(name)
        self.places.own.update(names)
        body, changed = loop.body, names[-1]
        self._block(body)
        for jump in list(jumps(body)):
            block_of(jump).substitute(jump, [Return(Name(changed))])
        body.append([Return(Name(changed))])
        made = Function(name, [Parameter(n) for n in names], body)
        if self._draws(made):
            made.parameters.append(Parameter("key"))
            made.adopt()
        self.inner.append(made)
        return made

    def _draws(self, function: Function) -> bool:
        calls = self.plan.signatures
        return any(
            isinstance(n, Key) or isinstance(n, Call) and calls.of_call(n).draws
            for n in function.body.walk()
        )

    def _give_back(self, function: Function, name: str) -> None:
        for statement in function.nodes(Return):
            statement.replace(Return(Name(name)))
        last = function.body.body[-1]
        if not isinstance(last, Return):
            function.body.append([Return(Name(name))])
