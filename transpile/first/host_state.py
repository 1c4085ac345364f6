"""Calls that move on what Python keeps: iterators, counters, generators. Each turn of a loop has another result of theirs."""

from __future__ import annotations

import functools

import libcst as cst

from . import tree
from .callgraph import with_callers
from .host_code import sets_attributes
from .host_draws import HostDraws
from .infer import NUMPY_METHODS, ORDINARY, Inference
from .project import FunctionInfo
from .values import UNKNOWN, External, Function, Method, Static, is_anything

_QUESTIONS = (ORDINARY | NUMPY_METHODS) - {"pop", "sample", "step"}  # methods by whose names nothing is moved on


class HostState:
    """Which calls move on something that JAX does not see."""

    def __init__(self, facts: Inference, host: HostDraws) -> None:
        self.facts, self.host = facts, host

    def moves(self, call: cst.Call) -> bool:
        """Whether a call is certain to: it draws, asks an iterator for the next, or is of a function that does such a thing."""
        return self._is_direct(call) or self.host.is_draw(call) or _called(self.facts, call) in self._moving

    def may_move(self, call: cst.Call) -> bool:
        """Whether a call is not known to only compute: `sampler.draw(3)` of an object of which nothing is known."""
        return self.moves(call) or self._is_unknown(call) or _called(self.facts, call) in self._doubtful

    @functools.cached_property
    def _functions(self) -> list[FunctionInfo]:
        return [f for m in self.facts.project.modules.values() for f in m.all_functions]

    @functools.cached_property
    def _moving(self) -> set[FunctionInfo]:
        found = [f for f in self._functions if _writes(f) or any(map(self._is_direct, tree.nodes(f.node.body, cst.Call)))]
        return with_callers(self.facts.calls, found, self._functions)

    @functools.cached_property
    def _doubtful(self) -> set[FunctionInfo]:
        found = [f for f in self._functions if any(map(self._is_unknown, tree.nodes(f.node.body, cst.Call)))]
        return with_callers(self.facts.calls, found, self._functions)

    def _is_direct(self, call: cst.Call) -> bool:
        """`next(it)`; a new iterator, as in `next(iter(x))`, is moved for nobody else."""
        return self.facts.of(call.func) == External("builtins.next") and bool(call.args) and tree.dotted(call.args[0].value) is not None

    def _is_unknown(self, call: cst.Call) -> bool:
        """Whether nothing is known of what is called: a method of an object, or a function that gets no array to compute with."""
        func, value = call.func, self.facts.of(call.func)
        if any(a.keyword is not None and a.keyword.value == "key" for a in call.args):
            return False  # it draws with a key
        if isinstance(value, Method):
            return is_anything(value.receiver) and self._is_unknown_method(value.name)
        if value != UNKNOWN or id(func) not in self.facts.values:  # made by a pass
            return False
        if isinstance(func, cst.Attribute):
            return self._is_unknown_method(func.attr.value)
        return isinstance(func, cst.Name) and all(isinstance(self.facts.of(a.value), Static) for a in call.args)

    def _is_unknown_method(self, name: str) -> bool:
        if owners := self.facts.owners.get(name):
            return any(cls.methods[name] in self._moving for cls in owners)
        return name not in _QUESTIONS and not self.facts.rulebook.find(f"torch.Tensor.{name}")


def _called(facts: Inference, call: cst.Call) -> FunctionInfo | None:
    value = facts.of(call.func)
    return value.info if isinstance(value, Function) else None


def _writes(function: FunctionInfo) -> bool:
    """Whether a function sets what outlives it: globals, and attributes of objects that are no modules."""
    return any(tree.nodes(function.node.body, cst.Global, cst.Nonlocal)) or sets_attributes(function)
