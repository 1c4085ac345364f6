"""The statements of a file itself, which run when it is imported or as a script: passes over functions take them for one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import libcst as cst

from . import tree
from .project import FunctionInfo, ModuleInfo

NAME = "<script>"  # what stands for the name of the function


def rewritten(owner: ModuleInfo, module: cst.Module, rewrite: Callable[[cst.FunctionDef, FunctionInfo], cst.FunctionDef]) -> cst.Module:
    """A file whose statements outside of definitions are rewritten as a function's. Every name is read later: importers see it."""
    apart: dict[int, tuple[Any, Any]] = {}  # what stands for each definition, and the definition

    def set_aside(statement: Any) -> Any:
        if not isinstance(statement, (cst.FunctionDef, cst.ClassDef)):
            return statement
        mark = tree.statement("pass")
        apart[id(mark)] = (mark, statement)
        return mark

    body = [set_aside(s) for s in module.body]
    names = sorted({n for s in body for n in tree.names_assigned(s)})
    end = tree.statement(f"return {', '.join(names)}" if names else "return")
    function = tree.with_body(tree.statement("def script(): pass"), [*body, end])
    new = rewrite(function, FunctionInfo(NAME, function, owner))
    if new is function:
        return module
    return tree.replace(module, body=[apart[id(s)][1] if id(s) in apart else s for s in tree.body_statements(new)[:-1]])
