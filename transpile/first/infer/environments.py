"""Environments where ways meet: what holds after both."""

from __future__ import annotations

from typing import Any

import libcst as cst

from .. import tree
from ..values import UNKNOWN, Static, Tensor, join
from .frame import Env

NUMBERS = {"int": "i", "float": "f", "bool": "b"}  # the dtype kinds of Python's numbers


def live(block: Any, env: Env) -> Env | None:
    """The environment after a block, or None where the block always leaves."""
    node = block.body if isinstance(block, cst.Else) else block
    if isinstance(node, (cst.IndentedBlock, cst.SimpleStatementSuite)) and node.body:
        last: Any = node.body[-1]
        if isinstance(last, cst.SimpleStatementLine):
            last = last.body[-1]
        if isinstance(last, (cst.Return, cst.Raise, cst.Continue, cst.Break)):
            return None
    return env


def merge(into: Env, a: Env | None, b: Env | None) -> None:
    """What holds after two ways, one of which may not come here: a name that only one of them sets is taken as set."""
    if a is None or b is None:
        into.update(a or b or {})
        return
    for name in {*a, *b}:
        if name in a and name in b:
            into[name] = join(a[name], b[name])
        else:
            into[name] = a.get(name) or b[name]


def trace_numbers(env: Env, node: cst.CSTNode, before: Env | None = None) -> None:
    """Numbers that are set under control of data are data themselves: `if x.sum() > 0: n = n + 1`.

    What is not known, `n = self.step`, is data where a number stands on the other way.
    """
    for name in tree.names_assigned(node):
        value = env.get(name)
        old = (before or {}).get(name)
        if value in (UNKNOWN, Static()) and isinstance(old, Static) and old.type in NUMBERS:
            env[name] = Tensor()
        if isinstance(value, Static) and value.type in NUMBERS:
            env[name] = Tensor(kind=NUMBERS[value.type])
