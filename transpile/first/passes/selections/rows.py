"""Modules that compute each row by itself, along its last dim: of chosen rows they make what they make of these rows among all.

    self.fc = nn.Sequential(nn.Linear(8, 8), nn.ReLU())          out[mask] = self.fc(x[mask])
"""

from __future__ import annotations

from typing import Any

import libcst as cst

from ... import tree
from ...context import Context
from ...project import ClassInfo, FunctionInfo
from ...values import Method, Module, Static, Tensor, Torch
from .scope import tables


def is_by_rows(context: Context, module: Module, above: tuple[ClassInfo, ...] = ()) -> bool:
    """Whether a module computes each row by itself, whichever of its classes it is."""
    if module.open or not module.classes or module.none:
        return False
    return all(_is_layer(context, module, ref) if isinstance(ref, str) else ref not in above and _is_class(context, ref, (*above, ref)) for ref in module.refs)


def _is_layer(context: Context, module: Module, name: str) -> bool:
    last = name.rpartition(".")[2]
    if last in ("Sequential", "ModuleList") and module.items is not None:
        return all(isinstance(v, Module) and is_by_rows(context, v) for _, v in module.items)
    return name.startswith("torch.nn.") and last in context.rulebook.table("LAYERS_BY_ROWS")


def _is_class(context: Context, cls: ClassInfo, above: tuple[ClassInfo, ...]) -> bool:
    """`def forward(self, x): return self.w2(F.silu(self.w1(x)) * self.w3(x))`"""
    forward = cls.find("forward")
    if forward is None:
        return False
    names = [p.name.value for p in forward.parameters()]
    return len(names) == 1 and _Rows(context, forward, names[0], above).all_of_it()


class _Rows:
    def __init__(self, context: Context, info: FunctionInfo, given: str, above: tuple[ClassInfo, ...]) -> None:
        self.context, self.info, self.above = context, info, above
        self.names = {given}
        self.elementwise = tables(context).elementwise

    def all_of_it(self) -> bool:
        """Whether all statements are assignments of rows to names, and the last returns some."""
        statements = [s for s in tree.body_statements(self.info.node) if not tree.is_docstring(s)]
        for statement in statements:
            small = tree.only_small(statement)
            if isinstance(small, cst.Return) and statement is statements[-1]:
                return small.value is not None and self._is_rows(small.value)
            target = small.targets[0].target if isinstance(small, cst.Assign) and len(small.targets) == 1 else None
            if not isinstance(small, cst.Assign) or not isinstance(target, cst.Name) or not self._is_rows(small.value):
                return False
            self.names.add(target.value)
        return False

    def _is_rows(self, node: Any) -> bool:
        if isinstance(node, cst.Name):
            return node.value in self.names
        if isinstance(node, cst.UnaryOperation):
            return isinstance(node.operator, cst.Minus) and self._is_rows(node.expression)
        if isinstance(node, cst.BinaryOperation):
            sides = (node.left, node.right)
            return not isinstance(node.operator, cst.MatrixMultiply) and any(map(self._is_rows, sides)) and all(self._is_rows(s) or isinstance(self.context.value(s), Static) for s in sides)
        if not isinstance(node, cst.Call) or any(a.star for a in node.args):
            return False
        value, given = self.context.value(node.func), [a.value for a in node.args if a.keyword is None]
        if isinstance(value, Module):
            return len(node.args) == 1 == len(given) and self._is_rows(given[0]) and is_by_rows(self.context, value, self.above)
        if isinstance(value, Method) and isinstance(node.func, cst.Attribute) and isinstance(self.context.value(node.func.value), Tensor):
            given = [node.func.value, *given]
        elif not isinstance(value, Torch):
            return False
        name = value.name.rpartition(".")[2]
        return name in self.elementwise and bool(given) and self._is_rows(given[0]) and all(self._is_rows(g) or isinstance(self.context.value(g), Static) for g in given)
