"""The rounds of interpretation: every file and function, until nothing new is found."""

from __future__ import annotations

from ..project import Project
from ..rulebook import Rulebook
from . import assignments, attributes, calls, displays, functions, names, operators, statements, subscripts
from .frame import Frame, Handlers
from .tables import Inference

_ROUNDS = 3

# What interprets each class of nodes.
_HANDLERS: Handlers = {
    **statements.HANDLERS,
    **assignments.HANDLERS,
    **names.HANDLERS,
    **attributes.HANDLERS,
    **calls.HANDLERS,
    **functions.HANDLERS,
    **operators.HANDLERS,
    **displays.HANDLERS,
    **subscripts.HANDLERS,
}


def infer(project: Project, rulebook: Rulebook) -> Inference:
    """Values of everything in a project, computed to a fixed point, or for a few rounds."""
    facts = Inference(project, rulebook)
    for _ in range(_ROUNDS):
        facts.begin_round()
        for module in project.modules.values():
            facts.module_env[module] = {}
            Frame(facts, _HANDLERS, module, None).block(module.tree.body, facts.module_env[module])
        infos = [f for m in project.modules.values() for f in m.all_functions if f.outer is None]
        for info in sorted(infos, key=lambda f: f.name != "__init__"):  # what constructors set, the others read
            functions.interpret_once(Frame(facts, _HANDLERS, info.module, info))
        if facts.settled():
            break
    return facts
