"""`x.new().resize_(n, m)` is `x.new_empty(n, m)`, and `x.new().resize_as_(y)` is `x.new_empty(y.size())`."""

from __future__ import annotations

from typing import Any

import libcst as cst

from . import tree


def made_at_once(node: cst.Call) -> Any:
    """The one call for an empty tensor and its sizes; None for any other call."""
    if not isinstance(node.func, cst.Attribute):
        return None
    method, empty = node.func.attr.value, node.func.value
    if method not in ("resize_", "resize_as_") or not node.args or any(a.keyword is not None for a in node.args):
        return None
    if not isinstance(empty, cst.Call) or empty.args or not isinstance(empty.func, cst.Attribute) or empty.func.attr.value != "new":
        return None
    args = node.args
    if method == "resize_as_":
        args = [tree.replace(args[0], value=cst.Call(cst.Attribute(args[0].value, cst.Name("size"))), comma=cst.MaybeSentinel.DEFAULT)]
    return tree.replace(node, func=tree.replace(empty.func, attr=cst.Name("new_empty")), args=args)
