"""What is noted while a project is written: diagnostics, and calls that are scans of layers."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..model.diagnostics import Diagnostic
from ..model.effects import Support, Unconverted
from ..model.node import Node, Statement
from ..model.statements import Block, ExpressionStatement
from ..passes.pass_ import place, source_of
from .faults import Faults, raising


@dataclass
class Reports:
    faults: Faults
    diagnostics: list[Diagnostic] = field(default_factory=list)
    scanned: set[Node] = field(default_factory=set)

    def report(self, id: str, node: Node, message: str) -> None:
        self.diagnostics.append(Diagnostic(*place(node), id, message))

    def refuse(self, id: str, statement: Statement, why: str) -> None:
        """Report a statement, and let it raise where it stands."""
        self.report(id, statement, why)
        raising = ExpressionStatement(Unconverted(id, source_of(statement)))
        assert isinstance(statement.parent, Block)
        statement.parent.substitute(statement, [raising])

    def unconverted(self, id: str, node: Node, why: str) -> None:
        """Report an expression, and put what raises in its place."""
        self.report(id, node, why)
        node.replace(Unconverted(id, source_of(node)))

    def raises(self, id: str, node: Node, why: str) -> None:
        """The same where no step comes any more that spells what raises."""
        self.report(id, node, why)
        node.replace(raising(Unconverted(id, source_of(node)), Support))
