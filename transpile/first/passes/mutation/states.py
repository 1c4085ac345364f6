"""Calls that change arrays of modules in place: a local name for such an array, taken before, follows, or is refused.

    m = self.bn.running_mean               m = self.bn.running_mean
    y = self.bn(x)                  ->     y = self.bn(x)
    return y + m                           m = self.bn.running_mean
                                           return y + m
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import libcst as cst

from ... import tree
from ...callgraph import reachable
from ...context import Context
from ...project import ClassInfo, FunctionInfo
from ...values import Function, Module, Tensor
from .frame import Frame
from .order import elsewhere
from .summaries import Mutations

_STATISTICS = frozenset({"running_mean", "running_var", "num_batches_tracked"})  # what layers of torch's change when they are called


def may_be_named(context: Context, node: cst.FunctionDef, mutations: Mutations) -> bool:
    """Whether a function reads an array of a module that calls change in place, or makes such a call."""
    names = _STATISTICS.union(*mutations.state.values())
    if any(isinstance(called := context.value(n.func), Function) and called.info in mutations.state for n in tree.nodes(node.body, cst.Call)):
        return True
    reads = (n for n in tree.nodes(node.body, cst.Attribute) if n.attr.value in names)
    return any(isinstance(context.value(n), Tensor) and isinstance(context.value(n.value), Module) for n in reads)


def names_follow(frame: Frame, node: cst.Call) -> Any:
    """Let the names for what a call changes follow it; what stands for the call, where they are read beside it."""
    memory = frame.memory
    for path in [p for p in memory.env if "." in p and _changes(frame, node, p)] if frame.runs else ():
        for name in sorted(n for n in memory.sharing(path, frozenset(memory.env)) if n.isidentifier()):
            message = f"{tree.code(node.func)} changes {path} in place, and {name} may be the same memory: take it after the call, or clone it"
            if elsewhere(frame, node, name):
                return frame.context.unconverted("aliased-write", node, message)
            if name not in frame.live or name in frame.rebound and frame.current is not None and isinstance(frame.current.body[0], cst.Assign):
                continue
            same = memory.places(name) == memory.places(path) and frame.current is not None
            frame.after.append(tree.assignment(name, _array(frame, path) if same else frame.context.unconverted("aliased-write", node, message)))
    return None


def _array(frame: Frame, path: str) -> Any:
    """An array of a module as an expression, as it was taken before."""
    found = next((n for n in tree.nodes(frame.node.body, cst.Attribute) if frame.memory.path(n) == path), None)
    if found is None:
        return frame.named(path)
    made = tree.replace(found)
    frame.facts.carry(found, made)
    return made


def _changes(frame: Frame, node: cst.Call, path: str) -> bool:
    """Whether a call may change what is at a path in place: `self.bn(x)` of `self.bn.running_mean`, `self.step(x)` of `self.count`."""
    value = frame.value(node.func)
    attribute = path.rpartition(".")[2]
    if isinstance(value, Module):
        receiver = tree.code(node.func)
    elif isinstance(value, Function) and value.info.owner is not None and value.info.owner.is_module and isinstance(node.func, cst.Attribute):
        receiver = tree.code(node.func.value)
    else:
        return False
    if frame.info.self_name is not None and (receiver == frame.info.self_name or receiver.startswith(frame.info.self_name + ".")):
        receiver = "self" + receiver[len(frame.info.self_name) :]
    if not path.startswith((receiver + ".", receiver + "[")):
        return False
    if isinstance(value, Module) and not value.is_self and attribute in _STATISTICS:
        return True
    called = reachable(frame.facts.calls, _called(value))
    return any(attribute in frame.mutations.state.get(f, ()) for f in called)


def _called(value: Module | Function) -> Iterator[FunctionInfo]:
    if isinstance(value, Function):
        owner = value.info.owner
        yield value.info
        yield from owner.overriding(value.info.name) if owner is not None else ()
        return
    for ref in value.refs:
        if isinstance(ref, ClassInfo):
            yield from (c.methods["forward"] for c in ref.family() if "forward" in c.methods)
    for item in [v for _, v in value.items or ()] + ([value.element] if value.element is not None else []):
        if isinstance(item, Module):
            yield from _called(item)
