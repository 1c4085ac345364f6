"""Calls that change arrays of modules in place: a local name for such an array, taken before,
follows, or is refused."""

from __future__ import annotations

from ...facts.memory.paths import of, on_module, spelled
from ...facts.memory.summaries import targets
from ...facts.values import lattice
from ...facts.values.lattice import Module
from ...model.expressions import Attribute, Call
from ...model.node import Expression
from ...model.program import Function
from ...model.statements import Assign
from . import nodes
from .aliases import refuse
from .frame import Frame
from .order import elsewhere

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
    called = {t.function for t, _ in targets(frame.state, node)}
    functions = {f for f in called if isinstance(f, Function)}
    reached = frame.memory.program.calls.reachable(functions) | functions
    return any(
        attribute == field.rpartition(".")[2] and _in_place(frame, f, field)
        for f in reached
        for field in frame.memory.summary(f).fields
    )


def _in_place(frame: Frame, function: Function, field: str) -> bool:
    """Whether a function writes an array where it is, rather than setting another: `self.h = x`."""
    cause = frame.memory.summary(function).causes.get(field)
    return not (isinstance(cause, Assign) and not cause.operator and _sets(cause, field))


def _sets(cause: Assign, field: str) -> bool:
    return any(
        isinstance(t, Attribute) and t.name == field.rpartition(".")[2] for t in cause.targets
    )
