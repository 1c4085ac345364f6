"""What says nothing once the rules are applied: `x = x.cuda()` has become `x = x`, `torch.cuda.synchronize()` a lone `None`,
and a choice between an operation and its in-place form is none.
"""

from __future__ import annotations

from typing import Any

import libcst as cst

from .. import tree
from ..context import Context
from ..values import Module


def run(context: Context, module: cst.Module) -> cst.Module:
    """Leave out values without use and assignments of a name to itself that a rule has made, and branches in which nothing else stood.

    The user's own stay, and those with a comment.
    """
    emptied: dict[int, Any] = {}  # blocks in which nothing is left

    def after(node: Any) -> Any:
        if isinstance(node, cst.Module):
            kept: list[Any] = [s for s in node.body if not _is_noop(context, s)]
            return node if len(kept) == len(node.body) else tree.replace(node, body=kept)
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
        return _single(context, node) if isinstance(node, cst.If) else node

    return tree.rewrite(module, None, after, only={cst.Module, cst.IndentedBlock, cst.If})  # type: ignore[no-any-return]


def _single(context: Context, node: cst.If) -> Any:
    """The one body of `if inplace: return jax.nn.sigmoid(x)`, else the same: of `x.sigmoid_() if inplace else x.sigmoid()`."""
    if not isinstance(node.orelse, cst.Else) or any(isinstance(n, (cst.Call, cst.NamedExpr, cst.Await)) for n in tree.walk(node.test)):
        return node
    written: Any = context.facts.origin.get(id(node))
    if not _alike(node) or written is None or isinstance(written, cst.If) and _alike(written):
        return node
    body = tree.body_statements(node)
    return tree.replace(body[0], leading_lines=[*node.leading_lines, *body[0].leading_lines])


def _alike(node: cst.If) -> bool:
    """Whether both sides are the same one statement."""
    sides = [tree.body_statements(side) for side in (node, node.orelse) if isinstance(side, (cst.If, cst.Else))]
    return all(len(s) == 1 for s in sides) and len({tree.code(s[0]).strip() for s in sides}) == 1


def _is_noop(context: Context, statement: Any) -> bool:
    if not isinstance(statement, cst.SimpleStatementLine) or len(statement.body) != 1:
        return False
    small = statement.body[0]
    if isinstance(small, cst.Assign) and _of_self(context, small):
        return True
    original: Any = context.facts.origin.get(id(small), small)
    commented = statement.trailing_whitespace.comment is not None or any(line.comment is not None for line in statement.leading_lines)
    if commented or tree.code(original) == tree.code(small):
        return False
    if isinstance(small, cst.Expr):
        return _is_plain(small.value)
    return isinstance(small, cst.Assign) and len(small.targets) == 1 and _is_plain(small.value) and _same(small.targets[0].target, small.value)


def _is_plain(node: Any) -> bool:
    """Whether an expression only names things: `x`, `x, y`, `lax.stop_gradient(state["w"])`."""
    if isinstance(node, cst.Call):
        return tree.dotted(node.func) == "lax.stop_gradient" and all(_is_plain(a.value) for a in node.args)
    if isinstance(node, cst.Tuple):
        return all(_is_plain(e.value) for e in node.elements)
    return isinstance(node, cst.Name) or isinstance(node, (cst.Attribute, cst.Subscript)) and isinstance(node.value, cst.Name)


def _same(target: Any, value: Any) -> bool:
    """`x = x`, `x, y = x, y`"""
    if isinstance(target, cst.Tuple) and isinstance(value, cst.Tuple) and len(target.elements) == len(value.elements):
        return all(_same(t.value, v.value) for t, v in zip(target.elements, value.elements))
    return _is_plain(value) and isinstance(value, (cst.Name, cst.Attribute)) and tree.code(target) == tree.code(value)


def _of_self(context: Context, small: cst.Assign) -> bool:
    """`self.grid = self.grid`, of `self.grid.to(x.device)`: it would count as a write to what never changes."""
    target = small.targets[0].target
    if len(small.targets) != 1 or not isinstance(target, cst.Attribute) or tree.code(target) != tree.code(small.value):
        return False
    holder = context.value(target.value)
    return isinstance(holder, Module) and holder.is_self
