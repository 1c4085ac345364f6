"""What a dialect gives back: the text of every file that it changed, and of the support file."""

from dataclasses import dataclass, field
from typing import Any, Protocol

from ..model.diagnostics import Diagnostic
from ..model.program import File
from ..model.rulebook import Rulebook


@dataclass
class Output:
    """The files of a project in a dialect. `support`: the text of jax_nn.py, None where nothing
    asks for it."""

    files: dict[File, str] = field(default_factory=dict)
    support: str | None = None
    diagnostics: list[Diagnostic] = field(default_factory=list)


class Facts(Protocol):
    """What a dialect asks: what classes hold (facts.modules.Modules), what calls do
    (facts.effects.EffectsOf), when code runs (facts.stages.Stages), what rule files define."""

    modules: Any
    effects: Any
    stages: Any
    rulebook: Rulebook
