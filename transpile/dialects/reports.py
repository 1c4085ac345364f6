"""What is noted while a project is written: diagnostics, and the raising that stands there."""

from dataclasses import dataclass, field

from ..facts.values.lattice import Tensor
from ..model.diagnostics import Diagnostic
from ..model.effects import MIXED, PARAM, Declare, NewArray, Support, Unconverted
from ..model.names import text
from ..model.node import Node, Statement
from ..model.positions import place, source_of
from ..model.program import Function
from ..model.statements import Block, ExpressionStatement
from .faults import Faults, raising

_UNTRAINED = "is not trained in torch on this way: leave it out of what the optimizer updates"


@dataclass
class Reports:
    faults: Faults
    diagnostics: list[Diagnostic] = field(default_factory=list)

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

    def raises_alone(self, id: str, function: Function, why: str) -> None:
        """The same of a function: it raises whenever it is called."""
        first, *rest = function.body.body
        for statement in rest:
            function.body.remove(statement)
        self.report(id, function, why)
        says = raising(Unconverted(id, source_of(first)), Support)
        function.body.substitute(first, [ExpressionStatement(says)])


def report_untrained(function: Function, reports: Reports) -> None:
    """Report a param that is a plain array on one way through a constructor: the params of this
    dialect can't say that it isn't trained there.

    if learned: self.w = nn.Parameter(w)
    else: self.w = w
    """
    for made in function.nodes(NewArray):
        if made.kind == MIXED:
            reports.report("frozen-param", made, f"{text(made.arguments[0])} {_UNTRAINED}")
    found: dict[str, list[Declare]] = {}
    for declare in function.nodes(Declare):
        value = declare.expression.value if declare.expression is not None else None
        if declare.kind in (PARAM, MIXED) and isinstance(value, Tensor):
            found.setdefault(declare.name, []).append(declare)
    for ways in found.values():
        plain = [d for d in ways if d.here != PARAM]
        apart = any(d.parent is not function.body for d in ways)
        if plain and len(plain) < len(ways) and apart:
            target = text(plain[0].targets[0])
            reports.report(
                "frozen-param", plain[0].expression or plain[0], f"{target} {_UNTRAINED}"
            )
