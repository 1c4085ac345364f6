"""What of a constructor could not be converted and only gives initial values: it may raise in `init`, and the module is still built."""

from __future__ import annotations

from collections.abc import Set
from typing import Any

import libcst as cst

from ... import tree
from ...callgraph import with_callers
from ...context import Context
from ...infer import Inference
from ...project import FunctionInfo
from ...values import Function


def failing(facts: Inference, candidates: list[FunctionInfo]) -> set[FunctionInfo]:
    """Functions that build nothing, and in which something could not be converted, here or in what they call."""
    building = {f for f in candidates if _builds(f)}
    others = [f for f in candidates if f not in building]
    found = with_callers(facts.calls, (f for f in others if _unconverted(f.node)), others)
    return {f for f in found if not facts.calls.get(f, set()) & building}


def fails(context: Context, statement: cst.CSTNode, known: Set[FunctionInfo]) -> bool:
    """Whether a statement could not be converted, or calls or passes on one of the functions that are known to fail."""
    if any(tree.dotted(n.func) == "nn.unconverted" and _changes_layer(context, n) for n in tree.nodes(statement, cst.Call)):
        return False
    return _unconverted(statement) or any(f in known for f in functions(context, statement))


def _changes_layer(context: Context, made: cst.Call) -> bool:
    """Whether what stands for a call of torch's, `register_parametrization(self.fc, "weight", Norm())`, would give a layer more than initial values."""
    original = context.facts.origin.get(id(made))
    return isinstance(original, cst.Call) and (context.torch_name(original) or "").startswith("torch.nn.utils.")


def _builds(info: FunctionInfo) -> bool:
    """Whether a function may set attributes."""
    if any(isinstance(n.target, cst.Attribute) for n in tree.nodes(info.node, cst.AssignTarget)):
        return True
    called = {(tree.dotted(n.func) or "").rpartition(".")[2] for n in tree.nodes(info.node, cst.Call)}
    return bool(called & {"setattr", "add_module", "register_module", "register_buffer", "register_parameter", "append", "extend"})


def _unconverted(node: cst.CSTNode) -> bool:
    """Whether something is not converted that runs when this runs: what takes a key is called by `init` alone."""
    todo: list[Any] = [node]
    while todo:
        current = todo.pop()
        if isinstance(current, cst.Call) and tree.dotted(current.func) == "nn.unconverted":
            return True
        late = isinstance(current, (cst.FunctionDef, cst.Lambda)) and current is not node and any(p.name.value == "key" for p in current.params.params)
        todo.extend(() if late else tree.children(current))
    return False


def functions(context: Context, node: cst.CSTNode) -> list[FunctionInfo]:
    """The user's functions that a statement calls or passes on."""
    values = [context.value(n) for n in tree.nodes(node, cst.Name, cst.Attribute)]
    return [v.info for v in values if isinstance(v, Function)]
