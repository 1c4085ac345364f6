"""The facts of one program, each answered by its module, and made when it is first asked for."""

from functools import cached_property

from ..model.node import Node
from ..model.program import Class, Scope
from ..model.project import Project
from ..model.rulebook import Rulebook
from .activity import Activity
from .calls import Calls
from .draws import Draws
from .effects import EffectsOf
from .index_constants import Choosing, choosing
from .library import Library
from .memory import Memory
from .modules import Modules
from .stages import Stages
from .totality import Totality
from .values.queries import Values, solve


class ProgramFacts:
    """What passes and dialects ask of a program.

    Values and calls are solved on torch's program; passes hand values on with the nodes that they
    make. Modules and effects are asked of nodes, whatever has become of them.
    """

    def __init__(self, project: Project, rulebook: Rulebook, library: Library) -> None:
        self.project, self.rulebook = project, rulebook
        self.modules = Modules(project, library)
        self.effects = EffectsOf(self.modules, rulebook)

    @cached_property
    def values(self) -> Values:
        return solve(self.project, self.rulebook)

    @cached_property
    def calls(self) -> Calls:
        return Calls(self.values)

    @cached_property
    def stages(self) -> Stages:
        return Stages(self.values, self.calls)

    @cached_property
    def draws(self) -> Draws:
        return Draws(self.project, self.values, self.rulebook)

    @cached_property
    def activity(self) -> Activity:
        return Activity(self.project, self.values, self.calls)

    @cached_property
    def memory(self) -> Memory:
        return Memory(self.calls, self.rulebook, self.stages)

    @cached_property
    def totality(self) -> Totality:
        return Totality(self.effects)

    @cached_property
    def choosing(self) -> Choosing:
        return choosing(self.project, self.modules)

    @cached_property
    def needing_devices(self) -> frozenset[Class]:
        """The classes whose constructors have to be told of a device."""
        project = self.project
        made = ((cls, project.find(cls, "__init__")) for cls in project.classes())
        asked = ((cls, p) for cls, f in made if f is not None for p in project.parameters(f))
        return frozenset(cls for cls, p in asked if p.name == "device" and p.default is None)

    def stage(self, scope: Scope) -> str | None:
        """When the code of a scope runs: "traced", "building", "host" or "import"."""
        return self.stages.stage(scope)

    def in_forward(self, scope: Scope) -> bool:
        """Whether a forward pass calls the code of a scope."""
        return self.stages.in_forward(scope)

    def layer(self, name: str) -> Class | None:
        """The class of one of torch's layers, as the output has it."""
        return self.modules.library.named(name)

    def total(self, block: Node) -> bool:
        """Whether every operation of a block is finite, with its slope, whatever it is given."""
        return self.totality.total(block)
