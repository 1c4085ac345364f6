"""Where else the current statement reads what one of its calls writes: Python evaluates from the left."""

from __future__ import annotations

from typing import Any

import libcst as cst

from ... import tree
from .frame import Frame


def elsewhere(frame: Frame, call: Any, name: str) -> set[str]:
    """Where the statement reads the name outside an in-place call: "after" it (or as the object itself), or "before".

    `z * z.add_(y)` multiplies the new z by itself, since both operands are the object; `(z + 1) * z.add_(y)` computed
    with the old z first.
    """
    for small in frame.current.body if frame.current is not None else ():
        if _holds(small, call):
            look = _Look(frame, call, name)
            targets = [t.target for t in small.targets] if isinstance(small, cst.Assign) else []
            for child in tree.children(small):
                if not (isinstance(child, cst.AssignTarget) and child.target in targets):
                    look.at(child, True)
            return look.found
    return set()


def _holds(node: cst.CSTNode, call: Any) -> bool:
    return any(n is call for n in tree.walk(node))


class _Look:
    """A walk over a statement in the order of evaluation."""

    def __init__(self, frame: Frame, call: Any, name: str) -> None:
        self.frame, self.call, self.name = frame, call, name
        self.inside = {id(n) for n in tree.walk(call)}
        self.passed = False
        self.found: set[str] = set()

    def at(self, node: Any, around: bool) -> None:
        """Look at a node; `around` says that the call has the node itself beside it, not a value computed from it."""
        if node is self.call:
            self.passed = True
            return
        if self.frame.memory.path(node) == self.name and id(node) not in self.inside:
            self.found.add("after" if self.passed or around else "before")
            return
        holds = _holds(node, self.call)
        transparent = isinstance(node, (cst.Arg, cst.Element, cst.Tuple, cst.List))
        below = tree.children(node)
        if isinstance(node, cst.IfExp) and holds:  # the other side is not evaluated, and a test before the call only decides
            sides = node.body, node.orelse
            below = [node.test, *sides] if _holds(node.test, self.call) else [side for side in sides if _holds(side, self.call)]
        for child in below:
            self.at(child, holds or around and transparent)
