"""Other spellings of the same thing, made one before anything is analysed: `self.__getattr__(name)` is `getattr(self, name)`."""

from __future__ import annotations

from typing import Any

import libcst as cst

from .. import tree

TABLES = {"_modules": {"items": "named_children", "values": "children"}, "_parameters": {}, "_buffers": {}}


def run(module: cst.Module) -> cst.Module:
    """Rewrite the spellings of one file."""
    return tree.rewrite(module, _visit)  # type: ignore[no-any-return]


def _visit(node: cst.CSTNode) -> Any:
    if isinstance(node, (cst.AssignTarget, cst.Del)):
        return node
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
        name = node.func.attr.value
        if name == "__getattr__" and len(node.args) == 1:
            return _getattr(node.func.value, node.args[0].value)
        holder = node.func.value
        if isinstance(holder, cst.Attribute) and holder.attr.value in TABLES and not node.args:
            method = TABLES[holder.attr.value].get(name)
            if method is not None:
                return tree.replace(node, func=tree.replace(node.func, value=holder.value, attr=cst.Name(method)))
    if isinstance(node, cst.Subscript) and isinstance(node.value, cst.Attribute) and node.value.attr.value in TABLES:
        if len(node.slice) == 1 and isinstance(node.slice[0].slice, cst.Index):
            return _getattr(node.value.value, node.slice[0].slice.value)
    return None


def _getattr(subject: Any, name: Any) -> Any:
    call = tree.expression("getattr(x, y)")
    first, second = call.args
    return tree.replace(call, args=[tree.replace(first, value=tree.rewrite(subject, _visit)), tree.replace(second, value=tree.rewrite(name, _visit))])
