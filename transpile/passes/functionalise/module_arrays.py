"""Calls that change arrays of modules in place: a local name for such an array, taken before,
follows, or is refused."""

from ...facts.memory.access_paths import of, on_module, spelled
from ...facts.memory.locations import closed
from ...facts.memory.summaries import targets
from ...facts.values import lattice
from ...facts.values.lattice import Method, Module, Torch
from ...model.copy import clone
from ...model.effects import Read
from ...model.expressions import Attribute, Call
from ...model.names import below
from ...model.node import Expression
from ...model.program import Function
from ...model.statements import Assign
from . import nodes
from .aliases import refuse
from .frame import Frame
from .order import called_before, elsewhere

# What layers of torch's change when they are called.
_STATISTICS = frozenset({"running_mean", "running_var", "num_batches_tracked"})


def names_follow(frame: Frame, node: Call) -> Expression | None:
    """Let the names for what a call changes follow it; what stands for the call, where they are
    read beside it.

    m = self.bn.running_mean               m = self.bn.running_mean
    y = self.bn(x)                  ->     y = self.bn(x)
    return y + m                           m = self.bn.running_mean
    """
    state = frame.state
    for path in [p for p in list(state.env) if on_module(p) and _changes(frame, node, p)]:
        names = (n for n in state.sharing(path, frozenset(state.env)) if n.isidentifier())
        for name in names:
            message = (
                f"{nodes.source(node.function)} changes {path} in place, and {name} may be the "
                "same memory: take it after the call, or clone it"
            )
            if elsewhere(frame, node, name):
                return frame.unconverted("aliased-write", node, message)
            if name not in frame.live or name in frame.rebound:
                continue
            if state.places(name) == state.places(path):
                frame.after.append(Assign([nodes.name(name)], frame.named(path)))
            else:
                refuse(frame, name, node, message)
    return None


def taken_out(frame: Frame, node: Call) -> Expression | None:
    """What stands for a call that changes in place what its statement has before it as the object,
    with its new value then: a name for its result.

    return self.bn.running_mean + self.bn(x)    ->    output = self.bn(x)
                                                      return self.bn.running_mean + output
    """
    if frame.current is None or not isinstance(of(node.function), (Module, lattice.Function)):
        return None
    given = {
        p.free for call in called_before(frame, node) for p in closed(frame.state.shares(call))
    }
    read = {p for n in below(frame.current, Attribute, Read) if (p := frame.state.path(n))}
    paths = sorted(p for p in {*read, *given} if p and on_module(p))
    changed = [p for p in paths if _changes(frame, node, p)]
    where = {p: elsewhere(frame, node, p) for p in changed}
    beside = [p for p in changed if "beside" in where[p]]
    if not beside:
        return None
    summaries = [frame.memory.summary(f) for f in _reached(frame, node)]
    bound = {field.rpartition(".")[2] for s in summaries for field in s.bound}
    for path in beside:
        if path.rpartition(".")[2] in bound:
            message = (
                f"{nodes.source(node.function)} writes {path} in place and sets it anew: which of "
                "both is read beside it is not known, make the call a statement"
            )
            return frame.unconverted("state-in-expression", node, message)
    told = all(isinstance(of(c.function), (Torch, Method)) for c in called_before(frame, node))
    if frame.chosen or not told or any("before" in where[p] for p in changed):
        message = f"{beside[0]} is read beside what changes it: make the call a statement"
        return frame.unconverted("state-in-expression", node, message)
    name = nodes.name(frame.fresh("output"), of(node))
    node.replace(clone(name))
    frame.before_with_followers([Assign([name], node)])
    return None


def _changes(frame: Frame, node: Call, path: str) -> bool:
    """Whether a call may change what is at a path in place: `self.bn(x)` of
    `self.bn.running_mean`, `self.step(x)` of `self.count`."""
    value, attribute = of(node.function), path.rpartition(".")[2]
    receiver = frame.state.receiver_of(node)
    owner = value.owner if isinstance(value, lattice.Function) else None
    if receiver is None or not (isinstance(value, Module) or owner is not None):
        return False
    text = frame.state.paths.from_self(f"{spelled(receiver)}.").removesuffix(".")
    if frame.state.paths.is_self(receiver):
        text = "self"
    if not path.startswith((f"{text}.", f"{text}[")):
        return False
    if isinstance(value, Module) and not value.is_self and attribute in _STATISTICS:
        return True
    return any(
        attribute == field.rpartition(".")[2] and _in_place(frame, f, field)
        for f in _reached(frame, node)
        for field in frame.memory.summary(f).fields
    )


def _reached(frame: Frame, node: Call) -> set[Function]:
    """The functions that a call may run, and those that they call."""
    called = {t.function for t, _ in targets(frame.state, node)}
    functions = {f for f in called if isinstance(f, Function)}
    return frame.memory.program.calls.reachable(functions) | functions


def _in_place(frame: Frame, function: Function, field: str) -> bool:
    """Whether a function writes an array where it is, rather than setting another: `self.h = x`."""
    cause = frame.memory.summary(function).causes.get(field)
    return not (isinstance(cause, Assign) and not cause.operator and _sets(cause, field))


def _sets(cause: Assign, field: str) -> bool:
    return any(
        isinstance(t, Attribute) and t.name == field.rpartition(".")[2] for t in cause.targets
    )
