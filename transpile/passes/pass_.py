"""What a pass is: a function from one scope of the program, and facts, to edits and diagnostics."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..model.diagnostics import Diagnostic
from ..model.edits import Edits
from ..model.effects import Unconverted
from ..model.node import Expression, Node
from ..model.program import Scope


class Changes(Edits):
    """What a pass wants of a scope: edits, and what the user should know."""

    def __init__(self, scope: Scope) -> None:
        super().__init__(scope)
        self.diagnostics: list[Diagnostic] = []

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
    """Path, line and column of a node; those of the nearest part or ancestor that stood in the
    source."""
    candidates = [node, *node.walk(), *node.ancestors()]
    found = next((n for n in candidates if n.start >= 0 and n.file is not None), None)
    if found is None or found.file is None:
        return "", 1, 1
    text, start = found.file.text, found.start
    line = text.count("\n", 0, start) + 1
    return str(found.file.path), line, start - text.rfind("\n", 0, start)


def source_of(node: Node) -> str:
    """The user's text of a node, on one line."""
    origin = node.origin
    return " ".join(origin.text.split()) if origin is not None else ""
