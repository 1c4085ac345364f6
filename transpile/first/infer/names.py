"""Names: of a scope, of the file, of what it imports, and Python's own."""

from __future__ import annotations

from typing import Any

import libcst as cst

from ..project import ClassInfo, FunctionInfo, ModuleInfo
from ..values import NONE, UNKNOWN, Class, External, Function, Static, Torch, Value
from .frame import Env, Frame, Handlers


def _name(frame: Frame, node: cst.Name, env: Env) -> Value:
    name = node.value
    if name in env:
        return env[name]
    if name in frame.closure:
        return frame.closure[name]
    if name in ("None", "True", "False"):
        return NONE if name == "None" else Static(name == "True", "bool")
    return _global(frame, name)


HANDLERS: Handlers = {cst.Name: _name}


def _global(frame: Frame, name: str) -> Value:
    facts, module = frame.facts, frame.module
    imported = module.imports.get(name)
    if frame.info is None and imported is not None:  # the file is being run: what it defines below is not there yet
        found: Any = facts.project.lookup(imported) or imported
    else:
        found = facts.project.definition(module, name)
    if isinstance(found, str):
        known = found == "torch" or found.startswith("torch.") or found in facts.rulebook.by_torch
        return torch_name(frame, found) if known else External(found)
    value = defined(frame, found)
    if value is not None:
        return value
    if name in facts.module_env.get(module, {}):
        return facts.module_env[module][name]
    for star in module.stars:
        if star.startswith("torch") and facts.rulebook.find(f"{star}.{name}"):
            return torch_name(frame, f"{star}.{name}")
    return External("builtins." + name)


def torch_name(frame: Frame, name: str) -> Torch:
    """A name of torch's."""
    return Torch(name, frame.facts.rulebook.is_function(name))


def defined(frame: Frame, found: Any) -> Value | None:
    """The value of what stands in a file of the project: a class, a function, a file, or an expression that is assigned."""
    if isinstance(found, ClassInfo):
        return Class(found)
    if isinstance(found, FunctionInfo):
        return Function(found)
    if isinstance(found, ModuleInfo):
        return External("module:" + found.dotted)
    if isinstance(found, cst.BaseExpression):
        return frame.facts.values.get(id(found), UNKNOWN)
    return None
