"""Calls of functions that draw, in code that builds a model, ask for a key: `self.w = nn.Parameter(noise(n, key=…))`."""

from __future__ import annotations

from collections.abc import Set
from typing import Any

import libcst as cst

from .. import tree
from ..context import Context, asking_for_key
from ..project import FunctionInfo
from ..values import Function


def run(context: Context, module: cst.Module, drawing: Set[FunctionInfo], running: Set[FunctionInfo]) -> cst.Module:
    """The file with a key asked for in each call of one of `drawing`, but in the functions that run, which have keys of their own."""

    def before(node: cst.CSTNode) -> Any:
        if isinstance(node, cst.FunctionDef):
            return node if context.facts.by_node.get(id(node)) in running else None
        value = context.value(node.func) if isinstance(node, cst.Call) else None
        if not isinstance(value, Function) or value.info not in drawing:
            return None
        assert isinstance(node, cst.Call)
        new = asking_for_key(tree.replace(node, args=[tree.replace(a, value=tree.rewrite(a.value, before)) for a in node.args]))
        context.facts.carry(node, new)
        return new

    return tree.rewrite(module, before) if drawing else module
