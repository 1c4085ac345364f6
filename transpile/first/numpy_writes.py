"""What writes an array of NumPy's in place: stores, some methods, and some functions of NumPy's."""

from __future__ import annotations

from typing import Any

import libcst as cst

from . import tree
from .context import Context
from .values import External

METHODS = frozenset({"byteswap", "fill", "itemset", "partition", "put", "resize", "setfield", "sort"})  # of which these return nothing
_FUNCTIONS = frozenset({"add.at", "copyto", "fill_diagonal", "multiply.at", "place", "put", "put_along_axis", "putmask", "random.shuffle", "subtract.at"})


def written(context: Context, statement: cst.CSTNode) -> list[Any]:
    """The expressions that a simple statement writes, where they are arrays: a of `a[0] = 1`, `a += 1`, `a.sort()`, `np.put(a, …)`."""
    found: list[Any] = []
    if isinstance(statement, cst.Assign):
        found += [t.target for t in statement.targets if isinstance(t.target, cst.Subscript)]
    elif isinstance(statement, cst.AugAssign):
        found.append(statement.target)
    elif isinstance(statement, cst.Expr) and isinstance(statement.value, cst.Call):
        found += written_by(context, statement.value)
    return found + [a.value for n in tree.nodes(statement, cst.Call) if _is_numpy(context, n) for a in n.args if a.keyword is not None and a.keyword.value == "out"]


def written_by(context: Context, call: cst.Call) -> list[Any]:
    """What a call that stands alone writes."""
    if isinstance(call.func, cst.Attribute) and call.func.attr.value in METHODS:
        return [call.func.value]
    function = context.value(call.func)
    if isinstance(function, External) and function.name.removeprefix("numpy.") in _FUNCTIONS and call.args:
        return [call.args[0].value]
    return []


def root(node: Any) -> Any:
    """The name that an expression is of: a of `a.T[0]`."""
    while isinstance(node, (cst.Subscript, cst.Attribute)):
        node = node.value
    return node


def _is_numpy(context: Context, call: cst.Call) -> bool:
    function = context.value(call.func)
    return isinstance(function, External) and function.name.startswith("numpy.")
