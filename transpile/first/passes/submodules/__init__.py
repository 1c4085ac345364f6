"""Calls of submodules and methods get the params, state, key and mode that they need; new state is kept.

`F.relu(self.bn(self.conv(x)))` becomes

    x = self.conv(params["conv"], x)
    x, state["bn"] = self.bn(params["bn"], state["bn"], x, training=training)

A call that returns new state is taken out of its expression into a statement before it. That is safe because what is
left behind is pure: nothing that it reads changes in between. Where an expression may not run at all (a conditional, a
comprehension) it is first written as the statement that it stands for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import libcst as cst

from ... import tree
from ...arrays import Arrays
from ...context import Context
from ...effects import Effects
from ...project import FunctionInfo
from . import statements
from .expressions import visit
from .references import report_kept
from .scope import Scope

__all__ = ["making", "report_kept", "run"]


def run(context: Context, node: cst.FunctionDef, info: FunctionInfo, effects: Effects, arrays: Arrays, renames: dict[str, str]) -> cst.FunctionDef:
    """Thread the effects of one function through its body."""
    return statements.function(Scope(context, node, info, effects, arrays, visit, renames=renames), node)


def making(context: Context, definition: cst.FunctionDef, body: Sequence[Any], info: FunctionInfo, effects: Effects, arrays: Arrays) -> list[Any]:
    """The statements of `init` or `init_state`: every param is there, right after it was made."""
    node = tree.with_body(definition, body)
    return statements.block(Scope(context, node, info, effects, arrays, visit, certain=True), body)
