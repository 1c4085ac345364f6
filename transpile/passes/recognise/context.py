"""What the parts of the pass share while they look at one scope: whose self it is, when it runs."""

from collections.abc import Mapping

from ...facts.modules import Modules
from ...facts.program import ProgramFacts
from ...facts.stages import Stages
from ...facts.values import Values
from ...facts.values.lattice import Value
from ...model.expressions import Call
from ...model.node import Expression
from ...model.program import Class, Function, Scope
from ...model.project import Project
from ..pass_ import Changes


class Scene:
    """One scope, and the changes of it."""

    def __init__(self, scope: Scope, facts: ProgramFacts) -> None:
        self.scope, self.facts = scope, facts
        self.project: Project = facts.project
        self.values: Values = facts.values
        self.stages: Stages = facts.stages
        self.modules: Modules = facts.modules
        self.changes = Changes(scope)
        self.stage = facts.stages.stage(scope)
        method = self.project.method(scope) if isinstance(scope, Function) else None
        self.method = method
        owner = self.project.owner(method) if method is not None else None
        is_module = owner is not None and self.project.is_module(owner)
        self.cls: Class | None = owner if is_module else None
        self.modes: Mapping[Call, bool] = {}  # in which calls run, where it is not the caller's
        self.own = self.project.self_name(method) if method is not None and is_module else None

    @property
    def building(self) -> bool:
        return self.stage == "building"

    def of(self, node: Expression) -> Value:
        return self.values.of(node)
