"""Local names of params that initialisers fill: `weight = conv.weight; nn.init.normal_(weight)` is `nn.init.normal_(conv.weight)`."""

from __future__ import annotations

from typing import Any

import libcst as cst

from . import tree

_ARRAYS = ("weight", "bias")


def without_filled_names(function: cst.FunctionDef) -> cst.FunctionDef:
    """A function in which each such name is written out; names that are bound twice, or whose owner is, are left."""
    aliases = {name: value for name, value in _aliases(function).items() if _is_filled(function, name)}
    if not aliases:
        return function

    def without(node: Any) -> Any:
        small = tree.only_small(node)
        made = isinstance(small, cst.Assign) and _alias(small) is not None and tree.code(small.targets[0].target) in aliases
        return cst.RemoveFromParent() if made else None

    kept = tree.rewrite(function, without, only={cst.SimpleStatementLine})
    return tree.with_names(kept, lambda n: tree.expression(tree.code(aliases[n.value])) if n.value in aliases else None)  # type: ignore[no-any-return]


def _alias(small: cst.Assign) -> Any:
    """The param in `weight = conv.weight`."""
    target, value = small.targets[0].target, small.value
    named = len(small.targets) == 1 and isinstance(target, cst.Name) and isinstance(value, cst.Attribute) and value.attr.value in _ARRAYS
    return value if named and tree.dotted(value) is not None else None


def _aliases(function: cst.FunctionDef) -> dict[str, Any]:
    times = tree.times_bound(function.body)
    found: dict[str, Any] = {}
    for small in tree.nodes(function.body, cst.Assign):
        value = _alias(small)
        if value is not None and times[tree.code(small.targets[0].target)] == 1 and times[(tree.dotted(value) or "").split(".")[0]] <= 1:
            found[tree.code(small.targets[0].target)] = value
    return found


def _is_filled(function: cst.FunctionDef, name: str) -> bool:
    """Whether a function of torch.nn.init gets a name first, or its data is written in place."""
    for call in tree.nodes(function.body, cst.Call):
        path = tree.dotted(call.func) or ""
        holder, _, method = path.rpartition(".")
        if method.endswith("_") and (holder == f"{name}.data" or holder.rpartition(".")[2] == "init" and call.args and tree.code(call.args[0].value) == name):
            return True
    return False
