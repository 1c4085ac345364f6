"""Whether the tensor that plain objects hold under a name is theirs alone, so that what writes it in place may give them another.

    self.total = torch.zeros(3)                self.total = total
    self.total += x                            self.total += x
    return self.total / self.count             return self.total

On the left nobody sees the memory but the object; on the right `total`, and what is returned, change with it in torch.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import libcst as cst

from . import tree
from .infer import Inference
from .inplace import is_inplace_name
from .values import External, Method, Module, Static, Tensor, Torch

_READERS = frozenset({"print", "len", "float", "int", "bool", "str", "round", "isinstance", "abs"})


def is_owned(facts: Inference, name: str, views: Mapping[str, str]) -> bool:
    """Whether all values that attributes of this name get are made for them, and none is handed on."""
    look = _Look(facts, name, views)
    return not any(look.lends(module.tree, True) for module in facts.project.modules.values())


class _Look:
    def __init__(self, facts: Inference, name: str, views: Mapping[str, str]) -> None:
        self.facts, self.name, self.views = facts, name, views

    def lends(self, node: Any, bare: bool) -> bool:
        """Whether anything below a node gives the attribute memory of others, or, where a value stands bare, others its memory."""
        if isinstance(node, cst.Attribute):
            if node.attr.value == self.name and not isinstance(self.facts.of(node.value), (Module, Torch, Tensor)):
                return bare
            return self.lends(node.value, bare and node.attr.value in self.views)
        if isinstance(node, cst.Subscript):
            return self.lends(node.value, bare) or any(self.lends(s, False) for s in node.slice)
        if isinstance(node, cst.Call):
            return self._call(node, bare)
        if isinstance(node, (cst.Assign, cst.AnnAssign)):
            targets = [t.target for t in node.targets] if isinstance(node, cst.Assign) else [node.target]
            borrowed = node.value is not None and any(self._borrows(t, node.value) for t in targets)
            return borrowed or any(self.lends(t, False) for t in targets) or node.value is not None and self.lends(node.value, True)
        if isinstance(node, (cst.BinaryOperation, cst.UnaryOperation, cst.Comparison, cst.AugAssign, cst.Expr, cst.FormattedString)):
            bare = False
        return any(self.lends(child, bare or isinstance(node, (cst.BaseStatement, cst.Module))) for child in tree.children(node))

    def _borrows(self, target: Any, value: Any) -> bool:
        """Whether an assignment gives the attribute what may be memory of others."""
        if isinstance(target, (cst.Tuple, cst.List)):
            paired = isinstance(value, (cst.Tuple, cst.List)) and len(value.elements) == len(target.elements)
            return any(self._borrows(e.value, value.elements[i].value if paired else value) for i, e in enumerate(target.elements))
        return isinstance(target, cst.Attribute) and target.attr.value == self.name and not self._made(value)

    def _call(self, node: cst.Call, bare: bool) -> bool:
        func = self.facts.of(node.func)
        last = node.func.attr.value if isinstance(node.func, cst.Attribute) else ""
        reads = isinstance(func, Torch) and not self._passes_on(func.name.rpartition(".")[2]) or isinstance(func, External) and func.name.removeprefix("builtins.") in _READERS
        receiver = isinstance(node.func, cst.Attribute) and self.lends(node.func.value, bare and self._passes_on(last))
        return receiver or any(self.lends(a.value, not reads) for a in node.args)

    def _passes_on(self, name: str) -> bool:
        return name in self.views or is_inplace_name(name) or name in ("from_numpy", "as_tensor")

    def _made(self, value: Any) -> bool:
        """Whether an expression makes memory of its own, or none: `torch.zeros(3)`, `x + 1`, `0`."""
        if isinstance(value, (cst.BinaryOperation, cst.UnaryOperation, cst.Comparison)) or isinstance(self.facts.of(value), Static):
            return True
        if isinstance(value, cst.Name):
            return value.value == "None"
        func = self.facts.of(value.func) if isinstance(value, cst.Call) else None
        if isinstance(func, (Torch, Method)):
            return not self._passes_on(func.name.rpartition(".")[2])
        return isinstance(value, (cst.Integer, cst.Float)) or isinstance(value, (cst.List, cst.Dict)) and not value.elements
