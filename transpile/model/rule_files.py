"""Reads the rule files, which are never run: their definitions, marks, constants and tables."""

import ast
import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .rulebook import Definition, Rulebook

MARKS = {"rule", "layer"}
Named = ast.FunctionDef | ast.ClassDef
_WORDS = {
    "Module": ("torch.nn.Module", "torch.jit.ScriptModule"),
    "Parameter": ("torch.nn.Parameter",),
    "Buffer": ("torch.nn.Buffer",),
}


def directory() -> Path:
    """Where the rule files are: beside the package in a checkout, inside it when installed."""
    here = Path(__file__).parent.parent
    return here / "rules" if (here / "rules").is_dir() else here.parent / "rules"


def files() -> tuple[list[Path], list[Path]]:
    """The rule files: those of functions, and those of layers, written once with `self`."""
    here = directory()
    return sorted(here.glob("*.py")), sorted((here / "layers").glob("*.py"))


def words_file() -> Path:
    """The file with the words that layers are written with."""
    return Path(__file__).parent.parent / "layer.py"


@functools.cache
def load(*extra: Path) -> Rulebook:
    """Read the rule files; the user's own (`extra`) come first and so take precedence.

    Raises ValueError where two of our own definitions have one name: the support file could hold
    only one of them.
    """
    reader = _Reader(extra)
    for path in extra:
        reader.read(path)
    reader.read_words()
    functions, layers = files()
    for path in [*layers, *functions]:
        reader.read(path)
    by_torch = {name: tuple(found) for name, found in reader.by_torch.items()}
    registrations, completions = tuple(reader.registrations), _completions(reader.definitions)
    return Rulebook(reader.definitions, by_torch, reader.constants, registrations, completions)


def _completions(definitions: dict[str, Definition]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, definition in definitions.items():
        for mark in getattr(definition.node, "decorator_list", ()):
            if isinstance(mark, ast.Attribute) and isinstance(mark.value, ast.Name):
                found.setdefault(mark.value.id, []).append(name)
    return found


class _Reader:
    """What has been read so far."""

    def __init__(self, extra: tuple[Path, ...]) -> None:
        self.extra = extra
        self.definitions: dict[str, Definition] = {}
        self.by_torch: dict[str, list[Definition]] = {}
        self.constants: dict[str, str] = {}
        self.registrations: list[tuple[str, frozenset[str]]] = []

    def read(self, path: Path) -> None:
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
        imports = imports_of(tree)
        for node in tree.body:
            if isinstance(node, Named):
                self._define(node, path, text, imports, tuple(_torch_names(node)))
            elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                name = node.targets[0].id
                if name == "CONSTANTS" and isinstance(node.value, ast.Dict):
                    for key, value in zip(node.value.keys, node.value.values):
                        if isinstance(key, ast.Constant):
                            self.constants[str(key.value)] = ast.unparse(value)
                else:
                    made = _definition(name, node, path, text, (), imports)
                    self.definitions.setdefault(name, made)
            elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
                # what is called registers something: jax.tree_util.register_pytree_node(…)
                self.registrations.append((ast.unparse(node), frozenset(_names(node.value))))

    def read_words(self) -> None:
        """What layers are written with: the classes that torch has too."""
        path = words_file()
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and node.name in _WORDS:
                self._define(node, path, text, imports_of(tree), _WORDS[node.name])

    def _define(
        self, node: Named, path: Path, text: str, imports: dict[str, str], names: tuple[str, ...]
    ) -> None:
        before = self.definitions.get(node.name)
        if before is not None and before.file not in self.extra:
            raise ValueError(f"{path.name} and {before.file.name} both define {node.name}")
        marks = str(_mark(node, "note", "")), bool(_mark(node, "deprecated", False)), _by_data(node)
        made = _definition(node.name, node, path, text, names, imports, *marks)
        self.definitions.setdefault(node.name, made)
        for name in names:
            found = self.by_torch.setdefault(name, [])
            if not (found and found[0].is_class and not made.is_class):
                found.append(made)


def _names(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


def _definition(name: str, node: ast.stmt, file: Path, text: str, *rest: Any) -> Definition:
    """A definition whose syntax is there already."""
    decorators = getattr(node, "decorator_list", ())
    lines = min([node.lineno, *(d.lineno for d in decorators)]), node.end_lineno or node.lineno
    made = Definition(name, isinstance(node, ast.ClassDef), lines, file, text, *rest)
    made.__dict__["node"] = node  # as `cached_property` keeps it
    return made


def imports_of(tree: ast.Module) -> dict[str, str]:
    """Import statements by the name they bind, without those of other rule files and of the rule
    form.
    """
    found: dict[str, str] = {}
    for node in tree.body:
        if isinstance(node, ast.Import):
            for alias in node.names:
                bound = alias.asname or alias.name.split(".")[0]
                found[bound] = "import " + _alias(alias)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            if not node.module.startswith("transpile"):
                for alias in node.names:
                    text = f"from {node.module} import {_alias(alias)}"
                    found[alias.asname or alias.name] = text
    return found


def _alias(alias: ast.alias) -> str:
    return alias.name if alias.asname is None else f"{alias.name} as {alias.asname}"


def _marks(node: Named) -> Iterator[ast.Call]:
    """The calls `rule(…)` and `layer(…)` above a definition."""
    for decorator in node.decorator_list:
        if isinstance(decorator, ast.Call) and isinstance(decorator.func, ast.Name):
            if decorator.func.id in MARKS:
                yield decorator


def _torch_names(node: Named) -> Iterator[str]:
    for mark in _marks(node):
        for argument in mark.args:
            if isinstance(argument, ast.Constant):
                yield str(argument.value)


def _mark(node: Named, word: str, otherwise: Any) -> Any:
    """What the mark of a rule says under a keyword."""
    values = (k.value for mark in _marks(node) for k in mark.keywords if k.arg == word)
    return next((ast.literal_eval(value) for value in values), otherwise)


def _by_data(node: Named) -> bool | tuple[str, ...]:
    """What the mark of a rule says of the shape: `by_data=True`, `by_data="size"`."""
    found = _mark(node, "by_data", False)
    return (found,) if isinstance(found, str) else found
