"""What a pass is: a function from one scope of the program, and facts, to edits and diagnostics."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..model.diagnostics import Diagnostic
from ..model.edits import Edits, Make
from ..model.effects import Unconverted
from ..model.names import stored_by
from ..model.node import Expression, Node
from ..model.positions import place, source_of
from ..model.program import Scope
from ..model.statements import ExpressionStatement


class Changes(Edits):
    """What a pass wants of a scope: edits, and what the user should know."""

    def __init__(self, scope: Scope) -> None:
        super().__init__(scope)
        self.diagnostics: list[Diagnostic] = []
        self.withdrawn: set[tuple[str, str, int, int]] = set()
        self._raising: set[Node] = set()

    def replace(self, node: Node, make: Node | Make) -> None:
        """What raises raises once, and is nothing to store into: the assignment raises."""
        if not isinstance(make, Unconverted):
            super().replace(node, make)
            return
        assign = stored_by(node)
        raising = node if assign is None else assign
        if raising in self._raising:
            return
        self._raising.add(raising)
        if assign is None:
            super().replace(node, make)
        else:
            raised = Unconverted(make.id, source_of(assign))
            self.substitute(assign, [ExpressionStatement(raised)])

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
