"""A layer that is changed where it is, `weight_norm(self.fc)`, is assigned what stands for it: `self.fc = weight_norm(self.fc)`.

Only where nothing has taken hold of the layer since it was made: what holds it would keep the layer as it was.
"""

from __future__ import annotations

from typing import Any

import libcst as cst

from . import tree
from .rulebook import Rulebook

_PLACES = ("torch.nn.utils", "torch.nn.utils.parametrizations")


def with_wrappers_kept(module: cst.Module, rulebook: Rulebook) -> cst.Module:
    """The functions of a file with an assignment for each such statement."""
    imported = {
        alias.evaluated_alias or alias.evaluated_name
        for line in tree.nodes(module, cst.ImportFrom)
        if line.module is not None and tree.dotted(line.module) in _PLACES and not isinstance(line.names, cst.ImportStar)
        for alias in line.names
    }

    def before(function: cst.FunctionDef) -> Any:
        calls = [line for line in tree.nodes(function.body, cst.SimpleStatementLine) if (call := _wrapper(line, imported, rulebook)) is not None and _is_unheld(function, call)]
        if not calls:
            return None
        return tree.rewrite(function, lambda line: _kept(line) if any(line is c for c in calls) else None, only={cst.SimpleStatementLine})

    return tree.rewrite(module, before, only={cst.FunctionDef})  # type: ignore[no-any-return, arg-type]


def _wrapper(line: Any, imported: set[str], rulebook: Rulebook) -> cst.Call | None:
    """The call in `nn.utils.weight_norm(layer)` as a statement."""
    small = tree.only_small(line)
    call = small.value if isinstance(small, cst.Expr) else None
    if not isinstance(call, cst.Call) or not call.args or call.args[0].keyword is not None or call.args[0].star:
        return None
    owner, _, name = (tree.dotted(call.func) or "").rpartition(".")
    known = owner.rpartition(".")[2] in ("utils", "parametrizations") if owner else name in imported
    return call if known and any(rulebook.wraps(f"{place}.{name}") for place in _PLACES) else None


def _is_unheld(function: cst.FunctionDef, call: cst.Call) -> bool:
    """Whether the layer has been assigned to its name in this function, and the name not been read until the call."""
    layer, uses = tree.dotted(call.args[0].value), []
    words = {id(n.attr) for n in tree.nodes(function.body, cst.Attribute)} | {id(n.keyword) for n in tree.nodes(function.body, cst.Arg)}
    for node in tree.walk(function.body):
        if node is call:
            break
        if isinstance(node, (cst.Name, cst.Attribute)) and id(node) not in words and tree.dotted(node) == layer:
            uses.append(node)
    targets = {id(t.target) for t in tree.nodes(function.body, cst.AssignTarget)}
    return layer is not None and len(uses) == 1 and id(uses[0]) in targets


def _kept(line: Any) -> Any:
    call = line.body[0].value
    return tree.replace(line, body=[cst.Assign([cst.AssignTarget(call.args[0].value)], call)])
