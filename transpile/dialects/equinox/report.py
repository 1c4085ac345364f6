"""What is noted while a project is written: diagnostics, and calls that are scans of layers."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...model.diagnostics import Diagnostic
from ...model.node import Node
from ...passes.pass_ import place
from ..faults import Faults


@dataclass
class Reports:
    faults: Faults
    diagnostics: list[Diagnostic] = field(default_factory=list)
    scanned: set[Node] = field(default_factory=set)

    def report(self, id: str, node: Node, message: str) -> None:
        self.diagnostics.append(Diagnostic(*place(node), id, message))
