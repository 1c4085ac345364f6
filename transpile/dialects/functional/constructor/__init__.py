"""The split of a constructor: hyperparameters and submodules stay, arrays move to `init`.

self.fc = Linear(3, 4)            self.fc = nn.Linear(3, 4)
self.scale = Parameter(ones(4))   init:  params["scale"] = jnp.ones(4)
zeros_(self.fc.bias)                     params["fc"]["bias"] = jnp.zeros_like(…)
"""

from collections.abc import Set

from ....facts.modules import ARRAYS, FIELD, SUBMODULE
from ....facts.values.lattice import Module, Value
from ....model.constants import is_none
from ....model.copy import clone
from ....model.effects import BUFFER, CONSTANT, PARAM, Declare, Read, Support, Tie
from ....model.expressions import Attribute, Call, Constant, Name
from ....model.names import dotted, is_own
from ....model.node import Expression
from ....model.operators import Conditional
from ....model.program import Class, Function, Parameter
from ....model.statements import Assign, ExpressionStatement
from ...parameters import add_by_place, add_keyword
from ...reports import Reports, report_untrained
from ...sharing.list_growth import is_part_of_list
from .. import control
from ..callable_fields import keep
from ..number_params import apart
from ..plan import Plan
from .arrays import take_out
from .bases import beginnings_above
from .borrowed_params import draw_lent
from .copies import write_copies
from .deferred_values import PutOff
from .early_returns import without_returns
from .events import Events
from .init_methods import Beginning, draws, give_property, method
from .init_scope import Available
from .shape_only import spell_out_sizes
from .slices import Slice, Slicer
from .unmade_arrays import Building

_APART = (
    "params and state are both made of this draw, which init and init_state make apart: they agree "
    "in a checkpoint alone"
)
_REPLACED = "another module may be put later where one of these two arrays is"


class Constructor:
    """Writes the functions of one class that build it; or of none, those that build modules."""

    def __init__(self, cls: Class | None, plan: Plan, reports: Reports) -> None:
        self.cls, self.plan, self.reports = cls, plan, reports

    def write(self, function: Function) -> None:
        """One function that runs before there are arrays."""
        kind = self.plan.conventions.initialisers.get(function)
        if kind is not None:
            report_untrained(function, self.reports)
            self._initialiser(function, kind)
            return
        control.on_host(function)
        for assign in function.nodes(Assign):
            if assign.expression is None and isinstance(assign.targets[0], Read):
                take_out(assign)  # `self.queue: Tensor` says nothing that is done
        report_untrained(function, self.reports)
        self._plain_above(function)
        apart(function)
        self._without_names_alone(function)
        spell_out_sizes(function)
        draw_lent(function)
        properties = self.plan.properties(self.cls)
        events = Events(function, properties, self.plan)
        _say_ties(events)
        self._ties_replaced(function, events)
        write_copies(function, events, self.reports, self.plan.modules)
        slices: dict[str, Slice] = {}
        if function.name == "__init__" and self.cls is not None and function.owner is self.cls:
            without_returns(events, self.reports)
            slices = self._slices(function, events, self.cls)
        staying = {events.kind(d) for d in events.put_off if isinstance(d, Declare)}
        PutOff(function, events, self.plan, self.reports).write()
        for declare in function.nodes(Declare):
            self._declare(declare)
        for assign in function.nodes(Assign):
            if assign.expression is not None and is_part_of_list(assign.expression):
                assign.expression.wrap(lambda part: Call(Support("ModuleList"), [part]))
        self._given_functions(function)
        Building(function, self.plan, self.reports).write()
        if self.cls is not None:
            self._methods(function, slices, staying, self.cls)

    def _plain_above(self, function: Function) -> None:
        """Refuse an array whose name is that of a number in a class above, which reads that."""
        above = self.plan.modules.lineage(self.cls)[1:] if self.cls is not None else []
        for declare in [d for d in function.nodes(Declare) if d.kind == PARAM]:
            held = [own for c in above if (own := self.plan.fields(c).get(declare.name))]
            plain = [v for own in held if own.kind == FIELD for v in own.values if not is_none(v)]
            if plain and not is_none(declare.expression):
                why = (
                    f"{declare.name} is no parameter in the class above, and is read there as such"
                )
                self.reports.refuse("unsupported", declare, f"{why}: give it a name of its own")

    def _without_names_alone(self, function: Function) -> None:
        """`self.w = self.fc.weight` is a name for what is the other's alone: nothing is made."""
        if self.cls is None:
            return
        known = self.plan.arrays(self.cls)
        for tie in [t for t in function.nodes(Tie) if t.parent is function.body]:
            own = is_own(tie.target, function.receiver)
            if own and tie.target.name not in known:
                function.body.remove(tie)

    def _ties_replaced(self, function: Function, events: Events) -> None:
        """An array that is tied, of a module that may be replaced later by one that is not."""
        for tie in function.nodes(Tie):
            sides = (tie.target, tie.source)
            if any(events.is_replaced(side, tie, here=True) for side in sides):
                self.reports.refuse("tied-weight", tie, f"{_REPLACED}: tie it behind that")
            elif any(events.is_replaced(side, tie) for side in sides):
                self.reports.report("tied-weight", tie, f"{_REPLACED}: there it stays tied here")

    # --- what moves -------------------------------------------------------------------------------

    def _slices(self, function: Function, events: Events, cls: Class) -> dict[str, Slice]:
        arrays = {
            name
            for name, own in self.plan.fields(cls).items()
            if own.kind in ARRAYS and self.plan.holds(cls, name) != CONSTANT
        }
        put_off = {d.name for d in events.put_off if isinstance(d, Declare)}
        available = Available(function, cls, self.plan, arrays - put_off - self.plan.numbers)
        slicer = Slicer(events, available, self.reports)
        found = {kind: slicer.slice(kind) for kind in (PARAM, BUFFER, CONSTANT)}
        self._say_drawn(found)
        gone = slicer.gone({s for one in found.values() for s in one.moved})
        available.write()
        slicer.remove(gone)
        return {kind: one for kind, one in found.items() if one.statements}

    def _say_drawn(self, slices: dict[str, Slice]) -> None:
        """A draw that params and the state are both made of."""
        both = slices[PARAM].moved & slices[BUFFER].moved
        for statement in sorted(both, key=lambda s: s.start):
            if any(draws(node, self.plan) for node in statement.walk()):
                self.reports.report("random-in-init", statement, _APART)

    def _methods(
        self, function: Function, slices: dict[str, Slice], staying: Set[str | None], cls: Class
    ) -> None:
        me = function.receiver or "self"
        above = self._above(function, me, cls)
        slices = slices | {kind: Slice() for kind in above if kind not in slices}
        for kind, found in reversed(slices.items()):
            if kind == CONSTANT:
                for declare in reversed(found.statements):
                    give_property(cls, me, declare)
                continue
            method(
                cls,
                kind,
                me,
                found.statements,
                above.get(kind, kind in staying or self.plan.begins_elsewhere(cls)),
                lambda made, kind=kind: Beginning(made, kind, self.plan, self.reports).write(),  # type: ignore[misc]
            )

    def _above(self, function: Function, me: str, cls: Class) -> dict[str, Expression]:
        """What several bases of a class begin with."""
        if function.name != "__init__":
            return {}
        named = ((PARAM, "init"), (BUFFER, "init_state"))
        found = {k: beginnings_above(cls, k, me, name, self.plan) for k, name in named}
        return {kind: made for kind, made in found.items() if made is not None}

    # --- what stays -------------------------------------------------------------------------------

    def _declare(self, declare: Declare) -> None:
        """A declaration that stays is an assignment; a constant is an array of NumPy's."""
        value = declare.expression
        if declare.kind in (CONSTANT, BUFFER) and value is not None:
            if self.cls is not None and self.plan.holds(self.cls, declare.name) == CONSTANT:
                _held(value, self.plan)
        if declare.kind == SUBMODULE and value is not None:
            keep(value, self.plan, self._attribute(declare.name))
        plain = Assign(declare.targets, declare.expression)
        declare.become(plain)
        for part in plain.children():
            part.parent = plain

    def _given_functions(self, function: Function) -> None:
        """`self.act = F.relu`, where another way keeps a module under this name."""
        if self.cls is None:
            return
        for assign in function.nodes(Assign):
            target, value = assign.targets[0], assign.expression
            if type(target) is not Attribute or value is None or assign.operator:
                continue
            own = is_own(target, function.receiver)
            if own and self.plan.is_child(self.cls, target.name):
                if not isinstance(value, Call) or not isinstance(value.function, Support):
                    keep(value, self.plan, self._attribute(target.name))

    def _attribute(self, name: str) -> Value | None:
        return self.plan.facts.values.attribute(self.cls, name) if self.cls is not None else None

    # --- methods that `init` calls ----------------------------------------------------------------

    def _initialiser(self, function: Function, kind: str) -> None:
        writer = Beginning(function, kind, self.plan, self.reports)
        draws = self.plan.threads(function).draws
        writer.write()
        add_by_place(function, [Parameter(writer.whole)], 1)
        if draws:
            add_keyword(function, writer.words.key)


def _say_ties(events: Events) -> None:
    """What a walk gives a tied array, its owner gets: `self.head.weight = self.emb.weight` moves to
    `init`, and a loop over `self.modules()` after it meets the head."""
    for tie in events.tied_early:
        if dotted(tie.target.object) is None or dotted(tie.source.object) is None:
            continue  # refused, where it is written
        if isinstance(tie.source.value, Module):
            continue  # it is one and the same object
        sides = [(clone(r.object), Constant(r.name)) for r in (tie.target, tie.source)]
        said = ExpressionStatement(Call(Support("tie"), [part for side in sides for part in side]))
        tie.parent.insert_before(tie, [said])  # type: ignore[union-attr]


def _held(value: Expression, plan: Plan) -> None:
    """An array is NumPy's; what may be None, as an optional argument is, stays what was given."""
    if isinstance(value, Conditional):
        _held(value.body, plan)
        _held(value.orelse, plan)
    elif plan.facts.values.may_be_none(value) is False:
        value.wrap(lambda value: Call(Attribute(Name("np"), "asarray"), [value]))
