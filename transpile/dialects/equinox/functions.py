"""A function that is run: state goes in and comes out, keys are split, control becomes closures.

def forward(self, x):                      def __call__(self, x, state, *, key=None):
    x = self.drop(self.bn(x))        →         y, state = self.bn(x, state)
    return x                                   x = self.drop(y, key=key)
                                               return x, state
"""

from collections.abc import Iterable

from ...facts.bindings.activity import bound
from ...model.effects import Apply, New, Read, Support, Write
from ...model.expressions import Attribute, Call, Constant, Display, Name, Starred
from ...model.node import Expression, Node, Statement
from ...model.program import Function, Parameter
from ...model.statements import Assign, Return
from ..fresh import taken
from ..parameters import add_by_place, add_keyword
from ..reports import Reports
from ..threading import running
from ..threading.checkpoints import UPDATED, checkpointed
from ..threading.making import completes
from ..threading.result_names import Names
from ..threading.state import Extraction
from ..threading.threads import scanned
from . import entries
from .forms import filtered, through
from .frozen import refuse
from .leaves import Leaves, place
from .plan import WORDS, Plan


class Running(running.Running):
    """Writes one function that is run, or builds."""

    plan: Plan

    def __init__(
        self, function: Function, plan: Plan, reports: Reports, inner: Iterable[Function] = ()
    ) -> None:
        super().__init__(function, plan, reports, inner, WORDS)
        self.signatures = plan.signatures
        self.building = plan.is_building(function)

    def write(self) -> None:
        refuse(self.function, self.building, self.signatures, self.reports)
        if not self.building:
            if self.threads.gives:
                entries.write(self.function, self.signatures)
                Extraction(self, Names(self._taken)).function(self.function)
                self._returns()
                self._taken |= taken(self.function)
            self._calls()
        self._control("key", self._carried, self.building)
        self._parameters()
        Leaves(self.function, self.plan).write()

    # --- the form of state ------------------------------------------------------------------------

    def called(self, call: Call, target: Expression | None) -> Statement:
        self.done.add(call)
        state = Name("state")
        if self.plan.gives_state_alone(call):
            return Assign([state], call)
        return Assign([Display("tuple", [target or Name("_"), state])], call)

    def tail(self, call: Call) -> bool:
        """Whether `return call` gives value and state as they come out of the call."""
        return not self.plan.gives_state_alone(call) and not self.plan.is_procedure(self.function)

    def written(self, write: Write) -> list[Statement]:
        value: Expression = write.value
        if write.detached:
            value = Call(Attribute(Name("lax"), "stop_gradient"), [value])
        target = write.target
        if isinstance(target, Read) and not self.plan.is_saved(target.name, self.function.owner):
            new = Call(Support("put"), [Name("state"), place(target), value])
        else:
            new = Call(Attribute(Name("state"), "set"), [place(target), value])
        return [Assign([Name("state")], new)]

    def _scanned(self, call: Apply) -> None:
        """`nn.scan_layers(self.blocks, x, state, key=key)`"""
        takes = self.signatures.of_call(call).takes
        rest = call.arguments[1:]
        words = call.keywords[1:]
        state = [Name("state")] if takes else [Constant(None)] if None in words else []
        layers, call.function = call.function, Support("scan_layers")
        call.arguments = [layers, call.arguments[0], *state, *rest]
        call.keywords = [None, None, *[None] * len(state), *words]
        call.adopt()
        call.restate()

    # --- the form of keys -------------------------------------------------------------------------

    def give(self, node: Node, key: Expression) -> None:
        if isinstance(node, New) and not self.signatures.of_call(node).known:
            through(node, "build")
        super().give(node, key)

    def split(self, key: Expression, count: Expression) -> Expression:
        if self.building:
            return Call(Attribute(Attribute(Name("jax"), "random"), "split"), [key, count])
        return super().split(key, count)

    # --- steps ------------------------------------------------------------------------------------

    def _returns(self) -> None:
        """Every return gives the state too."""
        alone = self.plan.is_procedure(self.function)
        for statement in self.function.nodes(Return):
            value = statement.expression
            if value is not None and isinstance(value, Call) and self.gives(value):
                self.done.add(value)  # value and state come out of the call
            elif alone or value is None:
                made = Name("state") if alone else self._pair(Constant(None))
                statement.replace(Return(made))
            else:
                value.wrap(self._pair)
        if completes(self.function.body):
            end = Return(Name("state") if alone else self._pair(Constant(None)))
            self.function.body.append([end])

    def _pair(self, value: Expression) -> Expression:
        return Display("tuple", [value, Name("state")])

    def _calls(self) -> None:
        """Calls that take a state are given it."""
        for each in scanned(self.function):
            self._scanned(each)
        for call in self.function.nodes(Apply, Call):
            threads = self.signatures.of_call(call)
            if checkpointed(call) is not None:
                filtered(call)
                if threads.gives:
                    self.reports.report("taken-for-granted", call, UPDATED)
            if isinstance(call, Apply) and call.each is not None or not threads.takes:
                continue
            if not threads.known:
                through(call, "call")
                call.append(Name("state"), "state")
                continue
            plain = not any(call.keywords) and not any(
                isinstance(a, Starred) for a in call.arguments
            )
            counts = {self._positional(t) for t in self.signatures.targets(call) or []}
            fits = counts == {len(call.arguments)} or self.signatures.is_container(call)
            call.append(Name("state"), None if plain and fits else "state")

    def _positional(self, function: Function) -> int:
        """How many arguments stand before the state; less than none where there are stars."""
        if any(p.kind == "*" for p in function.parameters):
            return -1
        bound_self = function.owner is not None and not function.decorators
        return sum(p.kind in ("", "/") for p in function.parameters) - bound_self

    def _carried(self, node: Statement) -> list[str]:
        return ["state"] if self.threads.gives and "state" in bound(node) else []

    def _parameters(self) -> None:
        """`state` is the last before the star, `key` behind it."""
        function = self.function
        known, keyed = function.parameters, self.threads.draws or self._is_protocol()
        if self.threads.takes and not self.building:
            at = next((i for i, p in enumerate(known) if p.kind in ("*", "=", "**")), len(known))
            if at < len(known) and known[at].kind == "*":
                add_keyword(function, "state")
            else:
                default = _none() if at > 0 and known[at - 1].default is not None else None
                add_by_place(function, [Parameter("state", "", None, default)], at)
        if keyed:
            required = self.building and self._is_initial()
            add_keyword(function, "key", default=None if required else "None")

    def _is_initial(self) -> bool:
        """Whether it always gets a key: a constructor, and what changes a module while building."""
        changes = self.signatures.changes
        return self.function.name == "__init__" or changes.parameter(self.function) is not None

    def _is_protocol(self) -> bool:
        """Whether Equinox's own containers may call it, which hand a key to every layer."""
        function = self.function
        if function.name != "__call__" or function.owner is None or self.building:
            return False
        needed = [p for p in function.parameters[1:] if p.default is None and p.kind in ("", "/")]
        return len(needed) == 1 and "key" not in self.own_names


def _none() -> Expression:
    return Constant(None)
