"""Calls of modules and of functions that take what a module has: params, state, key, mode.

self.fc(x)               self.fc(params["fc"], x)
self.encode(x)           self.encode(params, x)
self.act(x)              self.act.apply(params["act"], state["act"], x, key=key, training=training)
                         where its class is not known
"""

from ...facts.values.lattice import element_of
from ...model.effects import Apply, BoundMethod, Support, Unconverted
from ...model.expressions import Attribute, Call, Constant, Dictionary, Name
from ...model.node import Expression
from ...model.positions import source_of
from ...model.program import Function
from ...model.statements import Assign, Block, For
from ..reports import Reports
from ..sharing.ties import below
from ..threading.threaded import UPDATED, checkpointed, scanned
from .callable_values import HandedOn
from .conventions import Conventions
from .given_arguments import give, state_given, without_state
from .indirect_modules import is_given, lists_given, modules_given, runs_given
from .leaf_nodes import UNKNOWN_PLACE
from .loop_containers import two_kinds
from .param_path import Path, is_above, module_of
from .path_resolution import Paths
from .plan import Plan, Words
from .tied_params import TiedParams
from .unreachable_params import is_lost, is_named


class Calls:
    """Gives the calls of one function what they take."""

    def __init__(
        self, function: Function, plan: Plan, paths: Paths, words: Words, reports: Reports
    ) -> None:
        self.function, self.plan, self.paths = function, plan, paths
        self.words, self.reports = words, reports
        self.conventions = plan.conventions
        self.tied = TiedParams(plan.ties.of(paths.owner), words.params)
        self._modes: list[Call] = []
        self.handed_on = HandedOn(function, plan, paths, words, reports, self._entry)

    def write(self) -> None:
        """Give params and state to calls; keys are given after it, the mode by `finish`."""
        for name in two_kinds(self.function):
            self.reports.unconverted("module-value", name, UNKNOWN_PLACE)
        own = self.conventions.own_nodes
        for call in [n for n in own(self.function) if isinstance(n, Call)]:
            around = call.parent
            again = isinstance(around, Call) and around.function is call and checkpointed(around)
            if isinstance(call, Apply) and call.each is not None:
                self._scanned(call)
            elif not again:
                self._arguments(call)
                self._call(call)
        self.handed_on.write()

    def finish(self) -> None:
        """Give the mode to the calls that ask for it."""
        for call in self._modes:
            own = call.training if isinstance(call, Apply) else None
            mode = Name(self.words.training) if own is None else Constant(own)
            call.append(mode, "training")

    def _call(self, call: Call) -> None:
        threads = self.conventions.of_call(call)
        closure = self.conventions.is_closure(call)
        unlike = closure and not threads.known
        if unlike or is_lost(call, self.plan) or is_named(call, self.function, self.plan):
            self._refuse(call)
            return
        if threads.gives and checkpointed(call) is not None:
            self.reports.report("taken-for-granted", call, UPDATED)
        if closure:
            if threads.takes:
                give(call, [Name(self.words.state)])
            return
        module, again = self.module(call), checkpointed(call)
        path = self.paths.of(module) if module is not None else None
        if isinstance(again, BoundMethod):  # it is called here
            again.become(Attribute(again.object, again.name))
        if threads.mode and again is None:
            self._modes.append(call)
        uniform, runs = self.conventions.is_uniform(call), self.conventions.hands_on_state(call)
        if not threads.params and not threads.takes and not uniform:
            if self.conventions.is_container(call) and not is_given(call):
                give(call, [Dictionary([])])  # the params of its items, which it always takes
            return
        if path is None:
            self._refuse(call)
            return
        loose = uniform or self.conventions.of_given(call) is not None
        for argument, word in list(zip(call.arguments, call.keywords)) if loose else ():
            if word in set(self.words):  # as every model has its own one
                call.respell(argument, f"{word}_")
        given: list[Expression] = []
        if threads.params or uniform or runs:
            given.append(self._entry(path, module))
        given += state_given(threads, uniform, path.of(self.words.state))
        if again is not None:
            self._run_again(call, "apply" if uniform else "run" if runs else "", threads.mode)
        elif uniform or runs:
            call.function = Attribute(call.function, "apply" if uniform else "run")
        elif is_above(call) and self.conventions.runs_container(call):  # of a Sequential
            call.function = Attribute(call.function.object, "run")  # type: ignore[attr-defined]
        elif not threads.known and threads.takes and is_above(call):  # of a mixin
            given.insert(0, call.function)
            call.function = Support("call")
        give(call, given)
        if uniform and not threads.takes:
            without_state(call)

    def _run_again(self, call: Call, word: str, mode: bool) -> None:
        """What a checkpoint runs: all that it is given would be traced, also the mode."""
        again = checkpointed(call)
        assert again is not None
        if word:
            again.wrap(lambda f: Attribute(f, word))
            again = checkpointed(call)
            assert again is not None
        if mode:
            partial = Attribute(Name("functools"), "partial")
            training = Name(self.words.training)
            again.wrap(lambda f: Call(partial, [f, training], [None, "training"]))

    def _arguments(self, call: Call) -> None:
        """Modules that a function is given have what they take with them."""
        root = self.conventions.given_root(call)
        for argument in modules_given(call):
            if argument is not root:
                self.handed_on.argument(call, argument, argument)
        runs = self.conventions.targets(call) or runs_given(call)
        lists = lists_given(call) if runs else []
        if lists and self.paths.holders.chosen(call) is None:
            for argument in lists:
                self.handed_on.listed(call, argument)

    def module(self, call: Call) -> Expression | None:
        """The module that a call runs, or a method or function of which it runs."""
        return module_of(call) or self.conventions.given_root(call)

    def _refuse(self, call: Call) -> None:
        self.reports.report("module-value", call, UNKNOWN_PLACE)
        self._modes = [c for c in self._modes if c is not call]
        if call.parent is not None:
            call.replace(Unconverted("module-value", source_of(call)))

    def _entry(self, path: Path, module: Expression | None) -> Expression:
        """The params that a call of a module is given."""
        return self.tied.of(path, below(module, self.paths.self_name))

    # --- layers that are scanned ------------------------------------------------------------------

    def _scanned(self, call: Apply) -> None:
        layers, threads = call.function, self.conventions.of_call(call)
        path = self.paths.of(layers)
        if path is None:
            self._refuse(call)
            return
        if threads.mode:
            self._modes.append(call)
        call.function = Support("scan_layers")
        give(call, [layers, self._entry(path, layers)])


def without_scans(function: Function, conventions: Conventions) -> None:
    """Layers with a state, or without params to stack, are called one after the other."""
    for call in scanned(function):
        threads, assign = conventions.of_call(call), call.parent
        if threads.params and not threads.takes:
            continue
        name, call.each = call.each, None
        if conventions.is_container(call) or not isinstance(assign, Assign) or name is None:
            continue
        layers, call.function = call.function, Name(name)
        target = Name(name)
        target.value = call.function.value = element_of(layers.value)
        call.adopt()
        call.restate()
        turn = For(target, layers, Block([Assign(assign.targets, call)]))
        assign.parent.substitute(assign, [turn])  # type: ignore[union-attr]
