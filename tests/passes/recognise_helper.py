"""Runs recognise on a text, with solved values, and prints the nodes that it makes."""

import functools
from pathlib import Path, PurePosixPath
from unittest import mock

from tests.facts.programs import Program
from transpile.facts.calls import Calls
from transpile.facts.draws import Draws
from transpile.facts.modules import Modules
from transpile.facts.stages import Stages
from transpile.model import effects as nodes
from transpile.model.edits import commit_all
from transpile.model.rule_files import load
from transpile.passes import recognise
from transpile.passes.recognise.layer_words import library
from transpile.source import splice
from transpile.source.lower import lower

LAYERS = Path(__file__).parents[2] / "rules" / "layers"
MADE = (
    nodes.Read,
    nodes.Apply,
    nodes.New,
    nodes.NewArray,
    nodes.BoundMethod,
    nodes.Mode,
    nodes.Declare,
    nodes.Tie,
    nodes.Walk,
    nodes.Unconverted,
)


@functools.cache
def layers():
    paths = [p for p in sorted(LAYERS.glob("*.py")) if p.name != "__init__.py"]
    return library([lower(p.read_text(), PurePosixPath(p.name)) for p in paths])


class Facts:
    """The facts of a program, solved."""

    def __init__(self, program):
        self.project, self.values, self.rulebook = program.project, program.values, load()
        self.calls = Calls(self.values)
        self.stages = Stages(self.values, self.calls)
        self.modules = Modules(self.project, layers())
        self.draws = Draws(self.project, self.values, self.rulebook)


class Recognised:
    """A program after the pass."""

    def __init__(self, text, **others):
        self.program = Program(text, **others)
        self.facts = Facts(self.program)
        self.diagnostics = []
        for one in recognise.PASSES:
            found = one.run(self.program.project, self.facts)
            commit_all(found)
            self.diagnostics += [d for changes in found for d in changes.diagnostics]

    @property
    def ids(self):
        return [d.id for d in self.diagnostics]

    @property
    def text(self):
        """The file as it is now, behind its imports."""
        with _rendered():
            return splice.write(self.program.file).split("import numpy as np\n")[1]

    def nodes(self, *kinds, inside=None):
        """Kind and text of each node made, outer before inner; `inside` names a function."""
        root = self.program.file if inside is None else self.program.function(inside)
        found = [n for n in root.walk() if n.__class__ in (kinds or MADE)]
        with _rendered():
            return [shown(n) for n in found]


def _rendered():
    """What is a kind of the user's node is written as that is."""
    made = {kind: splice._RENDER[base] for kind in MADE if (base := _base(kind)) is not None}
    made[nodes.Tie] = lambda w, n: f"{w.part(n, n.target)} = {w.part(n, n.source)}"
    made[nodes.Mode] = lambda w, n: f"{w.part(n, n.object)}.training"
    made[nodes.Unconverted] = lambda w, n: f"raise_({n.id!r})"
    return mock.patch.dict(splice._RENDER, made)


def _base(kind):
    return next((k for k in kind.__mro__ if k in splice._RENDER), None)


def shown(node):
    word = node.__class__.__name__
    kind = f" {node.kind}" if hasattr(node, "kind") else ""
    kept = "" if getattr(node, "persistent", True) else "~"
    text = splice.Writer().text(node)
    return f"{word}{kind}{kept}: {text.splitlines()[0]}"
