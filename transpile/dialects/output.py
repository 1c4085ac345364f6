"""What a dialect gives back: the text of every file that it changed, and of the support file."""

from dataclasses import dataclass, field

from ..model.diagnostics import Diagnostic
from ..model.program import File


@dataclass
class Output:
    """The files of a project in a dialect. `support`: the text of jax_nn.py, None where nothing
    asks for it."""

    files: dict[File, str] = field(default_factory=dict)
    support: str | None = None
    diagnostics: list[Diagnostic] = field(default_factory=list)
