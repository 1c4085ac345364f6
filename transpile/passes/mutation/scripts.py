"""The statements of a file itself, which run when it is imported or as a script: they are rewritten like a function's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import libcst as cst

from ... import tree
from ...context import Context
from ...project import FunctionInfo
from .statements import run
from .summaries import Mutations


def run_script(context: Context, module: cst.Module, mutations: Mutations) -> cst.Module:
    """Rewrite the in-place operations of a file outside of its definitions. Every name is read later: importers see it."""
    apart: dict[int, Any] = {}

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
    new = run(context, function, FunctionInfo("script", function, context.module), mutations, True)
    if new is function:
        return module
    return tree.replace(module, body=[_back(s, apart.get) for s in tree.body_statements(new)[:-1]])


def _back(statement: Any, apart: Callable[[int], Any]) -> Any:
    found = apart(id(statement))
    return statement if found is None else found[1]
