"""What gives a tensor without a name another shape in place gives it to nothing else: `x[0].unsqueeze_(0)` is `x[0].unsqueeze(0)`."""

from __future__ import annotations

from typing import Any

import libcst as cst

from ... import tree
from ...context import Context
from ...indices import index_kind
from ...inplace import reshapes
from ...values import Method, Tensor


def of_views(context: Context, node: cst.FunctionDef) -> cst.FunctionDef:
    """The function with views that it reshapes in place, where they have no name, in another shape."""
    reshaping = context.rulebook.table("RESHAPING")
    if not any(isinstance(n.func, cst.Attribute) and n.func.attr.value in reshaping for n in tree.nodes(node.body, cst.Call)):
        return node

    def visit(call: cst.CSTNode) -> Any:
        if not isinstance(call, cst.Call) or not isinstance(call.func, cst.Attribute) or reshaping.get(call.func.attr.value) != "shape":
            return None
        receiver = tree.rewrite(call.func.value, visit, only=_CALLS)
        if not _is_view(context, receiver):
            return None
        plain = call.func.attr.value[:-1]
        func = tree.replace(call.func, value=receiver, attr=cst.Name(plain))
        context.facts.tell(func, Method(context.value(receiver), plain))
        made = tree.replace(call, func=func)
        context.facts.carry(call, made)
        return made

    return tree.with_body(node, [tree.rewrite(s, visit, only=_CALLS) for s in tree.body_statements(node)])


_CALLS = frozenset({cst.Call})


def _is_view(context: Context, node: Any) -> bool:
    """Whether an expression makes a tensor of its own, a view of another's memory: `x[0]`, `x.view(-1)`."""
    if isinstance(node, cst.Subscript):
        return isinstance(context.value(node.value), Tensor) and index_kind(context, node.slice) == "basic"
    if isinstance(node, cst.Attribute):
        return node.attr.value == "data" and isinstance(context.value(node.value), Tensor)
    if not isinstance(node, cst.Call) or not isinstance(node.func, cst.Attribute) or not isinstance(context.value(node.func), Method):
        return False
    if node.func.attr.value == "detach":
        return True
    return context.rulebook.table("VIEWS").get(node.func.attr.value, "same") != "same" and reshapes(context, node) is None
