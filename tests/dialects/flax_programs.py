"""Programs in the layers' words, written in Flax NNX."""

import ast
from pathlib import Path, PurePosixPath
from types import SimpleNamespace

from transpile.dialects import flax
from transpile.dialects.support.definitions import PRELUDES
from transpile.facts.effects import EffectsOf
from transpile.facts.modules import Modules
from transpile.facts.values import lattice
from transpile.model.effects import New, Support
from transpile.model.expressions import Name
from transpile.model.program import File
from transpile.model.project import Project
from transpile.model.rule_files import load
from transpile.model.statements import Import
from transpile.passes.recognise.layer_words import library
from transpile.source.lower import lower

LAYERS = Path(__file__).parents[2] / "rules" / "layers"
WORDS = "from transpile.layer import Buffer, Module, Parameter, draw_key\n"


class Facts:
    def __init__(self, modules):
        self.modules, self.effects = modules, EffectsOf(modules)
        self.rulebook = load()
        self.stages = SimpleNamespace(in_forward=lambda scope: True)
        self.calls = SimpleNamespace(arguments=lambda call, target: ())  # none is drawn


def layer_files():
    paths = [p for p in sorted(LAYERS.glob("*.py")) if p.name != "__init__.py"]
    return [lower(p.read_text(), PurePosixPath(p.name)) for p in paths]


def prepared(text: str, change=lambda file: None) -> tuple[Project, File, Facts]:
    """A program beside the layers, in projects of their own."""
    layers = layer_files()
    file = lower(WORDS + text, PurePosixPath("program.py"))
    made = library([*layers, file])
    for function in file.functions():
        for call in function.nodes(New):
            cls = call.function.value.ref
            if cls.file is not file:
                value = call.function.value
                call.function.replace(Support(cls.name))
                call.function.value = value
    _alone(made.project, file)
    change(file)
    project = Project()
    project.add(file.path, file)
    imports = project.names[file].imports
    for name, meant in imports.items():
        if meant.startswith("transpile.layer") or made.find(f"torch.nn.{name}") is not None:
            imports[name] = f"torch.nn.{name}"
    project.link()
    for cls in project.classes():
        for base in cls.bases:
            if isinstance(base, Name) and imports.get(base.id, "").startswith("torch"):
                base.replace(Support(base.id))
    for statement in [s for s in file.body.body if isinstance(s, Import)]:
        if statement.module == "transpile.layer" or statement.level:
            file.body.remove(statement)
    modules = Modules(project, made)
    return project, file, Facts(modules)


def _alone(project: Project, file: File) -> None:
    """Take a file out of the project of the layers, with which its names were found."""
    names = project.names.pop(file)
    del project.files[names.dotted]
    project.link()


def written(text: str, change=lambda file: None):
    project, file, facts = prepared(text, change)
    output = flax.write(project, facts)
    return output.files.get(file, file.text), output.support, output.diagnostics


def definitions() -> dict[str, str]:
    """The texts of the layers, and of what the prelude defines, by name."""
    folders = (LAYERS.glob("*.py"), (PRELUDES / "flax").glob("*.py"))
    nodes = (n for files in folders for file in files for n in ast.parse(file.read_text()).body)
    found = [n for n in nodes if isinstance(n, (ast.ClassDef, ast.FunctionDef))]
    for node in found:
        node.decorator_list = []  # the output has no `@layer("torch.nn.LSTM")`
    return {node.name: ast.unparse(node) for node in found}


def support(*names: str) -> str:
    """The support file with these layers."""
    project = Project()
    project.link()
    made = library(layer_files())
    defined = definitions()  # with the parameters that they have: what has none of them stays so
    existing = "\n".join(defined.get(name, f"def {name}(): ...") for name in names)
    output = flax.write(project, Facts(Modules(project, made)), existing)
    return output.support


def same(text: str, wanted: str) -> bool:
    return ast.dump(ast.parse(text)) == ast.dump(ast.parse(wanted))


def layer_names() -> set[str]:
    """The classes that the layer files define for torch's names."""
    return {cls.name for cls in library(layer_files()).classes.values()}


__all__ = ["layer_names", "lattice", "prepared", "same", "support", "written"]
