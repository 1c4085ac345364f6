"""One function that is run, with a state and keys as values: what the functional output and Equinox
say alike of its calls, draws and blocks under control of data."""

from collections.abc import Callable, Iterable

from ...facts.modules import Array
from ...facts.program import ProgramFacts
from ...facts.values.lattice import Function as FunctionValue
from ...facts.values.lattice import Functions
from ...model.control_flow import Cond, Loop, Repeat, Scan, leave_to_python
from ...model.effects import Apply, Key, Unconverted, Write
from ...model.expressions import Call, Constant, Dictionary, Display, Lambda, Name
from ...model.fallthrough import completes
from ...model.fresh_names import taken
from ...model.functions import is_checkpoint, is_inside
from ...model.iteration import turns
from ...model.names import is_called
from ...model.node import Expression, Node, Statement
from ...model.operators import Boolean, Conditional
from ...model.positions import source_of
from ...model.program import Class, Function
from ...model.statements import Return
from .. import fresh_names
from ..closures import Closures
from ..reports import Reports
from ..sharing.ties import ProgramTies
from . import keys, random_callables
from .given_objects import WHY, holder_of
from .signatures import Signatures
from .threaded import Threads

KINDS = (Cond, Loop, Repeat, Scan)
_REUSED = ("then", "otherwise", "step", "body", "condition", "carry", "inputs")
Carried = Callable[[Statement], list[str]]


class Plan:
    """What a dialect has settled before anything is edited."""

    conventions: Signatures

    def settle(self, facts: ProgramFacts) -> set[Class]:
        """Note what functions give and classes hold; the classes that have functions."""
        functions = self.conventions.functions
        owners = {f.owner for f in functions if f.owner is not None}
        self._arrays = {cls: facts.modules.arrays(cls) for cls in owners}
        methods = {cls: facts.modules.home(cls).methods(cls).values() for cls in owners}
        self.ties = ProgramTies(methods, facts.modules)
        self._procedures = {
            f
            for f in functions
            if f.name != "__call__" and not any(r.expression for r in f.nodes(Return))
        }
        return owners

    def threads(self, function: Function) -> Threads:
        return self.conventions.of(function)

    def draws_unasked(self, function: Function) -> bool:
        """Whether a function draws, and no call of one of several gives it a key."""
        return self.threads(function).draws and function not in self.conventions.chosen

    def is_building(self, function: Function) -> bool:
        return function in self.conventions.building

    def is_procedure(self, function: Function) -> bool:
        """Whether a function gives no value, and so the state alone."""
        return function in self._procedures

    def gives_state_alone(self, call: Call) -> bool:
        targets = self.conventions.targets(call) or []
        return bool(targets) and all(map(self.is_procedure, targets))

    def arrays(self, cls: Class) -> dict[str, Array]:
        """The arrays of a class, as they were declared before anything was edited."""
        return self._arrays.get(cls, {})


_KEEPING = (Boolean, Conditional, Dictionary, Display)


class Running(keys.Form):
    """Writes one function; it is the form that threading asks. `inner`: functions that were made in
    it, inner ones first. `words`: the names of what is threaded."""

    plan: Plan
    conventions: Signatures

    def __init__(
        self,
        function: Function,
        plan: Plan,
        reports: Reports,
        inner: Iterable[Function],
        words: Iterable[str],
    ) -> None:
        self.function, self.plan, self.reports, self.inner = function, plan, reports, inner
        self.conventions = plan.conventions
        self.threads = plan.threads(function)
        self.done: set[Node] = set()
        self.streamed: set[Node] = set()
        self.own_names = frozenset(taken(function))
        self._taken = {*self.own_names, *words}

    def fresh(self, word: str) -> str:
        name = fresh_names.fresh(word, self._taken)
        if word not in _REUSED:
            self._taken.add(name)
        return name

    def gives(self, node: Node) -> bool:
        if node in self.done:
            return False
        if isinstance(node, Call):
            return self.conventions.of_call(node).gives
        return isinstance(node, Write) and self.conventions.is_state(node.target)

    def takes(self, node: Node) -> bool:
        if isinstance(node, Call):
            return self.conventions.of_call(node).takes
        return self.conventions.is_state(node)

    def tail(self, call: Call) -> bool:
        """Whether `return call` gives value and state as they come out of the call."""
        raise NotImplementedError

    def _returns(self, state: str) -> None:
        """Every return gives the state too."""
        alone = self.plan.is_procedure(self.function)

        def pair(value: Expression) -> Expression:
            return Display("tuple", [value, Name(state)])

        def end() -> Return:
            return Return(Name(state) if alone else pair(Constant(None)))

        for statement in self.function.nodes(Return):
            value = statement.expression
            if isinstance(value, Call) and self.gives(value) and self.tail(value):
                self.done.add(value)  # value and state come out of the call
            elif alone or value is None:
                statement.replace(end())
            else:
                value.wrap(pair)
        if completes(self.function.body):
            self.function.body.append([end()])

    def unsaid(self, node: Expression, why: str) -> None:
        self.reports.unconverted("state-in-expression", node, why)

    def _look_over(self) -> None:
        """What is looked for before anything is edited."""
        self._refuse_kept()
        for call in self.function.nodes(Call, Apply):
            threads = self.conventions.of_call(call)
            plain = not (threads.takes or threads.draws or threads.params)
            if plain and holder_of(call, self.function) is not None:
                self.reports.report("taken-for-granted", call, WHY)

    def _refuse_kept(self) -> None:
        """A function inside that takes the state, kept or handed on: `fs = [step, tanh]`, `reduce(
        step, xs)`. What calls it does not give it."""
        for name in list(self.function.nodes(Name)):
            made = name.value
            if isinstance(made, FunctionValue) and is_inside(made.function):
                if self._is_kept(name) and self.plan.threads(made.function).takes:
                    self.refuse_with_state(name)

    def refuse_with_state(self, name: Name) -> None:
        why = f"{name.id} takes the state, and what it is handed to does not give it"
        self.reports.unconverted("state-in-expression", name, why)

    def _is_kept(self, name: Name) -> bool:
        around = name.parent
        if not isinstance(around, Call):  # a list of such functions alone knows what it holds
            if not isinstance(around, _KEEPING):
                return False
            held = getattr(around.value, "element", around.value)
            return not isinstance(held, (FunctionValue, Functions))
        known = is_called(name) or is_checkpoint(around.function)
        return not known and not self.conventions.targets(around)

    def draws(self, node: Node) -> bool:
        if node in self.streamed:
            return False
        return isinstance(node, Key) or isinstance(node, Call) and self._is_drawing(node)

    def _is_drawing(self, call: Call) -> bool:
        return self.conventions.of_call(call).draws

    def _control(self, key: str, carried: Carried, building: bool = False) -> None:
        """Give keys to what draws, and write the blocks under control of data."""
        for function in (*self.inner, self.function):
            without_rows(function)
            self.streamed |= random_callables.give_streams(
                self, function, building, self.fresh, self._refuse_draws
            )
            given = keys.Keys(self, self.fresh)
            if self.threads.draws:
                given.function(function, key)
                given.place()
            write_blocks(function, self.fresh, given, carried)

    def _refuse_draws(self, node: Lambda) -> None:
        why = "a function that draws is handed on, and has one key for all its calls"
        self.reports.report("draw-in-value", node, why)
        node.body.replace(Unconverted("draw-in-value", source_of(node)))


def without_rows(function: Function) -> None:
    """Scans over what has no rows are loops of Python's."""
    for scan in function.nodes(Scan):
        if turns(scan) is None:
            leave_to_python(scan)


def write_blocks(
    function: Function, fresh: Callable[[str], str], given: keys.Keys, carried: Carried
) -> None:
    """Write the blocks under control of data as calls of `lax`. `carried`: what of params and state
    a block gives anew."""
    closures = Closures(fresh, function.receiver if function.owner is not None else None)
    for node in reversed(list(function.nodes(*KINDS))):
        names = carried(node)
        made: list[Statement] | None
        if isinstance(node, Cond):
            made = closures.cond(node, names)
        elif isinstance(node, Loop):
            made = closures.loop(node, names + given.carried_by(node))
        elif isinstance(node, Repeat):
            made = closures.repeated(node, names + given.carried_by(node))
        else:
            assert isinstance(node, Scan)
            rows = [given.rows[node]] if node in given.rows else []
            made = closures.scanned(node, names, rows)
        assert made is not None
        node.parent.substitute(node, made)  # type: ignore[union-attr]
