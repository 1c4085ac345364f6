"""Programs with their values solved, a pass run on all their scopes, and what became of the text."""

import ast
from pathlib import PurePosixPath

from transpile.facts.activity import Activity
from transpile.facts.calls import Calls
from transpile.facts.memory import Memory
from transpile.facts.values import solve
from transpile.model import rule_files
from transpile.model.effects import Detached, Unconverted
from transpile.model.expressions import Attribute, Call, Constant, Name
from transpile.model.project import Project
from transpile.source.lower import lower
from transpile.source.splice import write

IMPORTS = (
    "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\nimport numpy as np\n"
)
RULES = rule_files.load()


class Facts:
    """What passes ask before recognise."""

    def __init__(self, project, stage=None):
        self.project, self.rulebook = project, RULES
        self.values = solve(project, RULES)
        self.calls = Calls(self.values)
        self.activity = Activity(project, self.values, self.calls)
        self.memory = Memory(self.calls, RULES)
        self._stage = stage

    def stage(self, scope):
        name = getattr(scope, "name", "")
        return "building" if name == "__init__" else "traced" if name == "forward" else self._stage


def spell(file):
    """The nodes that are no syntax as calls: `Detached(x)`."""
    for node in list(file.walk()):
        if isinstance(node, Detached):
            words = [None] if node.unless is None else [None, "unless"]
            parts = [node.expression] if node.unless is None else [node.expression, node.unless]
            node.replace(Call(Name("Detached"), parts, words))
        elif isinstance(node, Unconverted):
            arguments = [Constant(node.id), Constant(node.source)]
            node.replace(Call(Attribute(Name("nn"), "unconverted"), arguments))


def run(text, *passes, stage=None):
    """The text after passes, and their diagnostics."""
    project = Project()
    path = PurePosixPath("module.py")
    file = project.add(path, lower(text, path))
    project.link()
    facts, diagnostics = Facts(project, stage), []
    for one in passes:
        for scope in list(file.scopes()):
            changes = one(scope, facts)
            changes.commit()
            diagnostics += changes.diagnostics
    spell(file)
    made = write(file)
    ast.parse(made)
    return made, diagnostics
