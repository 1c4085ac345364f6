"""Functions that draw arrays while a model is built, `nn.Parameter(noise(n, d))`: they are given keys, as those of a forward pass are."""

from __future__ import annotations

from collections.abc import Set

import libcst as cst

from . import tree
from .callgraph import with_callers
from .infer import Inference
from .project import FunctionInfo
from .values import Method, Sequence, Tensor, Torch, Value


def drawing_functions(facts: Inference, running: Set[FunctionInfo]) -> set[FunctionInfo]:
    """The functions beside those that run which draw, themselves or in what they call, and give arrays back."""
    found = [f for m in facts.project.modules.values() for f in m.all_functions if f.outer is None and f.name != "__init__" and f not in running]
    giving = [f for f in found if _is_array(facts.result(f))]
    return with_callers(facts.calls, (f for f in giving if any(_draws(facts, c) for c in tree.nodes(f.node.body, cst.Call))), giving)


def _is_array(value: Value) -> bool:
    """Whether a result is an array that no module has as yet, or several."""
    if isinstance(value, Sequence):
        return all(map(_is_array, value.items)) and bool(value.items) if value.items is not None else _is_array(value.element)
    return isinstance(value, Tensor) and not value.param


def _draws(facts: Inference, call: cst.CSTNode) -> bool:
    """Whether a call draws by a rule: `torch.randn(n)`, `nn.init.uniform_(w)`, `w.normal_()`."""
    assert isinstance(call, cst.Call)
    value = facts.of(call.func)
    name = value.name if isinstance(value, Torch) else f"torch.Tensor.{value.name}" if isinstance(value, Method) and isinstance(value.receiver, Tensor) else ""
    rules = facts.rulebook.find(name) or facts.rulebook.find(name.rstrip("_"))
    return any(p.name == "key" for rule in rules if not rule.is_class for p in rule.parameters)
