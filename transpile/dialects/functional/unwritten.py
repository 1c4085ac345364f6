"""Layers that the functional output has no form for: those with a weight that the user's own
module computes, `parametrize.register_parametrization(self.fc, "weight", Norm())`."""

from __future__ import annotations

from ...model.effects import New, Support, Unconverted
from ...model.project import Project
from ...model.statements import Assign, Block, ExpressionStatement
from ...passes.pass_ import source_of
from .report import Reports

_UNWRITTEN = frozenset({"Parametrized", "ParametrizationList"})
_CALL = "parametrize.register_parametrization(…)"  # of which a declaration was made
_WHY = (
    "a weight that a module of yours computes has no form in this output: compute it where the "
    "layer is called"
)


def report_unwritten(project: Project, reports: Reports) -> None:
    """Report the layers that cannot be built, and let their statements raise."""
    for scope in [s for file in project.ordered for s in file.scopes()]:
        for new in list(scope.nodes(New)):
            function = new.function
            if not isinstance(function, Support) or function.name not in _UNWRITTEN:
                continue
            reports.report("unsupported", new, _WHY)
            raising = Unconverted("unsupported", source_of(new) or _CALL)
            statement = new.parent
            if isinstance(statement, Assign) and isinstance(statement.parent, Block):
                statement.parent.substitute(statement, [ExpressionStatement(raising)])
            else:
                new.replace(raising)
