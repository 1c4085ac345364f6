"""Programs in the layers' words, written in Equinox."""

import functools
import pickle
from pathlib import Path, PurePosixPath
from types import SimpleNamespace

from transpile.dialects import equinox
from transpile.facts.effects import EffectsOf
from transpile.facts.modules import Modules
from transpile.facts.values import lattice
from transpile.model import rule_files
from transpile.model.effects import Apply, New, Support
from transpile.model.program import File
from transpile.model.project import Project
from transpile.passes.recognise.layer_words import library
from transpile.source.lower import lower

LAYERS = Path(__file__).parents[2] / "rules" / "layers"


class Facts:
    def __init__(self, modules):
        self.modules, self.effects = modules, EffectsOf(modules)
        self.rulebook = rules()
        self.stages = SimpleNamespace(in_forward=lambda scope: True)
        self.calls = SimpleNamespace(arguments=lambda call, target: ())  # none is drawn


@functools.cache
def _lowered() -> bytes:
    paths = [p for p in sorted(LAYERS.glob("*.py")) if p.name != "__init__.py"]
    return pickle.dumps([lower(p.read_text(), PurePosixPath(p.name)) for p in paths])


def layer_files():
    """Fresh models: what is written is edited."""
    return pickle.loads(_lowered())


rules = functools.cache(rule_files.load)


def prepared(text: str, change=lambda file: None) -> tuple[Project, File, Facts]:
    """A program beside the layers: their classes, where it builds them, are the support file's."""
    layers = layer_files()
    file = lower(text, PurePosixPath("program.py"))
    made = library([*layers, file])
    modules = Modules(Project(), made)
    for function in [*file.functions()]:
        for call in function.nodes(New):
            cls = call.function.value.ref
            if cls.file is not file:
                function_value = call.function.value
                call.function.replace(Support(cls.name))
                call.function.value = function_value
            if cls.name == "Sequential":
                items = [(str(i), a.value) for i, a in enumerate(call.arguments)]
                call.value = lattice.Module(frozenset([cls]), items=tuple(items))
    for function in file.functions():
        for call in function.nodes(Apply):
            cls, value = function.owner, call.function.value
            if isinstance(value, lattice.Module) and {c.name for c in value.refs} == {"Sequential"}:
                built = modules.children(cls)[call.function.name].values
                items = tuple(item for new in built for item in new.value.items)
                call.function.value = lattice.Module(
                    frozenset({"torch.nn.Sequential"}), items=items
                )
    change(file)
    project = Project()
    project.add(file.path, file)
    project.link()
    return project, file, Facts(modules)


def written(text: str, change=lambda file: None):
    project, file, facts = prepared(text, change)
    output = equinox.write(project, facts)
    return output.files[file], output.support, output.diagnostics
