"""Which functions take and give a state, and which take a key: a fixed point over all calls.

What one call may run has one convention, the union of what all of it needs. It is solved before a
dialect edits anything, and does not change while it does.
"""

from collections.abc import Iterable
from dataclasses import replace

from ...facts.array_paths import WRITING, arrays_written
from ...facts.modules import SPECTRAL_NORMS
from ...facts.program import ProgramFacts
from ...facts.values.class_values import is_given
from ...facts.values.lattice import Functions, Module
from ...model.effects import BUFFER, MIXED, PARAM, Apply, Declare, Key, Mode, New, Read, Write
from ...model.expressions import Call, Name
from ...model.node import Expression, Node
from ...model.program import Class, Function, within
from ...model.project import Project
from ...model.statements import Assign
from ..scripts import script_functions
from .built_functions import by_sizes, is_call, only_built
from .call_targets import Targets
from .module_changes import Changes
from .reachable import reached
from .threaded import ANYTHING, NOTHING, Threads, is_threaded, of_layers, union


class Signatures:
    """The threads of functions and calls, of a project and of the layers that it uses, or that
    stay in its support file: `kept` names these."""

    wraps_functions = False  # whether a plain function that is kept as a module can be given a key
    # what layers ask for that compute an array of the layer which they stand for
    computing = dict.fromkeys(SPECTRAL_NORMS, Threads(takes=True, gives=True))
    of_sequential = NOTHING  # what a Sequential takes whatever its items ask for
    makes_params = False  # whether what builds a model makes its params, of a key of their own
    asks_sequential = True  # whether it is called with a state as other modules are

    def __init__(self, project: Project, facts: ProgramFacts, kept: Iterable[str] = ()) -> None:
        self.project, self.modules, self.effects = project, facts.modules, facts.effects
        self.found, self._stages = Targets(facts.modules, facts.effects), facts.stages
        self._targets: dict[Call, list[Function] | None] = {}
        self.functions = list(reached(project, self.modules, self.found, set(kept), facts.rulebook))
        self.changes = Changes(self.functions, self.targets, self.is_state, self.grown)
        callers = self._callers()
        self.building = self._only_built(callers)
        self.filling = {f for f in self.building if f.name != "__init__" and self.fills(f)}
        self.written = {
            read.name
            for function in self.functions
            if function not in self.building
            for statement in function.nodes(*WRITING)
            for read in arrays_written(statement)
        }
        self.keeping = {f for f in self.functions if self._keeps(f)}  # or call one that does
        while more := set().union(*(callers.get(f, ()) for f in self.keeping)) - self.keeping:
            self.keeping |= more
        self.scripts = script_functions(project.functions(), facts.stages)
        self._of_scripts = {c for ms in self.scripts.values() for m in ms for c, _ in m.calls}
        self._group: dict[Function, Function] = {}
        self.chosen: set[Function] = set()  # which calls of one of several functions run
        self._joined()
        self._threads: dict[Function, Threads] = {}
        self._asked: set[Function] = set()  # by what is being found
        self._solve()
        calls = [n for f in self.functions for n in f.nodes(Apply, New, Call) if self._is_asked(n)]
        self._targets |= {call: self.found.of(call) for call in calls}
        self._known = {call: self._of_call(call) for call in calls}

    # --- questions --------------------------------------------------------------------------------

    def grown(self, node: Node) -> Expression | None:
        """What a call or an assignment puts a layer into, that is built already: it is another
        module then."""
        return None

    def of(self, function: Function) -> Threads:
        root = self.root(function)
        self._asked.add(root)
        return self._threads.get(root, NOTHING)

    def of_call(self, call: Call) -> Threads:
        """What a call of the program takes and gives; nothing for one that was made since."""
        return self._known.get(call, NOTHING)

    def of_outside(self, call: Call) -> Threads:
        """What a call takes and gives that stands in no function."""
        return self._of_call(call)

    def _is_asked(self, call: Call) -> bool:
        return is_threaded(call) or bool(self.found.computed(call))

    def is_state(self, array: Node) -> bool:
        """Whether an array changes while the model runs."""
        if not isinstance(array, Read):  # a param under the name that a walk binds
            return False
        return array.kind in (BUFFER, MIXED) and array.name in self.written

    def targets(self, call: Call) -> list[Function] | None:
        """What a call may run, methods of classes below included; None if that is not known."""
        return self._targets[call] if call in self._targets else self.found.of(call)

    def _is_layers(self, function: Function) -> bool:
        """Whether a function is a method of one of torch's layers."""
        return function.owner is not None and self.modules.is_library(function.owner)

    def is_container(self, call: Call) -> bool:
        """Whether what is called runs one layer after the other, each in its own way."""
        return self.found.beside_sequential(call) == []

    def _callers(self) -> dict[Function, set[Function]]:
        callers: dict[Function, set[Function]] = {}
        for function in self.functions:
            for call in filter(self._is_asked, function.nodes(Apply, New, Call)):
                for target in self.targets(call) or ():
                    callers.setdefault(target, set()).add(function)
        return callers

    def _keeps(self, function: Function) -> bool:
        """Whether a function of the user's changes state, beside what torch's layers count."""
        targets = (w.target for w in function.nodes(Write))
        kinds = {t.kind for t in targets if isinstance(t, Read)}
        return not self._is_layers(function) and not kinds.isdisjoint((BUFFER, MIXED))

    def _only_built(self, callers: dict[Function, set[Function]]) -> set[Function]:
        begin = {f for f in self.functions if f.owner is None and self.changes.parameter(f)}
        own = [f for f in self.functions if not is_call(f, self.modules)]
        begun = [f for f in own if not self._stages.in_forward(f)]
        self.by_sizes = by_sizes(begun, self.functions, callers, begin, self.effects)
        return only_built(own, callers, begin, self.makes, self.fills)

    def makes(self, function: Function) -> bool:
        """Whether a function builds modules, whoever calls it."""
        return False

    def fills(self, function: Function) -> bool:
        """Whether a method that a constructor calls is its alone, and no forward pass runs it: it
        says what its module holds, or the values of params or constants."""
        owner = function.owner
        if owner is None or self._is_layers(function) or not self.modules.is_module(owner):
            return False
        if self._keeps(function) or self._stages.in_forward(function):
            return function in self.by_sizes.first
        return any(self.is_filled(s, function) for s in function.nodes(Write, Declare, Assign))

    def is_filled(self, statement: Node, method: Function) -> bool:
        """Whether a statement of a method does what only a constructor may."""
        target = statement.target if isinstance(statement, Write) else None
        return isinstance(statement, Declare) or isinstance(target, Read) and target.kind == PARAM

    # --- one convention for what one call may run -------------------------------------------------

    def _joined(self) -> None:
        for function in self.functions:
            for call in function.nodes(Apply, Call):
                several = isinstance(call.function.value, Functions)
                if not several and type(call) is Call or not self.is_joint(call):
                    continue
                targets = self.targets(call) or []
                self.chosen.update(targets if several else ())
                if not self._is_layers(function):  # torch's layers are called as such
                    targets = [t for t in targets if not self._is_layers(t)]
                for other in targets[1:]:
                    self._join(targets[0], other)
            if function.owner is not None:
                self._join_above(function, function.owner)

    def is_joint(self, call: Call) -> bool:
        """Whether all that a call may run has one convention: a container asks its items."""
        return not self.is_container(call)

    def _join_above(self, function: Function, owner: Class) -> None:
        """The calls of a class and of those that it inherits from may stand for each other; those
        of torch's layers are called as such. What a layer calls of its own, `_sa_block`, may be
        that of a class below."""
        called = function.name == "__call__"
        if not called and function.name.startswith("__"):
            return
        for cls in self.modules.lineage(owner)[1:]:
            layer = self.modules.is_library(cls) and not self.modules.is_library(owner)
            if called and layer:
                return
            other = self.modules.home(cls).methods(cls).get(function.name)
            if other is not None and (called or layer):
                self._join(function, other)

    def _join(self, one: Function, other: Function) -> None:
        self._group[self.root(other)] = self.root(one)

    def root(self, function: Function) -> Function:
        while (above := self._group.get(function, function)) is not function:
            function = above
        return function

    # --- the fixed point --------------------------------------------------------------------------

    def _solve(self) -> None:
        """Find the threads of each function, and again where those of one that it asked for have
        changed."""
        asking: dict[Function, dict[Function, None]] = {}
        todo = dict.fromkeys(self.functions)
        while todo:
            function = next(iter(todo))
            del todo[function]
            self._asked = set()
            found = self._of_nodes(within([function.body]), function)
            if found.takes and function.name == "__call__":
                found |= Threads(gives=True)  # what calls any layer takes a state from it
            for asked in self._asked:
                asking.setdefault(asked, {})[function] = None
            root = self.root(function)
            old = self._threads.get(root, NOTHING)
            if old | found != old:
                self._threads[root] = old | found
                todo.update(asking.get(root, ()))

    def _of_nodes(self, nodes: Iterable[Node], function: Function) -> Threads:
        found = NOTHING
        for node in nodes:
            if isinstance(node, Key):
                found |= Threads(draws=True)
            elif isinstance(node, Read) and function not in self.building:
                found |= Threads(takes=self.is_state(node), params=node.kind in (PARAM, MIXED))
            elif isinstance(node, Mode) and function not in self.building:
                found |= Threads(mode=True)
            elif any(map(self.is_state, arrays_written(node))) and function not in self.building:
                found |= Threads(takes=True, gives=True)
            elif node in self._of_scripts:  # what it takes begins here
                threads = self._of_call(node)
                made = self.makes_params and (threads.params or threads.takes)
                found |= Threads(draws=threads.draws or made)
            elif isinstance(node, Call) and self._is_asked(node):
                threads = self._of_call(node)
                own = isinstance(node, Apply) and node.training is not None
                found |= replace(threads, mode=False) if own else threads
            elif isinstance(node, Function) and self._is_value(node, function):
                found |= self.of(node)
        return replace(found, known=True)

    def _of_call(self, call: Call) -> Threads:
        return self._of_targets(call) | of_layers(call.function.value, self.modules, self.computing)

    def _of_targets(self, call: Call) -> Threads:
        if isinstance(call, New) and call.draws is not None:
            return Threads(draws=call.draws)
        targets = self.targets(call)
        if targets is None:
            if isinstance(call, New):
                return Threads(draws=True, known=self._all_draw(call))
            return self.of_given(call) or replace(ANYTHING, known=self.is_container(call))
        several = [self.of(target) for target in targets]
        found = union(several)
        if isinstance(call, New):
            return Threads(draws=found.draws, known=all(t.draws == found.draws for t in several))
        plain = self.found.beside_sequential(call)
        if plain:
            found |= self.of_sequential
            asked = not found.takes or self.asks_sequential
            fits = asked and all(self.is_alike(t, found) for t in plain)
        else:
            fits = all(self.is_alike(t, found) for t in targets) and not self.found.differ(call)
        if plain == [] or fits:  # a container, which gives each item what it asks for
            still = self.effects.is_still(call)
            return replace(found, draws=False, mode=False) if still else found
        return self.of_unlike(found)

    def of_given(self, call: Call) -> Threads | None:
        """What a call takes and gives of a module that was given to a constructor; None where it
        may be any."""
        value = call.function.value
        if not isinstance(value, Module) or not value.checked:
            return None
        given = self.effects.given(value)
        found = union(map(self.of, given or []))
        keyless = value.function and found.draws and not self.wraps_functions
        return replace(found, known=False) if given and not keyless else None

    def _all_draw(self, call: New) -> bool:
        """Whether all classes that are known of those that may be built take a key: what else is
        given in their place does so as well."""
        value = call.value
        classes = self.modules.classes_of_value(value)
        makers = [self.modules.find(cls, "__init__") for cls in classes]
        draws = bool(makers) and all(m is not None and self.of(m).draws for m in makers)
        return draws and not is_given(call.function.value)

    def of_unlike(self, all: Threads) -> Threads:
        """What a call takes and gives that runs what has several conventions; their union."""
        return replace(all, takes=True, gives=True, known=False)

    def is_alike(self, target: Function, all: Threads) -> bool:
        """Whether a function can be called like all that a call may run."""
        return self.of(target).takes == all.takes

    def _is_value(self, inner: Function, outer: Function) -> bool:
        """Whether a function inside is handed on, so that somebody else calls it."""
        names = (n for n in outer.nodes(Name) if n.id == inner.name)
        return any(not isinstance(n.parent, Call) or n.parent.function is not n for n in names)
