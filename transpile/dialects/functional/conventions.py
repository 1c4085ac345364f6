"""What each function takes in the functional output: params, a state, a key, the mode.

A class asks for no more than it needs with all that it contains. A module is called as its class
asks where that is known, and otherwise by the uniform `apply`, which hands on what is asked for.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from ...facts.modules import SPECTRAL_NORMS, WEIGHT_NORMS
from ...facts.program import ProgramFacts
from ...facts.values.lattice import Functions, Instance, Module
from ...model.copy import clone
from ...model.effects import (
    BUFFER,
    MIXED,
    PARAM,
    Apply,
    BoundMethod,
    Declare,
    New,
    NewArray,
    Read,
    Tie,
    Walk,
    Write,
)
from ...model.expressions import Attribute, Call, Name
from ...model.functions import is_inside
from ...model.names import dotted, root
from ...model.node import Expression, Node
from ...model.program import Class, Function
from ...model.project import Project
from ..sharing.placement import CONTAINERS
from ..threading.built_functions import runs_models
from ..threading.module_changes import is_applied
from ..threading.signatures import Signatures
from ..threading.threaded import NOTHING, Threads, is_threaded, union
from .buffers import unmade
from .computed_names import Computed, ComputedNames
from .given_modules import AsGiven
from .indirect_modules import (
    ListedAtTimes,
    bound_by,
    is_given,
    is_listed,
    is_of_class,
    is_unplaced,
    lists_known,
    modules_given,
    modules_kept,
)
from .initialisers import initialisers
from .late_fields import Unsettled
from .module_lists import grows_list
from .param_path import module_of
from .presence import Presence
from .root_module import Roots
from .walked_classes import Walked, fills_others

BUILDS = (Declare, Write, New, NewArray, Walk, Tie)


class Conventions(Signatures):
    """The threads of functions and calls where params and the mode are values too."""

    initialisers: dict[Function, str]  # methods that `init` calls, and what they make
    names: ComputedNames  # the arrays under computed names
    stateful: set[str]  # the names of buffers that are part of the state
    roots: Roots  # what plain functions read parts of
    presence: Presence  # whether a module has an array
    inside: frozenset[Node]  # the functions that stand in others
    computing = {
        **dict.fromkeys(WEIGHT_NORMS, Threads(params=True)),
        **dict.fromkeys(SPECTRAL_NORMS, Threads(takes=True, gives=True, params=True, mode=True)),
    }
    of_sequential, asks_sequential = Threads(params=True), False
    wraps_functions = makes_params = True

    def __init__(self, project: Project, facts: ProgramFacts, kept: Iterable[str] = ()) -> None:
        self.as_given = AsGiven(facts.modules, facts.effects, facts.values)
        self.listed_at_times = ListedAtTimes(facts.modules)
        super().__init__(project, facts, kept)

    # --- calls ------------------------------------------------------------------------------------

    def is_uniform(self, call: Call, asks: Threads | None = None) -> bool:
        """Whether a call goes by `apply`: what it runs is not known, or asks for several things."""
        threads, module = asks or self.of_call(call), isinstance(call.function.value, Module)
        return module and (threads.takes and self.runs_container(call) or not threads.known)

    def hands_on_state(self, call: Call, asks: Threads | None = None) -> bool:
        """Whether a call goes by `run`, which hands a state to each item of a container."""
        return (asks or self.of_call(call)).takes and self.is_container(call)

    def of_copy(self, call: Call) -> Threads:
        """What a call needs that is a copy of one of the program."""
        return self._of_call(call) if is_threaded(call) else NOTHING

    def of_value(self, method: Expression) -> Threads:
        """What a method or a module needs that is handed on as a value."""
        return self._of_call(Call(clone(method)))

    def given_root(self, call: Call) -> Expression | None:
        """What a call gives plain functions to read parts of."""
        return self.roots.given(call, self.targets(call))

    def initialised(self, call: Call) -> str | None:
        """What a call makes that runs one of the methods that `init` calls."""
        kinds = {self.initialisers.get(target) for target in self.targets(call) or ()}
        return kinds.pop() if len(kinds) == 1 else None

    def is_builder(self, function: Function) -> bool:
        """Whether a function builds modules, or says how arrays begin: it runs with __init__."""
        return function in self._builders

    def _found_builders(self) -> set[Function]:
        own = self.building - self.initialisers.keys()
        given = {f: [c for c in f.nodes(Apply, Call) if modules_given(c)] for f in own}
        found = set(filter(self._begins, own))
        while more := {f for f in own - found if self._ran(given[f]) & found}:
            found |= more
        return found

    def _ran(self, calls: Iterable[Call]) -> set[Function]:
        return {target for call in calls for target in self.targets(call) or ()}

    def _begins(self, function: Function) -> bool:
        plain = [n for n in function.nodes(New) if isinstance(n.value, Instance)]  # Normal(0, 1)
        begins = function.name == "__init__" or len(function.nodes(*BUILDS)) > len(plain)
        begins |= any(isinstance(a.function.value, Module) for a in function.nodes(Apply))
        calls = function.nodes(Apply, Call)
        return begins or any(is_applied(c) or self.initialised(c) or grows_list(c) for c in calls)

    def makes(self, function: Function) -> bool:
        read = any(isinstance(d, Name) and d.id == "property" for d in function.decorators)
        if read or runs_models(function, self.targets, self._stages):
            return False
        made = any(isinstance(new.value, Module) for new in function.nodes(New))
        own = function.receiver if function.owner else ""
        written = (w.target for w in function.nodes(Write))
        held = (root(t) for t in written if isinstance(t, Read) and t.kind == PARAM)
        return made or any(name is not None and name.id != own for name in held)

    def of_given(self, call: Call) -> Threads | None:
        found, direct = super().of_given(call), self.as_given.is_direct
        more = self.as_given.together(self.as_given.given(call.function.value), self.of)
        return found and replace(found | more, known=direct(call, self.of))

    # --- functions inside of others ---------------------------------------------------------------

    def given(self, function: Function) -> Threads:
        """What a function has as parameters: one inside has the params and the mode around it."""
        found = self.of(function)
        return replace(found, params=False, mode=False) if is_inside(function) else found

    def is_closure(self, call: Call) -> bool:
        """Whether a call runs a function inside of the one that it stands in."""
        return any(map(is_inside, self.targets(call) or ()))

    def own_nodes(self, function: Function) -> Iterator[Node]:
        """The nodes of a function, without those of the user's functions and classes inside."""
        stack: list[Node] = [function.body]
        while stack:
            node = stack.pop()
            if isinstance(node, Class) or isinstance(node, Function) and node in self.inside:
                continue
            yield node
            stack.extend(reversed(node.children()))

    # --- arrays -----------------------------------------------------------------------------------

    def is_state(self, array: Node) -> bool:
        """Whether an array changes while the model runs, or only a checkpoint can fill it."""
        if isinstance(array, Read) and array.kind in (BUFFER, MIXED):
            return array.name in self.stateful or self.names.is_buffer(array)
        return False

    # --- the fixed point --------------------------------------------------------------------------

    def is_joint(self, call: Call) -> bool:
        inside = set(map(is_inside, self.targets(call) or ()))  # such a one has the params
        return len(inside) < 2 and not (is_given(call) or isinstance(call.function.value, Module))

    def is_alike(self, target: Function, all: Threads) -> bool:
        if self.modules.is_identity(target) and not all.takes:
            return True  # it takes what others in its place do
        return replace(self.of(target), known=True) == replace(all, known=True)

    def of_unlike(self, all: Threads) -> Threads:
        return replace(all, known=False)

    def _solve(self) -> None:
        self.roots = Roots((f for f in self.functions if f not in self.building), self.modules)
        self.inside = frozenset(f for f in self.functions if is_inside(f))
        self.stateful = self.written | unmade(self.functions, self.written, self.effects)
        self.presence = Presence(self.modules, self.functions, self.stateful)
        self.names = ComputedNames(self.modules, self.functions, self.presence)
        self.unsettled, self.walked = Unsettled(self.project, self.modules), Walked(self)
        found = initialisers(self.building, self.modules, self.stateful)
        self.initialisers = {f: kind for f, kind in found.items() if not self._is_late(f)}
        while unlike := {f for f in self.initialisers if not self._is_alike(f)}:
            self.initialisers = {f: k for f, k in self.initialisers.items() if f not in unlike}
        self._builders = self._found_builders()
        self._refused: set[Call] | None = None  # while it is found out
        self._unplaced: dict[Call, bool] = {}  # whether it was refused whenever it was asked
        super()._solve()
        refused = set(filter(self._asks, self._unplaced))
        while refused != self._refused and not all(map(self._unplaced.get, refused)):
            self._refused, self._threads = refused, {}  # what raises asks for nothing
            super()._solve()
            refused = set(filter(self._asks, refused))

    def _is_alike(self, function: Function) -> bool:
        """Whether all methods that stand in for this one, or it for them, are called by `init`."""
        owner = function.owner
        assert owner is not None
        home = self.modules.home(owner)
        order = (c for c in home.order(owner) if isinstance(c, Class))
        above = (home.methods(c).get(function.name) for c in order)
        family = [*home.overriding(owner, function.name), *(f for f in above if f is not None)]
        return all(f in self.initialisers for f in family if f in self.functions)

    def _is_late(self, function: Function) -> bool:
        """Whether a method has to run where it is called: its order counts, or others call it."""
        me, changing = function.receiver, self.unsettled.of(function.owner)
        reads = (n for n in function.nodes(Attribute) if type(n) is Attribute)
        late = any(n.name in changing and dotted(n.object) == me for n in reads)
        walked = self.walked.is_inside(function.owner) or self.walked.is_before_walk(function)
        return late or self.walked.is_called(function) or walked and fills_others(function, me)

    def _of_nodes(self, nodes: Iterable[Node], function: Function) -> Threads:
        if self.is_builder(function):
            return NOTHING
        if function.name == "__call__" and self._is_of_container(function):
            return Threads(True, True, True, True, True, True)  # whatever its items ask for
        found = super()._of_nodes((n for n in nodes if not self._is_refused(n)), function)
        if function in self.building:
            return Threads(draws=found.draws) if function in self.initialisers else found
        given = [m for call in function.nodes(Apply, Call) for m in bound_by(call)]
        for handed in (*function.nodes(BoundMethod), *modules_kept(function), *given):
            found |= replace(self.of_value(handed), known=True)
        for call in function.nodes(Apply, Call):
            found |= Threads(params=lists_known(call))
            chosen = self.targets(call) if isinstance(call.function.value, Functions) else None
            for inner in [t for t in chosen or () if t.scope in (function, *function.ancestors())]:
                if is_inside(inner):  # it has what is here
                    one = self.of(inner)
                    found |= Threads(params=one.params, mode=one.mode)
            if (question := self.presence.asked(call, function)) is not None:
                kinds = self.presence.kinds(question)
                found |= Threads(takes=BUFFER in kinds, params=PARAM in kinds)
        for _, read in self.computed(function):
            found |= Threads(takes=BUFFER in read.kinds, params=PARAM in read.kinds)
        inside = (n for n in function.body.walk() if isinstance(n, Expression))
        listed = any(is_listed(n) or self.listed_at_times.reads(n, function) for n in inside)
        return found | Threads(params=found.params or listed)

    def _is_refused(self, node: Node) -> bool:
        """Whether a call will raise instead: what it runs has arrays, and no place here."""
        placed = isinstance(node, New) or node in self._of_scripts
        if not isinstance(node, Call) or not is_threaded(node) or placed:
            return False
        if self._refused is not None:
            return node in self._refused
        if (module := module_of(node)) is None or not is_unplaced(module):
            return False
        asks = self._asks(node)  # its class may turn out to ask for more than it does so far
        self._unplaced[node] = asks and self._unplaced.get(node, True)
        return asks

    def _asks(self, call: Call) -> bool:
        """Whether a call has to know where the arrays of its module are."""
        threads = self._of_call(call)
        return threads.params or threads.takes or not threads.known

    def computed(self, function: Function) -> Iterator[tuple[Call, Computed]]:
        """The arrays that a method reads under names that it computes."""
        for call in function.nodes(Call):
            if (read := self.names.asked(call, function)) is not None:
                yield call, read

    def _of_call(self, call: Call) -> Threads:
        if isinstance(call, New) or is_of_class(call) or self.roots.is_bound(call):
            return NOTHING  # constructors make none
        if isinstance(call.function.value, Functions) and (targets := self.targets(call)):
            found = union(map(self.given, targets))
            return replace(found, known=all(self.given(t) == found for t in targets))
        found = super()._of_call(call)
        return replace(found, known=found.known or self.as_given.is_taken(call, found.takes))

    # --- containers -------------------------------------------------------------------------------

    def runs_container(self, call: Call) -> bool:
        """Whether a call runs the loop of a container of torch's: of a class that extends it."""
        return any(map(self._is_of_container, self.targets(call) or ()))

    def _is_of_container(self, function: Function) -> bool:
        owner = function.owner
        return owner is not None and owner.name in CONTAINERS and self.modules.is_library(owner)
