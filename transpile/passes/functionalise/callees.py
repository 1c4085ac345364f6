"""Calls of the user's functions that write their arguments: taken back where that can be said, else
refused where it is read."""

from collections.abc import Iterator, Set

from ...facts.calls import Target
from ...facts.memory.access_paths import of, on_module, spelled
from ...facts.memory.locations import Summary
from ...facts.memory.must_alias import is_flag
from ...facts.memory.summaries import targets
from ...facts.memory.views import view_of
from ...facts.memory.writes import stripped
from ...facts.values import lattice
from ...facts.values.lattice import NUMPY, Method, Module, Sequence, Static, Tensor
from ...model.copy import clone
from ...model.expressions import Attribute, Call, Dictionary, Display, Name, Starred, Subscript
from ...model.node import Expression, Statement
from ...model.statements import Assign, ExpressionStatement
from . import nodes
from .aliases import follow, refuse
from .frame import Frame
from .order import elsewhere
from .rebinding import rebind, written_path


def taken_as_statement(frame: Frame, node: ExpressionStatement) -> Statement | None:
    """`x = clip_(x, 2.0)` for `clip_(x, 2.0)` as a statement, of a function that returns the
    argument it writes."""
    call = node.expression
    value = of(call.function) if isinstance(call, Call) else None
    if not isinstance(value, lattice.Function) or not isinstance(call, Call):
        return None
    summary = frame.memory.summary(value.function)
    if not summary.passed.exact or summary.passed.parameters != summary.parameters:
        return None
    bound = frame.memory.program.calls.arguments(call, Target(value.function))
    given = [a for name, a in bound if name in summary.parameters]
    if len(given) != 1 or not isinstance(given[0], (Name, Attribute)):
        return None
    if frame.state.given_back(call) != frame.state.made(given[0]):
        return None
    target = clone(given[0])
    follow(frame, target, node)
    return nodes.store(target, call)


def check_arguments(frame: Frame, node: Call) -> Expression | None:
    """A callee that writes its argument, where the caller reads it afterwards: what stands for the
    call, if that is in the same expression."""
    for target, call in _callees(frame, node):
        instead = _check(frame, node, target, call)
        if instead is not None:
            return instead
    return None


def _check(frame: Frame, node: Call, target: Target, call: Call) -> Expression | None:
    summary = frame.memory.summary(target.function)
    _check_elements(frame, node, target, call, summary)
    if not summary.parameters:
        return None
    left = _written_default(frame, target, summary.parameters, call)
    if left is not None:
        message = f"{target.name} changes {left} in place, whose default is one array for all calls"
        return frame.unconverted("mutated-argument", node, f"{message}: pass {left} here")
    twice = _passed_twice(frame, target, summary.parameters, call)
    if twice is not None:
        message = f"{target.name} changes {twice} in place, and is given the same memory twice"
        return frame.unconverted("mutated-argument", node, message)
    taken = frame.taken is not None and frame.taken.function is target.function
    for name, argument in _arguments(frame, target, summary.parameters, call):
        plain = argument.expression if isinstance(argument, Starred) else argument
        named = isinstance(argument, (Name, Attribute, Subscript))
        if taken and named and frame.is_taken(node):
            continue
        if _is_given_back(frame, node, plain) or _into_itself(frame, node, name, plain, summary):
            continue
        if _view_given_back(frame, node, name, plain, summary):
            continue
        message = f"{target.name} changes {name} in place, and "
        for own in owns(frame, plain):
            inside = own in frame.inside or bool(frame.state.sharing(own, frame.inside))
            assigned = isinstance(frame.current, Assign) and frame.current.expression is node
            if elsewhere(frame, node, own) - {"before"} and not assigned or inside:
                message += f"{own} is read afterwards"
                return frame.unconverted("mutated-argument", node, message)
            refuse_lost(frame, node, own, f"{message}{own} is read afterwards")
    return None


def _callees(frame: Frame, node: Call) -> Iterator[tuple[Target, Call]]:
    """What of the user's a call may run."""
    seen = set()
    for target, call in targets(frame.state, node):
        seen.add(target.function)
        yield target, call
    value = of(node.function)
    known = Tensor, Sequence, Static, Module
    if isinstance(value, Method) and not isinstance(value.receiver, known):
        if not seen:  # of an object of some class
            for function in frame.memory.writing_methods.get(value.name, ()):
                yield Target(function), node


def _arguments(
    frame: Frame, target: Target, written: Set[str], call: Call
) -> Iterator[tuple[str, Expression]]:
    """The arguments of a call that the callee writes, each once, with the parameters that they are
    passed as."""
    seen: set[Expression] = set()  # `*xs` may be passed as several
    for name, argument in frame.memory.program.calls.arguments(call, target):
        plain = is_flag(argument) or _is_plain(argument)
        if name in written and argument not in seen and not plain:
            seen.add(argument)
            yield name, argument


def _written_default(frame: Frame, target: Target, written: Set[str], call: Call) -> str | None:
    """The parameter that the callee writes, where the call leaves its default: `g(x)` of
    `def g(t, base=h): base += t`."""
    calls = frame.memory.program.calls
    given = {name for name, _ in calls.arguments(call, target)}
    for parameter in calls.parameters(target)[max(target.given, 0) :]:
        default = parameter.default
        if default is not None and parameter.name in written - given:
            if not is_flag(default) and not _is_plain(default):
                return parameter.name
    return None


def _is_plain(argument: Expression) -> bool:
    """Whether an argument has no memory: a number, or a list of numbers."""
    value = of(argument)
    if isinstance(value, Sequence):
        value = value.element
    return isinstance(value, Static) and value != NUMPY and bool(value.type)


def _passed_twice(frame: Frame, target: Target, written: Set[str], call: Call) -> str | None:
    """The parameter that the callee writes, where the call gives the same memory for another as
    well: `mix(x, x)`, `mix(x[0], x)`."""
    for name, argument in _arguments(frame, target, written, call):
        for other in call.arguments:
            if other is not argument and _holds_one(frame, other, argument):
                return name
    return None


def _holds_one(frame: Frame, a: Expression, b: Expression) -> bool:
    """Whether one of two expressions is certain to be the other, or a view of it."""
    if not all(isinstance(of(n), Tensor) for n in (a, b)):
        return False
    one, other = _chain(frame, a), _chain(frame, b)
    return bool(one and other) and (one[0] in other or other[0] in one)


def _chain(frame: Frame, node: Expression) -> list[object]:
    """The place of an expression, and what it is certain to be a view of, outwards."""
    places, found = frame.state.made(node), list[object]()
    while len(places) == 1 and (place := next(iter(places))) not in found:
        found.append(place)
        places = place.parents if place.view is not None else frozenset()
    return found


def _is_given_back(frame: Frame, node: Call, subject: Expression) -> bool:
    """Let z follow in `w = relu_(z)`, of a function of the user's that is certain to return what it
    writes; whether that is so."""
    target, path = _stored_in(frame, node), frame.state.path(subject)
    if not isinstance(target, Name) or path is None:
        return False
    if frame.state.given_back(node) != frame.state.places(path):
        return False
    if target.id != path and frame.is_read_later(path):
        frame.after.append(nodes.store(clone(subject), nodes.name(target.id)))
    live, frame.live = frame.live, frame.live - {target.id}
    follow(frame, subject, node)
    frame.live = live
    return True


def _into_itself(
    frame: Frame, node: Call, name: str, subject: Expression, summary: Summary
) -> bool:
    """Whether the result of a call that is certain to be what it writes is stored there:
    `self.w[i] = init_(self.w[i])`. Other names for it follow."""
    target = _stored_in(frame, node)
    if target is None or not _returns_it(frame, node, name, summary):
        return False
    one, other = (spelled(stripped(n, frame.views)) for n in (target, subject))
    if one is None or one != other:
        return False
    path = written_path(frame, subject)
    if path is not None and frame.state.path(target) == path:
        live, frame.live = frame.live, frame.live - {path}
        follow(frame, target, node)
        frame.live = live
    return True


def _view_given_back(
    frame: Frame, node: Call, name: str, subject: Expression, summary: Summary
) -> bool:
    """Let `x[:, :2]` follow in `w = relu_(x[:, :2])`, where that is what comes back."""
    target = _stored_in(frame, node)
    if not isinstance(target, Name) or not _returns_it(frame, node, name, summary):
        return False
    if not isinstance(subject, Subscript) or view_of(subject, frame.views) is None:
        return False
    base = written_path(frame, subject.object)
    if base is None or base == target.id:
        return False
    if not frame.is_read_later(base) and not frame.reached(base):
        return True
    live, at = frame.live, len(frame.after)
    frame.live = live - {target.id}
    frame.after[at:at] = rebind(frame, subject, nodes.name(target.id), node)  # others follow it
    frame.live = live
    return True


def _stored_in(frame: Frame, node: Call) -> Expression | None:
    """What alone the statement at hand stores a call in: `w = relu_(z)`."""
    current = frame.current
    if not isinstance(current, Assign) or current.expression is not node or current.operator:
        return None
    return current.targets[0] if len(current.targets) == 1 else None


def _returns_it(frame: Frame, node: Call, name: str, summary: Summary) -> bool:
    """Whether what a call gives is certain to be what it writes, and was given."""
    if not summary.passed.exact or summary.passed.parameters != {name}:
        return False
    return frame.state.is_certain(node, frame.state.functions_called(node))


def owns(frame: Frame, argument: Expression) -> list[str]:
    """The names whose memory an argument may be: x of `x`, `x[0]`, `x.view(-1)`, `[x, x + 1]`."""
    own = written_path(frame, argument)
    if own is not None:
        return [own]
    mine = {p for place in frame.state.shares(argument) for p in place.closure()}
    names = {p for n in argument.walk() if (p := frame.state.path(n)) in frame.state.env}
    return sorted(n for n in names if n and frame.state.env[n] & mine)


def _check_elements(frame: Frame, node: Call, target: Target, call: Call, summary: Summary) -> None:
    """A callee that writes what a list or dict holds: it puts the new tensors into that, and other
    names for the old ones cannot follow."""
    names = {p.name for p in frame.memory.program.calls.parameters(target)}
    for name, argument in _arguments(frame, target, summary.elements, call):
        message = f"{target.name} changes what {name} holds in place, and it is read afterwards"
        given = argument.expression if isinstance(argument, Starred) else argument
        parts: list[Expression] = given.elements if isinstance(given, Display) else []
        if isinstance(given, Dictionary):
            parts = [value for _, value in given.pairs]
        if name not in names and not isinstance(argument, Starred):
            parts = [given]  # `*xs` makes a tuple of its own
        for own in [own for part in parts for own in owns(frame, part)]:
            refuse_lost(frame, node, own, message)
        holder = written_path(frame, given)
        if not parts and holder is not None:
            refuse_lost(frame, node, holder, message, itself=False)


def refuse_lost(
    frame: Frame,
    node: Call,
    own: str,
    message: str,
    itself: bool = True,
    id: str = "mutated-argument",
) -> None:
    """What the callee has written, and what may be the same memory, raises where it is read; not
    `itself`, where that holds the new values."""
    for path in lost(frame, node, own, itself):
        if path not in frame.poisoned:  # several functions that the call may run write it
            frame.poisoned.add(path)
            refuse(frame, path, node, message, id)


def lost(frame: Frame, node: Call, own: str, itself: bool = True) -> list[str]:
    """The paths that have old values after a call that wrote what a path stands for."""
    current = frame.current
    assigned = isinstance(current, Assign) and node in set(current.walk())
    live = frame.live - frame.rebound if assigned else frame.live  # `q = fn(q)[-n:]`
    kept = frozenset(p for p in frame.state.env if on_module(p))
    lost = [own] if itself and (own in live or on_module(own) or frame.state.is_unheld(own)) else []
    return [*lost, *frame.state.sharing(own, live | kept)]
