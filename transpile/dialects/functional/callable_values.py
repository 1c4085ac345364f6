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
from ...model.effects import BoundMethod, Support
from ...model.expressions import (
    Attribute,
    Call,
    Comprehension,
    Constant,
    Display,
    ForClause,
    Lambda,
    Name,
    Starred,
)
from ...model.fresh_names import taken
from ...model.names import dotted
from ...model.node import Expression, Node
from ...model.operators import Compare, Conditional
from ...model.program import Function, Parameter
from ..reports import Reports
from .indirect_modules import item_of, modules_kept, named_once, turns_around
from .leaf_nodes import UNKNOWN_PLACE
from .param_path import Path
from .parameter_uses import asks, calls_items, only_asked, only_calls, spreads
from .path_resolution import Paths
from .plan import Plan, Words

_STATE = "what has a state is handed on as a value"
_LISTED = "a list of modules is handed to what may call them, and has no params"
_ASKED = "what has params is handed to a function that asks what it is: ask where it is handed on"
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
        self.item = "layer" if "layer" not in taken(function) else paths.fresh("layer")
        self.drawing: set[Node] = set()  # what is handed on with a key

    def write(self) -> None:
        """Bind all but the arguments of calls."""
        nodes = self.conventions.own_nodes
        for method in [n for n in nodes(self.function) if isinstance(n, BoundMethod)]:
            self._method(method)
        for default in modules_kept(self.function):
            self._bind(default, default)

    def argument(self, call: Call, value: Expression, module: Expression) -> None:
        """Bind a module, or a method of one, that a call is given."""
        words = self._words(call, value)
        if words and all(only_asked(*word) for word in words):
            return
        if any(asks(*word, self._words) for word in words):
            self.reports.unconverted("module-value", value, _ASKED)
            return
        kept = self.conventions.of_call(call).gives
        runs = [] if kept else words
        plain = bool(runs) and all(_in_its_trace(t, only_calls(t, word)) for t, word in runs)
        self._bind(value, module, once=_is_once(words), stateful=plain)

    def listed(self, call: Call, value: Expression) -> None:
        """Bind each of the modules in a list that a call is given."""
        item = item_of(value, self.item)
        if not self._takes(item):
            return
        words = self._words(call, value)
        called = [calls_items(*word) for word in words]
        open = [word for c, word in zip(called, words) if c is None]
        parts = list(value.elements) if isinstance(value, Display) else [item]
        if any(map(self._is_apart, parts)) or not all(spreads(call, *word) for word in open):
            self.reports.unconverted("module-value", value, _LISTED)
            return
        known = [_in_its_trace(t, found) for (t, _), found in zip(words, called)]
        plain = bool(known) and all(known)
        if parts == [item]:
            value.wrap(lambda held: _each(item, held))
        for part in parts:
            self._bind(part, part, once=False, stateful=plain)

    def _method(self, method: BoundMethod) -> None:
        """`map(self.block, xs)`: what is handed on has its params with it."""
        value, around = method.value, method.parent
        module = method.object if isinstance(value, FunctionValue) else method
        if isinstance(around, Call) and self.conventions.targets(around):
            self.argument(around, method, module)
        else:
            self._bind(method, module, again=not named_once(method, self.function))

    def gives_key(self, call: Call, argument: Expression) -> bool:
        """Whether what a function is handed to calls it with a key."""
        for function, name in self._words(call, argument):
            called = [c for c in function.nodes(Call) if dotted(c.function) == name]
            draw = [c for c in called if "key" in c.keywords or self.conventions.of_call(c).draws]
            return bool(called) and len(draw) == len(called)
        return False

    def _words(self, call: Call, argument: Expression) -> list[tuple[Function, str]]:
        """The parameters that an argument is for of what a call runs."""
        targets, roots = self.conventions.targets(call) or (), self.conventions.roots
        return [(target, roots.parameter(call, argument, target)) for target in targets]

    def _takes(self, value: Expression) -> bool:
        """Whether calls of it take more than they are given."""
        threads = self.conventions.of_value(value)
        return threads.params or threads.takes or threads.mode or threads.draws

    def _is_apart(self, module: Expression) -> bool:
        """Whether modules that may stand in a place ask for unlike things, but for no state."""
        threads = self.conventions.of_value(module)
        return isinstance(module.value, Module) and not (threads.known or threads.takes)

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
        if not self._takes(value):
            return
        path = self.paths.of(module)
        stateful = stateful and path is not None and not path.root
        if path is None or threads.takes and not stateful or self._is_apart(value):
            why = _STATE if threads.takes else UNKNOWN_PLACE
            self.reports.unconverted("module-value", value, why)
            return
        called = clone(value)
        if threads.takes and self.conventions.is_container(Call(clone(value))):
            called = Attribute(called, "run")
        elif threads.takes and not threads.known:
            called = Attribute(called, "apply")
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


def _each(item: Name, held: Expression) -> Comprehension:
    """`[layer for layer in self.layers]`, of a dict by its names."""
    if isinstance(held.value, Module) and "torch.nn.ModuleDict" in held.value.refs:
        word = Name("name")
        target = Display("tuple", [word, clone(item)])
        clause = ForClause(target, Call(Attribute(held, "items"), []))
        return Comprehension("dict", clone(word), item, [clause])
    return Comprehension("list", None, item, [ForClause(clone(item), held)])


def _is_once(words: list[tuple[Function, str]]) -> bool:
    """Whether what a module is handed to is known to call it once at most."""
    called = only_calls(*words[0]) if len(words) == 1 else None
    return called is not None and len(called) <= 1 and not turns_around(called, words[0][0])


def _in_its_trace(function: Function, called: list[Expression] | None) -> bool:
    """Whether a function only calls a parameter, and is done with it when it returns."""
    if called is None or function.yields:
        return False
    around = (takewhile(lambda a: a is not function, n.ancestors()) for n in called)
    return not any(isinstance(a, _TRACED) for a in chain.from_iterable(around))
