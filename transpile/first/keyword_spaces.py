"""A space after each keyword: `assert(ok)` needs none, and `assertFalse` is what would become of it where the brackets go."""

from __future__ import annotations

from typing import Any

import libcst as cst

from . import tree

_SPACE = cst.SimpleWhitespace(" ")
_FIELDS: dict[type, tuple[str, ...]] = {
    cst.If: ("whitespace_before_test",),
    cst.While: ("whitespace_after_while",),
    cst.Assert: ("whitespace_after_assert",),
    cst.Return: ("whitespace_after_return",),
    cst.Raise: ("whitespace_after_raise",),
    cst.Del: ("whitespace_after_del",),
    cst.For: ("whitespace_after_for", "whitespace_before_in", "whitespace_after_in"),
    cst.CompFor: ("whitespace_after_for", "whitespace_before_in", "whitespace_after_in"),
    cst.CompIf: ("whitespace_before_test",),
    cst.IfExp: ("whitespace_before_if", "whitespace_after_if", "whitespace_before_else", "whitespace_after_else"),
    cst.Await: ("whitespace_after_await",),
    cst.Not: ("whitespace_after",),
    cst.And: ("whitespace_before", "whitespace_after"),
    cst.Or: ("whitespace_before", "whitespace_after"),
    cst.In: ("whitespace_before", "whitespace_after"),
    cst.NotIn: ("whitespace_before", "whitespace_after"),
    cst.Is: ("whitespace_before", "whitespace_after"),
    cst.IsNot: ("whitespace_before", "whitespace_after"),
}


def with_spaces(module: cst.Module) -> cst.Module:
    """The file with these spaces; a return of nothing needs none."""

    def after(node: Any) -> Any:
        changes = {name: _SPACE for name in _FIELDS[node.__class__] if _is_empty(getattr(node, name))}
        if isinstance(node, cst.Return) and node.value is None or isinstance(node, cst.Raise) and node.exc is None:
            changes = {}
        return tree.replace(node, **changes) if changes else node

    return tree.rewrite(module, None, after, only=set(_FIELDS))  # type: ignore[no-any-return]


def _is_empty(space: Any) -> bool:
    return space is None or isinstance(space, cst.SimpleWhitespace) and not space.value
