"""What runs when a file is imported."""

from __future__ import annotations

from ..model.effects import Key, Unconverted
from ..model.expressions import Lambda
from ..model.node import Node
from ..model.program import File, Function
from ..source.lower_ast import expression
from .reports import Reports


def outside(file: File) -> list[Node]:
    """The nodes that run when a file is imported, outer ones first: of functions their decorators
    and defaults."""
    found, stack = list[Node](), list[Node]([file])
    while stack:
        node = stack.pop()
        found.append(node)
        body = node.body if isinstance(node, Function) else None
        stack.extend(child for child in reversed(node.children()) if child is not body)
    return found


def give_keys(file: File, reports: Reports) -> None:
    """Draws of a file's own statements, which run once: each has a key of its own."""
    keys = [n for n in outside(file) if isinstance(n, Key)]
    for number, key in enumerate(keys):
        if any(isinstance(n, Lambda) for n in key.ancestors()):
            reports.report("draw-in-value", key, "a function that draws is handed on without a key")
            key.replace(Unconverted("draw-in-value", "a draw that has no key"))
        else:
            key.replace(expression(f"jax.random.key({number})"))
