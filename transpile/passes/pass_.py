"""What a pass is: a function from one scope of the program, and facts, to edits and diagnostics."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..model.diagnostics import Diagnostic
from ..model.edits import Edits
from ..model.effects import Unconverted
from ..model.node import INSERTED, Expression, Node, Span
from ..model.program import Scope


class Changes(Edits):
    """What a pass wants of a scope: edits, and what the user should know."""

    def __init__(self, scope: Scope) -> None:
        super().__init__(scope)
        self.diagnostics: list[Diagnostic] = []
        self.withdrawn: set[tuple[str, str, int, int]] = set()

    def withdraw(self, id: str, node: Node) -> None:
        """Take back what an earlier pass has reported of a node, which no longer holds."""
        self.withdrawn.add((id, *place(node)))

    def report(self, id: str, node: Node, message: str) -> None:
        """A diagnostic at the place where a node, or the first part of it, stood in the source."""
        self.diagnostics.append(Diagnostic(*place(node), id, message))

    def unconverted(self, id: str, node: Expression, message: str) -> None:
        """Report, and put what raises in the place of an expression; nothing else changes."""
        self.report(id, node, message)
        self.replace(node, Unconverted(id, source_of(node)))


@dataclass(frozen=True)
class Pass:
    """One construct's way from torch to JAX.

    `needs` names the facts that `run` asks; `run(scope, facts)` gives the changes of one scope. A
    pass `of_project` is run once, and gives the changes of all scopes.
    """

    name: str
    needs: tuple[str, ...]
    run: Callable[[Any, Any], Any]
    of_project: bool = False


def place(node: Node) -> tuple[str, int, int]:
    """Path, line and column, from 1, of a node, or of the one in whose place it stands; else those
    of the nearest part or ancestor that stood in the source."""
    nodes = (node, *node.walk(), *node.ancestors())
    span = _replaced(node) or next((n.origin for n in nodes if n.origin is not None), None)
    if span is None:
        return "", 1, 1
    text, start = span.file.text, span.start
    line = text.count("\n", 0, start) + 1
    return str(span.file.path), line, start - text.rfind("\n", 0, start)


def source_of(node: Node) -> str:
    """The user's text of a node, on one line; of one that a pass made that of what it stands in."""
    stands = (n for n in (node, *node.ancestors()) if not isinstance(n, Scope))
    span = _replaced(node) or next((n.origin for n in stands if n.origin is not None), None)
    lines = re.sub(r"(?<=[\[({])\s*\n\s*|\s*\n\s*(?=[])}])", "", span.text if span else "")
    return " ".join(lines.split())


def _replaced(node: Node) -> Span | None:
    """The text in whose place a node stands that a pass made."""
    around, slot = node.parent, node.slot
    if node.start >= 0 or slot is None or slot == INSERTED:
        return None
    return Span(around.file, *slot) if around is not None and around.file is not None else None
