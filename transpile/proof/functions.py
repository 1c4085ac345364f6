"""The rule files as modules: their rules and layers by torch's names, as functions and classes that
can be called."""

import functools
import importlib
import importlib.util
import pkgutil
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from ..layer import layers
from ..model.libraries import spellings
from ..model.rule_files import directory
from ..rule import overloads


def rule_modules() -> list[ModuleType]:
    """All rule files, imported, in the order of their paths."""
    package = package_of_rules()
    names = (m.name for m in pkgutil.walk_packages(package.__path__, package.__name__ + "."))
    return [importlib.import_module(name) for name in names]


def package_of_rules() -> ModuleType:
    """`transpile.rules` where it is installed, `rules` in a checkout."""
    here = directory()
    if here.parent == Path(__file__).parent.parent:
        return importlib.import_module("transpile.rules")
    if str(here.parent) not in sys.path:
        sys.path.insert(0, str(here.parent))
    return importlib.import_module("rules")


@functools.cache
def table(*extra: Path) -> dict[str, list[Callable[..., Any]]]:
    """The overloads of each torch name, or its layer; those of the user's own files (`extra`) alone
    where they have the name."""
    return _named(rule_modules()) | _named([imported(path) for path in extra])


def _named(modules: list[ModuleType]) -> dict[str, list[Callable[..., Any]]]:
    return overloads(modules) | {name: [cls] for name, cls in layers(modules).items()}


def imported(path: Path) -> ModuleType:
    """A file of Python, imported under a name that no other has. Raises ImportError."""
    name = f"imported_{path.stem}_{abs(hash(path.resolve()))}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"cannot import {path}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def names_for(word: str, rules: dict[str, list[Callable[..., Any]]]) -> list[str]:
    """The torch names that a word stands for: itself, another spelling of it, or those of the rule
    that is called so."""
    known = next((name for name in spellings(word) if name in rules), None)
    if known is not None:
        return [known]
    return [name for name, found in rules.items() if any(f.__name__ == word for f in found)]
