"""Writes to params of modules that stand elsewhere: each gives a new module for its place.

zeros_(self.head.bias)          self.head = eqx.tree_at(lambda m: m.bias, self.head, v)
init(self.fc)                   self.fc = init(self.fc)
m.i, m.f = i, -1                m = nn.with_field(m, "i", i)
                                m = nn.with_field(m, "f", -1)
"""

from __future__ import annotations

from ...facts.values.lattice import NONE, Module
from ...model.control_flow import Cond, Loop, Repeat, Scan, leave_to_python
from ...model.copy import clone
from ...model.edits import block_of, leave_out
from ...model.effects import BUFFER, CONSTANT, Declare, Key, New, Read, Support, Write
from ...model.expressions import Attribute, Call, Constant, Display, Name, Subscript
from ...model.names import root
from ...model.node import Expression, Node, Statement
from ...model.operators import Compare
from ...model.program import Function
from ...model.statements import (
    Assign,
    Block,
    Declaration,
    Delete,
    ExpressionStatement,
    For,
    If,
    Return,
)
from ...model.unpacking import pairs
from ..reports import Reports
from ..sharing.ties import below
from ..threading.iteration_counts import at_start
from ..threading.module_changes import child_set, is_applied, is_part_of_module, sets_on_module
from .computed_names import FIELD
from .field_writes import is_leaf, may_be_none
from .loop_bodies import freezes, is_read_below
from .loops import Loops
from .module_lists import (
    is_list,
    makes_list,
    named_layer,
    of_list,
    stored,
    with_layer,
    with_layers,
    without_layer,
)
from .module_paths import Places, Unplaced
from .plan import Plan

_FROZEN = "arrays have no requires_grad: say what is trained where gradients are taken"
_YIELDED = "what runs here has the module as it was: give the changed module to what is called"


class Changing:
    """Writes the changes of one function; those of modules that it has no place for are left."""

    def __init__(self, function: Function, plan: Plan, reports: Reports) -> None:
        self.function, self.plan, self.reports = function, plan, reports
        self.changes = plan.signatures.changes
        self.building = plan.is_building(function)
        changed = self.changes.parameter(function)
        self.places = Places(function, self.building, changed, self._gives_back)
        self._loops = Loops(function, plan, self.places, self._block)

    def write(self) -> list[Function]:
        """Returns the functions that were made: their draws have keys of their own."""
        changed = self.changes.parameter(self.function)
        if changed is not None and (given := self.function.yields):
            self.reports.unconverted("parameter-write", given[0], _YIELDED)
        if self.building:
            self._under_python()
        self._block(self.function.body)
        if changed is not None:
            self._give_back(self.function, changed)
        if self.places.around:
            at_start(self.function.body, Declaration("nonlocal", sorted(self.places.around)))
        return self._loops.made

    def _under_python(self) -> None:
        """What changes modules by data is left to Python: while a model is built they are there,
        and a module that a function of JAX's sets would keep what is traced."""
        for node in self.function.nodes(Cond, Loop, Repeat, Scan):
            if any(map(self._may_change, node.walk())):
                leave_to_python(node)

    def _may_change(self, node: Node) -> bool:
        if not isinstance(node, Call) or isinstance(node, New):
            return isinstance(node, (Write, Declare))
        building = self.plan.signatures.building
        runs = not building.isdisjoint(self.changes.targets(node) or ())
        return runs or self.changes.argument(node) is not None

    def _block(self, block: Block) -> None:
        for statement in [s for whole in list(block.body) for s in self._apart(whole)]:
            if freezes(statement):
                self.reports.report("frozen-param", statement, _FROZEN)
                leave_out(statement)
                continue
            try:
                self._statement(statement)
            except Unplaced as why:
                id = "module-walk" if isinstance(statement, For) else "parameter-write"
                self.reports.refuse(id, statement, str(why))

    def _apart(self, statement: Statement) -> list[Statement]:
        """`m.i, m.f = i, -1`, of which no part reads what another sets, as one for each."""
        target = statement.targets[0] if isinstance(statement, Assign) else None
        if not isinstance(target, Display) or not self._sets_parts(target):
            return [statement]
        assert isinstance(statement, Assign) and statement.expression is not None
        found = list(pairs(target, statement.expression))
        reading = (Attribute, Subscript, Call)
        read = any(isinstance(n, reading) for _, v in found for n in v.walk())
        if read or any(isinstance(t, Name) for t, _ in found):
            return [statement]
        made: list[Statement] = [Assign([clone(t)], clone(v)) for t, v in found]
        block_of(statement).substitute(statement, made)
        return made

    def _sets_parts(self, target: Display) -> bool:
        parts = [t for t in target.elements if is_part_of_module(t)]
        return not all(map(self.places.is_own_attribute, parts))

    def _statement(self, statement: Statement) -> None:
        if isinstance(statement, Function):
            return
        made: list[Statement] | None = None
        if isinstance(statement, Write):
            made = self._write(statement)
        elif isinstance(statement, Assign):
            made = self._assign(statement)
        elif isinstance(statement, For):
            made = self._loops.write(statement)
        elif isinstance(statement, ExpressionStatement):
            made = self._call(statement)
        elif isinstance(statement, Delete):
            made = without_layer(self.places, statement)
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
        if isinstance(target, Read) and _is_of_bare(target):
            return [_set_on_bare(target, value)]
        owner = self._owner(target) if isinstance(target, Read) else None
        if owner is not None and isinstance(target, Read):  # where it is tied by now
            tied = Compare([Attribute(clone(target.object), target.name), Constant(None)], ["is"])
            there = Block(self.places.store(owner, clone(value)))
            return [If(tied, there, Block(self.places.store(target, value)))]
        return self.places.store(target, value)

    def _owner(self, target: Read) -> Expression | None:
        """The array that one of a module is tied to, in some constructor."""
        me = self.places.self_name if self.building else None
        ties = self.plan.ties.of(self.function.owner)
        tied = ties.array(below(target.object, me), target.name)
        return tied.owned(me) if tied is not None and me is not None else None

    def _assign(self, assign: Assign) -> list[Statement] | None:
        """`self.fc.bias = v`: a submodule is not written, but replaced."""
        if isinstance(assign, Declare) or assign.expression is None or len(assign.targets) != 1:
            return None
        target = assign.targets[0]
        if isinstance(target, Display) and self._sets_parts(target):
            raise Unplaced("several fields of a module are set at once: set one after the other")
        if assign.expression.value == NONE:  # `done = zero(self.a)`, which gives nothing in torch
            filled = self._call(ExpressionStatement(clone(assign.expression)))
            return filled and [*filled, Assign([target], Constant(None))]
        if assign.operator and is_list(self.plan.project, target.value):
            return with_layers(self.places, target, assign.expression)
        held = target.object.value if isinstance(target, Subscript) else None
        if is_list(self.plan.project, held) and self.places.has(target):
            return self.places.store(target, assign.expression)  # `self.net[1] = nn.Tanh()`
        if isinstance(target, Attribute) and is_list(self.plan.project, target.object.value):
            added = named_layer(self.places, target, assign.expression)
            if added is not None:
                return added
        if not is_part_of_module(target) or self.places.is_own_attribute(target):
            return None
        assert isinstance(target, Attribute)
        if assign.operator or not self.places.has(target):
            return None
        if _is_of_bare(target):
            return [_set_on_bare(target, assign.expression)]
        modules = self.plan.modules
        if isinstance(target, Read) or is_leaf(target, assign.expression, modules):
            return self.places.store(target, assign.expression, may_be_none(target, modules))
        # what is no array is static, and no leaf of a tree
        given = [clone(target.object), Constant(target.name), assign.expression]
        return self.places.store(target.object, Call(Support("with_field"), given))

    # --- calls of what changes a module -----------------------------------------------------------

    def _call(self, statement: ExpressionStatement) -> list[Statement] | None:
        call = statement.expression
        if isinstance(call, Call) and (child := child_set(call)) is not None:
            if is_read_below(statement, child.id):
                raise Unplaced("a loop goes on with a module in the place of which it put another")
            return [Assign([Name(child.id)], call.arguments[2])]
        added = with_layer(self.places, call, self.plan.project) if isinstance(call, Call) else None
        if added is not None:
            return added
        if isinstance(call, Call) and sets_on_module(call):
            raise Unplaced("an attribute is set on a module that has been built")
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

    def _give_back(self, function: Function, name: str) -> None:
        for statement in function.nodes(Return):
            statement.replace(Return(Name(name)))
        last = function.body.body[-1]
        if not isinstance(last, Return):
            function.body.append([Return(Name(name))])


def _is_of_bare(target: Attribute | Read) -> bool:
    """Whether it is a part of `self.mid = nn.Module()`, which is of no class with fields."""
    holder = target.object.value
    return isinstance(holder, Module) and holder.is_bare


def _set_on_bare(target: Attribute | Read, value: Expression) -> Assign:
    held = Attribute(clone(target.object), FIELD)
    return Assign([Subscript(held, Constant(target.name))], value)
