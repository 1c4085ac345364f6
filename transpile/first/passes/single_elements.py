"""A test of an attribute that holds one element asks for the element: under jit a condition has no dims.

    self.register_buffer("ready", torch.zeros(1))
    if not self.ready:                                  ->      if not self.ready[0]:

Torch takes the truth of any tensor of one element. It runs before `arguments` and `mutation`, as torch code.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import libcst as cst

from .. import tree
from ..context import Context
from ..infer import REGISTERS
from ..project import ClassInfo
from ..values import Module, Tensor

_SIZED = frozenset({"zeros", "ones", "empty", "rand", "randn", "full"})
_LISTED = frozenset({"tensor", "as_tensor", "Tensor", "FloatTensor", "DoubleTensor", "IntTensor", "LongTensor", "ByteTensor", "BoolTensor"})
_WRAPPERS = frozenset({"Parameter", "Buffer", "Variable"})
_CASTS = frozenset({"to", "float", "double", "half", "int", "long", "bool", "byte", "type", "cuda", "cpu", "clone", "detach"})


def run(context: Context, module: cst.Module) -> cst.Module:
    """Rewrite the tests of one file."""
    known: dict[tuple[ClassInfo, str], bool] = {}

    def element(node: Any) -> Any:
        if isinstance(node, (cst.Call, cst.Subscript, cst.Lambda)):
            return node
        if isinstance(node, cst.Comparison) and any(isinstance(t.operator, (cst.Is, cst.IsNot, cst.In, cst.NotIn)) for t in node.comparisons):
            return node
        if not isinstance(node, cst.Attribute):
            return None
        holder, value = context.value(node.value), context.value(node)
        if not isinstance(holder, Module) or not isinstance(value, Tensor) or not holder.refs or not all(isinstance(c, ClassInfo) and single(c, node.attr.value) for c in holder.refs):
            return node
        made = tree.replace(tree.expression("x[0]"), value=node)
        context.facts.tell(made, Tensor(kind=value.kind))
        return made

    def single(cls: ClassInfo, name: str) -> bool:
        if (cls, name) not in known:
            known[cls, name] = _is_single(cls, name)
        return known[cls, name]

    def after(node: Any) -> Any:
        if isinstance(node, cst.Module):
            return node
        test = tree.rewrite(node.test, element)
        return node if test is node.test else tree.replace(node, test=test)

    return tree.rewrite(module, None, after, only={cst.If, cst.While, cst.IfExp})  # type: ignore[no-any-return]


def _is_single(cls: ClassInfo, name: str) -> bool:
    """Whether every value that the methods of a class and its family give an attribute is an array of one element and one dim."""
    values = [value for c in cls.family() for method in c.methods.values() for value in _given(method.node, method.self_name, name)]
    return bool(values) and all(map(_has_one, values))


def _given(function: cst.FunctionDef, self_name: str | None, name: str) -> Iterator[Any]:
    """What a method gives an attribute, None for what is not written there."""
    found: list[Any] = list(tree.nodes(function.body, cst.Assign, cst.Call))
    for node in found:
        if isinstance(node, cst.Assign):
            targets: list[Any] = [t.target for t in node.targets]
            for target in (a for t in targets for a in [t, *tree.nodes(t, cst.Attribute)] if tree.dotted(a) in (f"{self_name}.{name}", f"{self_name}.{name}.data")):
                yield node.value if target in targets else None
        elif isinstance(node.func, cst.Attribute) and node.func.attr.value in REGISTERS and len(node.args) > 1:
            if isinstance(first := node.args[0].value, cst.SimpleString) and first.evaluated_value == name:
                yield node.args[1].value


def _has_one(node: Any) -> bool:
    """Whether an expression makes an array of one element and one dim: `torch.zeros(1)`, `torch.tensor([False])`."""
    if not isinstance(node, cst.Call) or not isinstance(node.func, (cst.Attribute, cst.Name)):
        return False
    name = (tree.dotted(node.func) or "").rpartition(".")[2]
    if isinstance(node.func, cst.Attribute) and node.func.attr.value in _CASTS and isinstance(node.func.value, cst.Call):
        return _has_one(node.func.value)
    first: Any = node.args[0].value if node.args and node.args[0].keyword is None else None
    if name in _WRAPPERS:
        return _has_one(first)
    if name in _LISTED:
        return isinstance(first, cst.List) and len(first.elements) == 1 and not isinstance(first.elements[0].value, (cst.List, cst.Tuple)) and not isinstance(first.elements[0], cst.StarredElement)
    loose = isinstance(first, cst.Integer) and first.value == "1" and name != "full" and all(a.keyword is not None for a in node.args[1:])
    listed = isinstance(first, (cst.Tuple, cst.List)) and len(first.elements) == 1 and tree.code(first.elements[0].value) == "1"
    return name in _SIZED and (loose or listed)
