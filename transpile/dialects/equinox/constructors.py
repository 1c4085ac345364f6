"""What a constructor declares, in torch's order.

register_buffer("hits", v)      self.hits = eqx.nn.StateIndex(v), or nn.Constant(v) where
                                nothing writes it
"""

from ...facts.nullness import named_none
from ...model.constants import is_none
from ...model.copy import clone
from ...model.edits import block_of
from ...model.effects import BUFFER, CONSTANT, Declare, NewArray, Tie
from ...model.expressions import Attribute, Call, Constant, Name, Subscript
from ...model.names import dotted, is_docstring
from ...model.node import Expression
from ...model.operators import Compare, Conditional
from ...model.program import Class, Function
from ...model.statements import Assign, ExpressionStatement
from ..parameters import conclude
from ..reports import Reports, report_untrained
from ..sharing.list_growth import holds_arrays
from ..sharing.ties import UNSEEN, may_lack
from ..walk_order import names_in_order
from .module_paths import Places
from .plan import Plan

_ELSEWHERE = (
    "an array under a name that is computed, in another module than this: keep it in this one"
)
_LISTED = "what trains all arrays of a module trains those of this list, or dict, too"


class Building:
    """Writes what a function does while a model is built."""

    def __init__(self, function: Function, cls: Class, plan: Plan, reports: Reports) -> None:
        self.function, self.cls, self.plan, self.reports = function, cls, plan, reports
        self.self_name = function.receiver or "self"
        self.places = Places(function, True)

    def write(self) -> None:
        report_untrained(self.function, self.reports)
        for declare in self.function.nodes(Declare):
            self._declare(declare)
        for made in self.function.nodes(NewArray):
            self._array(made)
        for tie in self.function.nodes(Tie):
            self._tie(tie)
        for assign in self.function.nodes(Assign):
            own = any(self.places.is_own_attribute(t) for t in assign.targets)
            if own and assign.expression is not None and holds_arrays(assign.expression.value):
                self.reports.report("buffer-in-list", assign.expression, _LISTED)
        if self.function.name == "__init__" and self.cls in self.plan.inferring:
            self._mode()
        if self.function.name == "__init__" and self.cls in self.plan.with_order:
            conclude(self.function.body, [names_in_order(self.self_name)])

    # --- declarations -----------------------------------------------------------------------------

    def _declare(self, declare: Declare) -> None:
        target, value = declare.targets[0], declare.expression
        assert value is not None
        if declare.kind in (BUFFER, CONSTANT):
            self._held(value, declare.kind, declare.name)
        plain = Assign([target], declare.expression)
        plain.targets = declare.targets
        declare.become(plain)
        for part in plain.children():
            part.parent = plain

    def _held(self, value: Expression, kind: str, name: str) -> None:
        """A value of a buffer or constant in what holds it; what is None stays None."""
        if isinstance(value, Conditional):
            self._held(value.body, kind, name)
            self._held(value.orelse, kind, name)
        elif self.plan.begins_unset(name, self.cls) or not is_none(value):
            none = named_none(value) and not self.plan.begins_unset(name, self.cls)
            test = Compare([clone(value), Constant(None)], ["is"])
            held = value.wrap(lambda v: self.plan.held(kind, name, self.cls, v))
            if none:
                held.wrap(lambda h: Conditional(Constant(None), test, h))  # type: ignore[arg-type]

    def _mode(self) -> None:
        target = Attribute(Name(self.self_name), "inference")
        conclude(self.function.body, [Assign([target], Constant(False))])

    def _array(self, made: NewArray) -> None:
        """`setattr(self, f"weight_{i}", Parameter(v))`: an entry of a dict of arrays."""
        around = made.parent
        call = around if isinstance(around, Call) and _is_setattr(around) else None
        statement = call.parent if call is not None else None
        if call is not None and dotted(call.arguments[0]) != self.self_name:
            if isinstance(statement, ExpressionStatement):  # a module of Equinox's can't be set
                self.reports.refuse("unsupported", statement, _ELSEWHERE)
            return
        if made.kind == BUFFER:
            self.reports.report("buffer-in-list", made, "a buffer made outside of a declaration")
        if call is not None:
            name, value = call.arguments[1], made.arguments[0]
            entry = Subscript(Attribute(Name(self.self_name), "arrays"), name)
            if isinstance(statement, ExpressionStatement):
                block_of(statement).substitute(statement, [Assign([entry], value)])
        else:
            made.replace(made.arguments[0])

    # --- ties -------------------------------------------------------------------------------------

    def _tie(self, tie: Tie) -> None:
        """One owner: the other side holds nothing, and its calls are given the owner's."""
        holder, name = dotted(tie.target.object), tie.target.name
        known = self.plan.ties.knows(tie, self.cls, self.self_name)
        alone = holder == self.self_name and name not in self.plan.arrays(self.cls)
        if alone and (known or name not in self.plan.read):
            block_of(tie).remove(tie)  # `self.w = self.p` is a name alone
            return
        if not known:
            self.reports.refuse("tied-weight", tie, UNSEEN)
            return
        none = may_lack(tie, self.plan.modules)
        block_of(tie).substitute(tie, self.places.store(tie.target, Constant(None), none))


def _is_setattr(call: Call) -> bool:
    return dotted(call.function) == "setattr" and len(call.arguments) == 3


def begin(init: Function, names: list[str], value: Expression) -> None:
    """Let a constructor begin with a value for these."""
    me, body = init.receiver, init.body
    first = next((s for s in body.body if not is_docstring(s)), body.body[-1])
    body.insert_before(first, [Assign([Attribute(Name(me), n)], clone(value)) for n in names])
