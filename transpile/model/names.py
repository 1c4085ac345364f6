"""Dotted names. What code reads and binds is `facts/bindings`."""

from __future__ import annotations

from .expressions import Attribute, Name
from .node import Node


def dotted(node: Node | None) -> str | None:
    """`a.b.c` for a chain of names, else None."""
    parts: list[str] = []
    while isinstance(node, Attribute):
        parts.append(node.name)
        node = node.object
    if not isinstance(node, Name):
        return None
    return ".".join([node.id, *reversed(parts)])
