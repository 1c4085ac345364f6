"""Quotes inside f-strings: before Python 3.12 an expression may not have those of the string around it.

`f"{self.weight.shape}"` has become `f"{params["weight"].shape}"`, and becomes `f"{params['weight'].shape}"`.
"""

from __future__ import annotations

from typing import Any

import libcst as cst

from .. import tree


def run(module: cst.Module) -> cst.Module:
    """Give expressions in f-strings the other quotes, or the string triple ones where they have both."""
    return tree.rewrite(module, None, _fixed, only={cst.FormattedString})  # type: ignore[no-any-return]


def _fixed(node: Any) -> Any:
    if not isinstance(node, cst.FormattedString) or len(node.end) == 3:
        return node
    quote, other = node.end, "'" if node.end == '"' else '"'
    inside = [tree.code(p.expression) for p in node.parts if isinstance(p, cst.FormattedStringExpression)]
    if not any(quote in text for text in inside):
        return node
    if any(other in text for text in inside if quote in text):
        return tree.replace(node, start=node.start[:-1] + quote * 3, end=quote * 3)
    parts = [tree.rewrite(p, None, lambda n: _requoted(n, quote, other)) if isinstance(p, cst.FormattedStringExpression) else p for p in node.parts]
    return tree.replace(node, parts=parts)


def _requoted(node: Any, quote: str, other: str) -> Any:
    if isinstance(node, cst.SimpleString) and quote in node.value:
        return tree.replace(node, value=node.value.replace(quote, other))
    return node
