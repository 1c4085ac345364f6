"""Statements that say nothing once the rules are applied: `x = x.cuda()` has become `x = x`."""

from __future__ import annotations

from typing import Any

import libcst as cst

from .. import tree
from ..context import Context
from ..values import Module


def run(context: Context, module: cst.Module) -> cst.Module:
    """Leave out assignments of a name to itself that a rule has made, and branches in which nothing else stood.

    The user's own stay, and those with a comment.
    """
    emptied: dict[int, Any] = {}  # blocks in which nothing is left

    def after(node: Any) -> Any:
        if isinstance(node, cst.IndentedBlock):
            kept = [s for s in node.body if not _is_noop(context, s)]
            if kept and len(kept) == len(node.body):
                return node
            new = tree.replace(node, body=kept or [tree.statement("pass")])
            context.facts.carry(node, new)
            if not kept:
                emptied[id(new)] = new
            return new
        if isinstance(node, cst.If) and id(node.body) in emptied and not any(isinstance(n, (cst.Call, cst.NamedExpr, cst.Await)) for n in tree.walk(node.test)):
            commented = any(line.comment is not None for line in node.leading_lines)
            if not commented and (node.orelse is None or isinstance(node.orelse, cst.Else) and id(node.orelse.body) in emptied):
                return cst.RemoveFromParent()
        return node

    return tree.rewrite(module, None, after, only={cst.IndentedBlock, cst.If})  # type: ignore[no-any-return]


def _is_noop(context: Context, statement: Any) -> bool:
    if not isinstance(statement, cst.SimpleStatementLine) or len(statement.body) != 1:
        return False
    small = statement.body[0]
    if isinstance(small, cst.Assign) and _of_self(context, small):
        return True
    if not isinstance(small, cst.Assign) or len(small.targets) != 1 or not isinstance(small.value, cst.Name) or not isinstance(small.targets[0].target, cst.Name):
        return False
    if small.value.value != small.targets[0].target.value:
        return False
    original: Any = context.facts.origin.get(id(small), small)
    commented = statement.trailing_whitespace.comment is not None or any(line.comment is not None for line in statement.leading_lines)
    return not commented and tree.code(original) != tree.code(small)


def _of_self(context: Context, small: cst.Assign) -> bool:
    """`self.grid = self.grid`, of `self.grid.to(x.device)`: it would count as a write to what never changes."""
    target = small.targets[0].target
    if len(small.targets) != 1 or not isinstance(target, cst.Attribute) or tree.code(target) != tree.code(small.value):
        return False
    holder = context.value(target.value)
    return isinstance(holder, Module) and holder.is_self
