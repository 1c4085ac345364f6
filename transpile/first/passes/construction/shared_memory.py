"""Arrays of self that share memory with a local: what is written to either afterwards is in both, and reported where it would be lost.

    self.w = nn.Parameter(w)
    fill(w)          # a function that writes its argument
"""

from __future__ import annotations

import collections
from typing import Any

import libcst as cst

from ... import tree
from ...values import Function
from .constructors import Original
from .initial_values import parameter_call, shared
from .local_values import Locals

_CALLED = "{} writes {}, whose memory self.{} has: let it return the new value, and make self.{} of that"
_INSIDE = "{} is written after a parameter has its memory: write it before"
_WRITTEN = "self.{} is written here, and {} has the same memory: write {}, before it is given to self"


class SharedMemory:
    """The arrays of one constructor's self that were given the memory of locals, as far as the split has come."""

    def __init__(self, original: Original, locals_: Locals) -> None:
        self.original, self.locals = original, locals_
        self._attributes: dict[str, list[str]] = collections.defaultdict(list)  # by local

    def note(self, statement: Any, name: str | None) -> None:
        """Remember that an attribute was given the memory of a local."""
        local = shared(self.original.context, statement)
        if local is not None and name is not None and local not in self.original.parameters:
            self._attributes[local].append(name)

    def report(self, statement: Any) -> None:
        """Report a write that only one of both would see."""
        context = self.original.context
        for call in tree.nodes(statement, cst.Call):
            first: Any = parameter_call(call) if getattr(statement.body[0], "value", None) is not call else None
            if isinstance(first, cst.Name) and self.locals.places.until(first.value, self.locals.here) > self.locals.here:
                context.report("aliased-write", call, _INSIDE.format(first.value))
        for call in tree.nodes(statement, cst.Call) if self._attributes else ():
            value: Any = context.value(call.func)
            for name, given in value.info.given(call).items() if isinstance(value, Function) and value.info.name != "__init__" else ():
                if isinstance(given, cst.Name) and self._attributes.get(given.value) and _writes(context, value.info.node, name):
                    attribute = self._attributes[given.value][0]
                    context.report("aliased-write", call, _CALLED.format(value.info.name, given.value, attribute, attribute))
        for node in tree.nodes(statement, cst.Assign, cst.AugAssign) if self._attributes else ():
            self._report_written(node)

    def _report_written(self, node: Any) -> None:
        target = node.targets[0].target if isinstance(node, cst.Assign) else node.target
        written = isinstance(node, cst.AugAssign) or id(node) in self.original.context.facts.in_place
        attribute = self.original.attribute(target)
        for local, attributes in self._attributes.items():
            if not written or attribute not in attributes or shared(self.original.context, node) == local:
                continue  # `self.a = w` after `w.fill_(2)` is what follows that write
            others = [f"self.{name}" for name in attributes if name != attribute]
            others += [local] if self._read_after(local, node) else []
            if others:
                self.original.context.report("aliased-write", node, _WRITTEN.format(attribute, others[0], local))

    def _read_after(self, local: str, node: Any) -> bool:
        """Whether a local is read after a place, before it gets another value."""
        nodes = list(tree.walk(self.original.node.body))
        place = next((i for i, n in enumerate(nodes) if n is node), len(nodes))
        parts = {id(n.attr) for n in nodes if isinstance(n, cst.Attribute)} | {id(n.keyword) for n in nodes if isinstance(n, cst.Arg)}
        for n in nodes[place:]:
            if isinstance(n, cst.AssignTarget) and isinstance(n.target, cst.Name) and n.target.value == local:
                return False
            if isinstance(n, cst.Name) and n.value == local and id(n) not in parts:
                return True
        return False


def _writes(context: Any, function: cst.FunctionDef, name: str) -> bool:
    """Whether a function writes what a parameter holds: `w = jnp.full_like(w, 3.0)` for `w.fill_(3.0)`."""
    assigned = (n for n in tree.nodes(function.body, cst.Assign, cst.AugAssign) if isinstance(n, cst.AugAssign) or id(n) in context.facts.in_place)
    return any(name in tree.names_assigned(n) for n in assigned)
