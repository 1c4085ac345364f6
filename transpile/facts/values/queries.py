"""What is asked of the values once they are solved. UNKNOWN and None mean not known, never no."""

from ...model.node import Expression
from ...model.program import Class, Function
from ...model.project import Project
from ...model.rulebook import Rulebook
from . import lattice
from .lattice import UNKNOWN, Module, Static, Value
from .parameter_usage import may_be_numpy
from .solve import Solver


class Values:
    """What was found: the value of every expression, attribute, parameter and result."""

    def __init__(self, solver: Solver) -> None:
        self.facts = solver
        self.calls = solver.calls  # which functions each function calls
        self.given_data = {pair for run in solver.runs.values() for pair in run.data}

    def of(self, node: Expression) -> Value:
        """What an expression may be."""
        value: Value | None = node.value
        return UNKNOWN if value is None else value

    def may_be_none(self, node: Expression) -> bool | None:
        """Whether an expression may be None; None where nothing is known of it."""
        value = self.of(node)
        if isinstance(value, (lattice.Tensor, Module)):
            return value.none
        if isinstance(value, Static):
            return value == lattice.NONE if value.type else None
        return None if value == UNKNOWN else False

    def result(self, function: Function) -> Value:
        """What a function returns."""
        return self.facts.result(function)

    def attribute(self, cls: Class, name: str) -> Value | None:
        """What `self.name` may be in methods of a class."""
        return self.facts.attribute(cls, name)

    def parameters(self, function: Function) -> dict[str, Value]:
        """What calls give for the parameters of a function."""
        return self.facts.parameters(function)

    def assumed(self, function: Function) -> dict[str, Value]:
        """The classes that parameters of a constructor are taken for, where others may be given."""
        return self.facts.read("assumed", function) or {}

    def may_be_numpy(self, function: Function, name: str) -> bool:
        """Whether calls and annotations say nothing of a parameter, which is used only as NumPy
        allows, too."""
        told = any(p.name == name and p.annotation is not None for p in function.parameters)
        given = self.parameters(function).get(name)
        return not told and given is None and may_be_numpy(self.facts, function, name)


def solve(project: Project, rulebook: Rulebook) -> Values:
    """The values of everything in a project."""
    solver = Solver(project, rulebook)
    solver.solve()
    return Values(solver)
