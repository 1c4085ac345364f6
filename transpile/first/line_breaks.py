"""Line breaks that have lost the brackets around them: `x.add_(y *` over two lines, which becomes `x = x + (y *` and so on."""

from __future__ import annotations

import io
import tokenize
from collections.abc import Iterator
from typing import Any

import libcst as cst

from . import tree

_STATEMENTS: frozenset[type] = frozenset(
    {cst.Assign, cst.AugAssign, cst.AnnAssign, cst.Expr, cst.Return, cst.Raise, cst.Assert, cst.If, cst.While, cst.For, cst.WithItem}
)
_EXPRESSIONS = ("value", "test", "iter", "item", "exc", "msg")


def enclosed(module: cst.Module, original: cst.Module) -> cst.Module:
    """The file with parentheses around what is over several lines, and in no brackets, of the statements that it does not have from the original."""
    before: Iterator[Any] = tree.nodes(original, *_STATEMENTS)
    kept = {id(n) for n in before}

    def visit(node: Any) -> Any:
        if id(node) in kept:
            return node
        found = {name: child for name in _EXPRESSIONS if isinstance(child := getattr(node, name, None), cst.BaseExpression) and _is_broken(child)}
        if not found:
            return None
        return tree.rewrite(tree.replace(node, **{name: tree.parenthesised(child) for name, child in found.items()}), visit, only=_STATEMENTS)

    return tree.rewrite(module, visit, only=_STATEMENTS)  # type: ignore[no-any-return]


def _is_broken(node: cst.BaseExpression) -> bool:
    """Whether an expression has a line break outside of all brackets."""
    text = tree.code(node)
    if "\n" not in text:
        return False
    depth = 0
    for token in tokenize.generate_tokens(io.StringIO(f"({text})").readline):
        depth += (token.string in "([{") - (token.string in ")]}") if token.type == tokenize.OP else 0
        if depth == 1 and token.type == tokenize.NL:
            return True
    return False
