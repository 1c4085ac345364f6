"""Where else the current statement reads what one of its calls writes: Python evaluates from the
left."""

from __future__ import annotations

from typing import Any

from ...facts.memory import indices
from ...facts.memory.access_paths import on_module
from ...facts.memory.inplace_names import is_tensor
from ...facts.memory.locations import closed
from ...model.expressions import Call, Display, Starred, Subscript
from ...model.names import text
from ...model.node import Expression, Node
from ...model.operators import Conditional
from ...model.statements import Assign, ExpressionStatement, Return
from .frame import Frame

_PLAIN = (Display, Starred)


def elsewhere(frame: Frame, call: Node, path: str) -> set[str]:
    """Where the statement reads the path outside an in-place call: "after" it, "beside" it, where
    the object itself stands before, or "before".

    `z * z.add_(y)` multiplies the new z by itself, since both operands are the object;
    `(z + 1) * z.add_(y)` computed with the old z first.
    """
    return _look(frame, call, path).found


def called_before(frame: Frame, call: Node) -> set[Call]:
    """The calls of the statement that are evaluated before one."""
    return _look(frame, call, "").called - set(call.walk())


def reads_late(left: list[Expression], value: Expression) -> list[bool]:
    """For each of as many values as targets, whether it is a view of a tensor that the targets
    write."""
    if not isinstance(value, Display) or len(value.elements) != len(left):
        return []
    written = {text(one.object) for one in left if isinstance(one, Subscript)}
    return [
        isinstance(v, Subscript)
        and is_tensor(v.object)
        and text(v.object) in written
        and indices.kind(v.index) == "basic"
        for v in value.elements
    ]


def _look(frame: Frame, call: Node, path: str) -> _Look:
    look = _Look(frame, call, path)
    current = frame.current
    if isinstance(current, (ExpressionStatement, Return, Assign)):
        if isinstance(current, Assign) and current.operator:
            look.at(current.targets[0], True)
        if current.expression is not None:
            look.at(current.expression, True)
    elif current is not None:
        for child in current.children():
            look.at(child, True)
    return look


class _Look:
    """A walk over a statement in the order of evaluation."""

    def __init__(self, frame: Frame, call: Node, path: str) -> None:
        self.frame, self.call, self.path = frame, call, path
        self.inside = set(call.walk())
        self.around = set(call.ancestors()) | {call}
        self.passed = False
        self.found: set[str] = set()
        self.called: set[Call] = set()

    def at(self, node: Any, around: bool) -> None:
        """Look at a node; `around` says that the call has the node itself beside it, not a value
        computed from it."""
        if node is self.call:
            self.passed = True
            return
        if node not in self.inside and self.is_it(node):
            self.found.add("after" if self.passed else "beside" if around else "before")
            return
        if isinstance(node, Call) and node not in self.around and not self.passed:
            self.called.add(node)
        holds = node in self.around
        below = node.children()
        if isinstance(node, Conditional):
            below = [node.test, node.body, node.orelse]
            if holds and node.test not in self.around:  # the other side is not evaluated, and a
                below = [s for s in (node.body, node.orelse) if s in self.around]  # test decides
        for child in below:
            self.at(child, holds or around and isinstance(node, _PLAIN))

    def is_it(self, node: Any) -> bool:
        """Whether a node is what stands at the path, or a call that gives that of a module:
        `self.bump()`, which returns self.count."""
        if isinstance(node, Call) and node not in self.around and on_module(self.path):
            shared = self.frame.state.shares(node)
            return bool(closed(shared) & closed(self.frame.state.places(self.path)))
        return isinstance(node, Expression) and self.frame.state.path(node) == self.path
