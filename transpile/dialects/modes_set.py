"""Modes that are set outside of what runs, where modules have none of their own.

def freeze(self):
    self.norm.eval()        raises, and is reported: what each call is told decides

A constructor sets none, and what a forward sets is followed, or told, before.
"""

from collections.abc import Iterator
from itertools import chain

from ..facts.modules import Modules
from ..facts.stages import Stages
from ..facts.values.lattice import UNKNOWN, Module
from ..model.classes import MODES
from ..model.expressions import Attribute, Call
from ..model.names import text
from .reports import Reports
from .scripts import models_of, script_functions

_LEFT = "is left as it is: where this is a module it has no such method here"


def refuse(modules: Modules, stages: Stages, reports: Reports, why: str) -> None:
    """Let what sets the mode of a module raise; what is asked of anything is told alone. That of
    the models of a script is followed there."""
    project = modules.project
    models = [m for file in project.ordered for m in models_of(file)]
    models += chain.from_iterable(script_functions(project.functions(), stages).values())
    followed = {statement for model in models for statement, _ in model.modes}
    for call, function in list(_calls(modules)):
        held = function.object.value
        if call.parent in followed:
            continue
        if isinstance(held, Module):
            own = (modules.find(cls, function.name) for cls in modules.classes_of(held.refs))
            if not any(own):
                reports.unconverted("module-mode", call, why)
        elif held in (None, UNKNOWN) and function.name == "eval" and not call.arguments:
            reports.report("left-over", call, f"{text(function)}() {_LEFT}")


def _calls(modules: Modules) -> Iterator[tuple[Call, Attribute]]:
    for file in modules.project.ordered:
        for scope in file.scopes():
            for call in scope.nodes(Call):
                function = call.function
                if isinstance(function, Attribute) and function.name in MODES:
                    yield call, function
