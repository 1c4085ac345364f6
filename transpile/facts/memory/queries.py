"""The questions about memory: what is the same, a view, or apart; what does a write reach; what
does a function do to what it is given."""

import functools
from collections.abc import Iterator

from ...model.expressions import Attribute, Call, Lambda
from ...model.names import below, everywhere
from ...model.node import Expression
from ...model.program import File, Function
from ...model.rulebook import Rulebook
from ...model.statements import Assign
from ..calls import Calls
from ..stages import Stages
from . import summaries
from .access_paths import of
from .first_layers import may_begin, may_begin_in_place
from .flow_state import Program
from .inplace_names import Spellings
from .locations import Summary
from .returned_params import Results
from .summaries import Solved
from .writes import calls_in, sites, written_root

Scope = Function | File


class Memory:
    """Alias and escape analysis: flow-sensitive inside of functions, summaries between them."""

    def __init__(self, calls: Calls, rulebook: Rulebook, stages: Stages | None = None) -> None:
        self.program = Program(calls, Spellings(rulebook), stages)
        self.spellings = self.program.spellings
        self.spellings.begins_in_place = lambda: self.begins_in_place
        self._states: dict[Scope, tuple[int, Solved]] = {}
        self._solved = False
        self._results: Results | None = None

    # --- inside of a function --------------------------------------------------------------------

    def state(self, scope: Scope) -> Solved:
        """A function after its last statement; `before` has what holds before each."""
        found = self._states.get(scope)
        if found is None or found[0] != scope.version:
            flow = Solved(self.program, scope)
            flow.record = True
            flow.block(scope.body)
            found = self._states[scope] = scope.version, flow
        return found[1]

    def written(self, scope: Scope) -> set[str]:
        """The paths of a function whose memory it may change in place, itself or by calls."""
        flow, found = self.state(scope), set[str]()
        for statement, env in flow.before.items():
            state = flow.copy(env)
            subjects = [site.subject for site in sites(state, statement)]
            for call in calls_in(statement):
                for target, _ in summaries.targets(state, call):
                    changed = self.summary(target.function)
                    fields = [f for f in changed.fields if f.startswith("self.")]
                    found.update(filter(None, (state.here(target, call, f) for f in fields)))
                subjects += self._arguments_written(state, call)
            roots = [written_root(subject, state.views) for subject in subjects]
            places = [p for root in roots if root is not None for p in state.made(root)]
            reached = {p for place in places for p in place.closure()}
            if reached:
                shared = (
                    n for n, its in state.env.items() if any(p.closure() & reached for p in its)
                )
                found.update(shared)
        return found

    def arguments_written(self, call: Call, scope: Scope) -> list[Expression]:
        """What is given to functions of the user's that change it, or what it holds, in place."""
        return list(self._arguments_written(self.state(scope), call))

    def _arguments_written(self, state: Solved, call: Call) -> Iterator[Expression]:
        for target, made in summaries.targets(state, call):
            changed = self.summary(target.function)
            names = changed.parameters | changed.elements
            given = self.program.calls.arguments(made, target)
            yield from (argument for name, argument in given if name in names)

    @functools.cached_property
    def begins_in_place(self) -> bool:
        """Whether any Sequential of the project may begin with a layer that writes its argument."""
        # of a Sequential that begins with another one, that one tells
        asked, self.spellings.begins_in_place = self.spellings.begins_in_place, lambda: False
        found = may_begin_in_place(self.program.project, self.spellings.module_writes)
        self.spellings.begins_in_place = asked
        return found

    def writes_argument(self, layer: Expression, scope: Scope) -> bool | None:
        """Whether a submodule that is called in a scope writes what it is given; None where only
        some that it may be do."""
        value, writes = of(layer), self.spellings.module_writes
        found = writes(value)
        if found is None and not may_begin(self.program.calls, layer, scope, writes):
            return False
        return found

    @functools.cached_property
    def reshapes(self) -> bool:
        """Whether anything in the project may give a tensor another shape in place: what is asked
        for the shape of one counts as a read of it then."""
        known = {*self.spellings.reshaping, "set_", "as_strided_"}
        for file in self.program.project.ordered:
            for node in everywhere(file, Attribute):
                stored = node.name == "data" and isinstance(node.parent, Assign)
                if node.name in known or stored and node in node.parent.targets:  # type: ignore[union-attr]
                    return True
        return False

    # --- between functions -----------------------------------------------------------------------

    def summary(self, function: Function | Lambda) -> Summary:
        """What a function does to memory that was there before it."""
        self._solve()
        if function not in self.program.summaries:
            passed = summaries.passed(self.program, function)
            self.program.summaries[function] = Summary(passed=passed)
        return self.program.summaries[function]

    @functools.cached_property
    def writing_methods(self) -> dict[str, list[Function]]:
        """The methods that write what they are given, by name: what a call on an object of an
        unknown class may run."""
        self._solve()
        found: dict[str, list[Function]] = {}
        for function, summary in self.program.summaries.items():
            if isinstance(function, Function) and summary:
                if self.program.project.owner(function) is not None:
                    found.setdefault(function.name, []).append(function)
        return found

    @functools.cached_property
    def set_anew(self) -> frozenset[str]:
        """The names of arrays that something but a constructor gives other memory: `self.h = x`."""
        self._solve()
        return frozenset(
            path.rpartition(".")[2]
            for function, summary in self.program.summaries.items()
            if getattr(function, "name", "") != "__init__"
            for path in summary.bound
        )

    @property
    def results(self) -> Results:
        """Which functions give back what they write."""
        if self._results is None:
            self._solve()
            self._results = Results(self.program)
        return self._results

    def _solve(self) -> None:
        if not self._solved:
            self._solved = True
            project, calls = self.program.project, self.program.values.calls
            for function in summaries.bottom_up(calls):
                summaries.passed(self.program, function)
            states: dict[Function | Lambda, Solved] = {
                f: self.state(f) for f in project.functions()
            }
            for file in project.ordered:
                states.update({made: self._start(made) for made in below(file, Lambda)})
            summaries.solve(self.program, states)

    def _start(self, function: Lambda) -> Solved:
        """What holds before the body of a lambda."""
        flow = Solved(self.program, function)
        flow.before[function.body] = flow.env
        return flow
