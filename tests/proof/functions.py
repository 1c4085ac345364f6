"""The rule files as modules: their rules and layers by torch's names, as functions and classes that
can be called."""

import functools
import importlib
import importlib.util
import inspect
import pkgutil
import sys
import types
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, Union, get_args, get_origin

from transpile.model.libraries import spellings
from transpile.model.rule_files import directory
from transpile.rule import PLACEMENT, Device, Dtype, Size, Tensor, Unsure


def rule_modules() -> list[ModuleType]:
    """All rule files, imported, in the order of their paths."""
    package = package_of_rules()
    names = (m.name for m in pkgutil.walk_packages(package.__path__, package.__name__ + "."))
    return [importlib.import_module(name) for name in names]


def package_of_rules() -> ModuleType:
    """The rules of this checkout."""
    here = directory()
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


def layers(modules: Iterable[types.ModuleType]) -> dict[str, type]:
    """The layers of these files by torch's names."""
    return {
        name: value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, type) and value.__module__ == module.__name__
        for name in vars(value).get("torch_layers", ())
    }


# --- overloads, by the arguments of a call ---------------------------------------------------


def overloads(modules: Iterable[types.ModuleType]) -> dict[str, list[Callable[..., Any]]]:
    """All rules and layers of these modules by torch name, in the order in which they stand in
    their files."""
    table: dict[str, list[Callable[..., Any]]] = {}
    for module in modules:
        for value in vars(module).values():
            if getattr(value, "__module__", None) == module.__name__:
                for name in vars(value).get("torch_names", ()):
                    table.setdefault(name, []).append(value)
    return table


def select(
    candidates: Sequence[Callable[..., Any]], args: Sequence[Any], kwargs: dict[str, Any]
) -> Callable[..., Any] | None:
    """The first overload that takes these arguments: the signature binds and every annotation
    fits."""
    for function in candidates:
        signature = inspect.signature(function)
        dropped = {
            k: v for k, v in kwargs.items() if k not in PLACEMENT or k in signature.parameters
        }
        dropped = {
            _ALIASES.get(k, k) if k not in signature.parameters else k: v
            for k, v in dropped.items()
        }
        if "key" in signature.parameters:
            dropped.setdefault("key", None)
        try:
            bound = signature.bind(*args, **dropped)
        except TypeError:
            continue
        if all(_fits(value, signature.parameters[name]) for name, value in bound.arguments.items()):
            return function
    return None


_ALIASES = {
    "axis": "dim",
    "keepdims": "keepdim",
    "x": "input",
    "x1": "input",
    "x2": "other",
    "self": "input",
}


def plain_keywords(function: Callable[..., Any], kwargs: dict[str, Any]) -> dict[str, Any]:
    """The keywords a rule is called with: placement dropped, numpy's spellings (axis, keepdims)
    made torch's."""
    names = inspect.signature(function).parameters
    kept = {k: v for k, v in kwargs.items() if k not in PLACEMENT or k in names}
    return {_ALIASES.get(k, k) if k not in names else k: v for k, v in kept.items()}


def _fits(value: Any, parameter: inspect.Parameter) -> bool:
    annotation = parameter.annotation
    if annotation is inspect.Parameter.empty or value is None and parameter.default is None:
        return True
    if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
        return all(_is(item, annotation) for item in value)
    return _is(value, annotation)


def _is(value: Any, annotation: Any) -> bool:
    if isinstance(annotation, types.UnionType) or get_origin(annotation) is Union:
        return any(_is(value, option) for option in get_args(annotation))
    array = hasattr(value, "shape") and hasattr(value, "dtype")
    if annotation is Tensor:
        return array
    if annotation is Unsure:
        return False
    if annotation is Size:
        return type(value).__name__ == "Size"
    if annotation is Dtype:
        return (
            value in (int, float, bool, complex)
            or any("dtype" in c.__name__ for c in type(value).__mro__)
            or isinstance(value, type)
        )
    if annotation is Device:
        return type(value).__name__ == "device" or isinstance(value, str)
    if annotation in (int, float) and not array:
        return isinstance(value, int if annotation is int else (int, float)) and not isinstance(
            value, bool
        )
    if annotation in (tuple, list):
        return isinstance(value, (tuple, list))
    return isinstance(annotation, type) and isinstance(value, annotation) and not array
