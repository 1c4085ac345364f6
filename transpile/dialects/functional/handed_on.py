"""Methods and modules as values: what is handed on has with it what its calls take.

map(self.block, xs)      map(functools.partial(self.block, params["block"]), xs)
run(self.norm, x)        norm = functools.partial(self.norm, params["norm"])
                         run(nn.stateful(norm, state, "norm"), x)
"""

from collections.abc import Callable
from itertools import chain, takewhile

from ...facts.values.lattice import Function as FunctionValue
from ...facts.values.lattice import Module
from ...model.control_flow import Cond, Loop, Repeat, Scan
from ...model.copy import clone
from ...model.effects import Apply, BoundMethod, Support
from ...model.expressions import Attribute, Call, Constant, Lambda, Name, Starred
from ...model.names import dotted
from ...model.node import Expression, Node
from ...model.operators import Compare, Conditional
from ...model.program import Function, Parameter
from ...model.statements import Assign
from ..placed import parameter_for
from ..reports import Reports
from .given import called_once, is_given, modules_kept, named_once, only_calls
from .leaves import UNKNOWN_PLACE
from .path import Path
from .paths import Paths
from .plan import Plan, Words

_STATE = "what has a state is handed on as a value"
_ONE_KEY = "this draws with one key where it is passed on: that is right where it is called once"
_TRACED = (Cond, Loop, Repeat, Scan, Lambda, Function)

Entry = Callable[[Path, Expression | None], Expression]


class HandedOn:
    """Binds what one function hands on. `entry`: the params of a module."""

    def __init__(
        self,
        function: Function,
        plan: Plan,
        paths: Paths,
        words: Words,
        reports: Reports,
        entry: Entry,
    ) -> None:
        self.function, self.plan, self.paths = function, plan, paths
        self.words, self.reports, self.entry = words, reports, entry
        self.conventions = plan.conventions
        self.drawing: set[Node] = set()  # what is handed on with a key

    def write(self) -> None:
        """Bind all but the arguments of calls."""
        nodes = self.conventions.own_nodes
        for method in [n for n in nodes(self.function) if isinstance(n, BoundMethod)]:
            self._method(method)
        for default in modules_kept(self.function):
            self._bind(default, default)
        for module in [n for n in nodes(self.function) if isinstance(n, Attribute)]:
            if self._stands_in(module):
                self._bind(module, module)

    def argument(
        self, call: Call, value: Expression, module: Expression, targets: list[Function] | None
    ) -> None:
        """Bind a module, or a method of one, that a call is given."""
        kept = self.conventions.of_call(call).gives
        runs = [] if kept or targets is None else targets
        plain = bool(runs) and all(_in_its_trace(t, parameter_for(call, value, t)) for t in runs)
        self._bind(value, module, called_once(call, value, targets), stateful=plain)

    def _method(self, method: BoundMethod) -> None:
        """`map(self.block, xs)`: what is handed on has its params with it."""
        value, around = method.value, method.parent
        module = method.object if isinstance(value, FunctionValue) else method
        targets = self.conventions.targets(around) if isinstance(around, Call) else None
        if isinstance(around, Call) and targets:
            self.argument(around, method, module, targets)
        else:
            self._bind(method, module, again=not named_once(method, self.function))

    def gives_key(self, call: Call, argument: Expression) -> bool:
        """Whether what a function is handed to calls it with a key."""
        for function in self.conventions.targets(call) or ():
            name = parameter_for(call, argument, function)
            called = [c for c in function.nodes(Call) if dotted(c.function) == name]
            draw = [c for c in called if "key" in c.keywords or self.conventions.of_call(c).draws]
            return bool(called) and len(draw) == len(called)
        return False

    def _stands_in(self, module: Attribute) -> bool:
        """Whether a module of `self` stands in for one that may be given: `line = self.line`, of a
        parameter that is called."""
        assign = module.parent
        if not isinstance(assign, Assign) or not isinstance(module.value, Module):
            return False
        names = {t.id for t in assign.targets if isinstance(t, Name)}
        return any(
            is_given(call) and isinstance(call.function, Name) and call.function.id in names
            for call in self.function.nodes(Apply, Call)
        )

    def _bind(
        self,
        value: Expression,
        module: Expression,
        once: bool = True,
        again: bool = False,
        stateful: bool = False,
    ) -> None:
        """What is handed on is bound to what it takes; `once`: it is known to be called once;
        `again`: each call is Python's own, and has a key of its own; `stateful`: all its calls are
        over when the one that is given it is, and in the same trace."""
        threads = self.conventions.of_value(value)
        if not (threads.params or threads.takes or threads.mode or threads.draws):
            return
        path = self.paths.of(module)
        stateful = stateful and threads.known and path is not None and not path.root
        if path is None or threads.takes and not stateful:
            why = _STATE if threads.takes else UNKNOWN_PLACE
            self.reports.unconverted("module-value", value, why)
            return
        called = clone(value)
        if threads.takes and self.conventions.is_container(Call(clone(value))):
            called = Attribute(called, "run")
        call = Call(Attribute(Name("functools"), "partial"), [called])
        if threads.params:
            call.append(self.entry(path, module))
        if threads.draws:
            self.drawing.add(call)
            if not once:
                self.reports.report("taken-for-granted", value, _ONE_KEY)
        if threads.mode:
            call.append(Name(self.words.training), "training")
        optional = isinstance(module.value, Module) and module.value.none
        bound: Expression = call
        if threads.takes:
            below = Path(path.keys[:-1]).of(self.words.state), *map(clone, path.keys[-1:])
            whole = call if len(call.arguments) > 1 else called
            bound = Call(Support("stateful"), [whole, *below])
        value.replace(bound)
        if optional and not again:
            test = Compare([clone(value), Constant(None)], ["is not"])
            bound.wrap(lambda bound: Conditional(bound, test, Constant(None)))
        if again and threads.draws:
            call.function = call.arguments.pop(0)
            del call.keywords[0]
            at = call.keywords.count(None)
            call.arguments.insert(at, Starred(Name("inputs")))
            call.keywords.insert(at, None)
            call.adopt()
            call.restate()
            call.wrap(lambda call: Lambda([Parameter("inputs", "*")], call))


def _in_its_trace(function: Function, name: str) -> bool:
    """Whether a function only calls a parameter, and is done with it when it returns."""
    called = only_calls(function, name)
    if called is None or function.yields:
        return False
    around = (takewhile(lambda a: a is not function, n.ancestors()) for n in called)
    return not any(isinstance(a, _TRACED) for a in chain.from_iterable(around))
