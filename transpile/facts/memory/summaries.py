"""What functions write and give back: bottom-up over the call graph, until nothing changes."""

from collections.abc import Iterator, Mapping, Set

from ...model.effects import Read
from ...model.expressions import Attribute, Call, Display, Lambda, Starred, Subscript
from ...model.node import Expression, Node
from ...model.program import Function
from ...model.project import Project
from ...model.statements import Assign
from ..calls import Target, applied
from ..values.lattice import External, Torch
from .access_paths import of, on_module
from .flow import Flow
from .flow_state import Program, State
from .inplace_names import is_tensor
from .locations import Passed, Summary, closed
from .must_alias import is_flag
from .writes import calls_in, flattened, sites, written_root

# What calls its first argument with the others.
_CALLERS = frozenset(
    {"builtins.map", "builtins.filter", "functools.reduce", "torch.utils.checkpoint.checkpoint"}
)


class Solved(Flow):
    """The way through a function that finds out, when it asks, what the functions that it calls
    pass on."""

    def passes(self, target: Target) -> Passed:
        return passed(self.program, target.function)


Code = Function | Lambda


def passed(program: Program, function: Code) -> Passed:
    """What the result of a function may share memory with; while it is being found out, nothing
    is known of what calls itself."""
    if function not in program.passed:
        program.passed[function] = Passed()
        for _ in range(3):
            flow = Solved(program, function)
            before, found = program.passed[function], flow.passed()
            program.passed[function] = found
            program.samples[function] = flow.paths.samples
            calls = program.values.calls
            recursive = isinstance(function, Function) and function in calls.get(function, ())
            if found == before or not recursive:
                break
    return program.passed[function]


def bottom_up(calls: Mapping[Function, Set[Function]]) -> list[Function]:
    """Functions, each behind those that it calls, as far as that goes."""
    found: dict[Function, None] = {}
    seen: set[Function] = set()
    for start in calls:
        stack: list[tuple[Function, bool]] = [(start, False)]
        while stack:
            function, done = stack.pop()
            if done:
                found[function] = None
            elif function not in seen:
                seen.add(function)
                stack.append((function, True))
                inner = calls.get(function, ())
                stack.extend((f, False) for f in sorted(inner, key=lambda f: f.qualified))
    return list(found)


# --- writes ---------------------------------------------------------------------------------------


def solve(program: Program, states: Mapping[Code, Flow]) -> None:
    """Fill the summaries: what a function writes itself, then what it writes by calls."""
    for function, flow in states.items():
        found = Summary(passed=passed(program, function))
        for statement, env in flow.before.items():
            state = flow.copy(env)
            for site in sites(state, statement):
                _record(state, found, site.subject, site.node)
            _assigned(state, found, statement)
        program.summaries[function] = found
    callers = _callers(program, states)
    todo = [f for f in states if program.summaries[f]]
    while todo:
        for caller, statement, call, target in callers.get(todo.pop(), ()):
            flow, found = states[caller], program.summaries[caller]
            before = found.size()
            _by_call(flow.copy(flow.before[statement]), found, call, target)
            if found.size() > before:
                todo.append(caller)


Caller = tuple[Code, Node, Call, Target]


def _callers(program: Program, states: Mapping[Code, Flow]) -> dict[Code, list[Caller]]:
    found: dict[Code, list[Caller]] = {}
    if not any(program.summaries[f] for f in states):
        return found
    for function, flow in states.items():
        for statement in flow.before:
            for call in calls_in(statement):
                for target, made in targets(flow, call):
                    found.setdefault(target.function, []).append(
                        (function, statement, made, target)
                    )
    return found


def targets(state: Flow, call: Call) -> Iterator[tuple[Target, Call]]:
    """What of the user's a call may run, and the call that it makes of it: `f(xs)` of
    `map(f, xs)`."""
    value = of(call.function)
    if isinstance(value, (External, Torch)) and value.name in _CALLERS and len(call.arguments) > 1:
        first = call.arguments[0]
        if call.keywords[0] is None and not isinstance(first, Starred):
            made = handed_on(call)
            yield from ((t, made) for t in state.targets(first))
        return
    if forwards := [forward for forward, _ in applied(state.project, call.function)]:
        yield from ((Target(f, given_by_torch(state.project, f)), call) for f in forwards)
        return
    yield from ((t, call) for t in state.functions_called(call))


def handed_on(call: Call) -> Call:
    """The call that a call makes with what it is given; it stands nowhere, and adopts nothing."""
    made = object.__new__(Call)
    Expression.__init__(made)
    made.function, made.arguments = call.arguments[0], call.arguments[1:]
    made.keywords, made.value = call.keywords[1:], call.value
    return made


def given_by_torch(project: Project, forward: Function) -> int:
    """How many parameters of an autograd Function's forward `apply` gives it: the ctx, where that
    is not set up apart."""
    owner = project.owner(forward)
    return 0 if owner is None or "setup_context" in project.methods(owner) else 1


def _by_call(state: Flow, found: Summary, call: Call, target: Target) -> None:
    """What a call of a function that writes its parameters writes here."""
    summary = state.program.summaries.get(target.function, Summary())
    for name, argument in state.program.calls.arguments(call, target):
        inner = argument.expression if isinstance(argument, Starred) else argument
        if is_flag(inner):
            continue
        if name in summary.parameters:
            _record(state, found, inner, call)
        elif name in summary.elements:
            _record_held(state, found, inner, call)
    for path in list(summary.fields):  # of a function that calls itself they grow here
        here = state.here(target, call, path) if path.startswith("self.") else None
        if here is not None and on_module(here):
            _add(found.fields, here, found, call)


def _record_held(state: Flow, found: Summary, inner: Expression, call: Node) -> None:
    """What a list holds is written: `g([z, y])`."""
    parts = inner.elements if isinstance(inner, Display) else []
    for part in parts:
        _record(state, found, part, call)
    root = state.root(inner)
    if not parts and root is not None:
        for parameter in state.parameters(root):
            direct = root == parameter
            _add(found.elements if direct else found.parameters, parameter, found, call)


def _record(state: State, found: Summary, subject: Expression, node: Node) -> None:
    """A write of an expression writes the parameters whose memory it may have, and arrays of
    modules."""
    root = written_root(subject, state.views)
    if root is None:
        return
    path = state.path(root)
    if path is None:
        return _record_element(state, found, root, node)
    place = state.only(path)
    holder = place.base if place is not None and place.entry is not None else None
    for parameter in state.parameters(path) - {holder}:
        _add(found.parameters, parameter, found, node)
    for parameter in _starred(state, path):
        _add(found.elements, parameter, found, node)
    if holder is not None and holder in state.parameters(path):
        _add(found.elements, holder, found, node)
    for outer in {path, *state.outer(path)}:
        if on_module(outer):
            _add(found.fields, outer, found, node)


def _starred(state: State, path: str) -> set[str]:
    """`*args` whose elements a write to this path reaches."""
    found = {p.parameter for p in closed(state.places(path)) if p.parameter is not None}
    return found & state.starred


def _record_element(state: State, found: Summary, root: Expression, node: Node) -> None:
    """A write to an element of a list or dict, or to what a call gives."""
    holder: Expression = root
    while isinstance(holder, (Subscript, Attribute)) and state.name(holder) is None:
        holder = holder.object
    name = state.name(holder)
    if name is None:
        shared = state.shares(holder) if isinstance(state, Flow) else frozenset()
        parameters = {p.parameter for place in shared for p in place.closure()}
        for parameter in sorted(p for p in parameters if p is not None):
            _add(found.parameters, parameter, found, node)
        return
    key = state.key_in(root, name)
    held = {p.parameter for place in state.places(name) for p in place.under(key)}
    reached = state.parameters(name) & held
    for parameter in _starred(state, name):
        _add(found.elements, parameter, found, node)
    for parameter in reached:
        direct = reached == {name}
        _add(found.elements if direct else found.parameters, parameter, found, node)


def _assigned(state: State, found: Summary, statement: Node) -> None:
    """Arrays of modules that a statement gives other memory: `self.h = x`."""
    if isinstance(statement, Assign) and statement.expression is not None:
        for target in flattened(statement.targets):
            array = isinstance(target, Read) or state.paths.is_array(target)
            if array and (path := state.path(target)) is not None and is_tensor(target):
                found.bound.add(path)
                _add(found.fields, path, found, statement)


def _add(names: set[str], name: str, found: Summary, node: Node) -> None:
    if name not in names:
        names.add(name)
        found.causes.setdefault(name, node)
