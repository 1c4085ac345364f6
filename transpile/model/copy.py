"""Copies of parts of a program: equal nodes, with the same text, that stand nowhere yet."""

from __future__ import annotations

from typing import Any, TypeVar

from .node import Node

N = TypeVar("N", bound=Node)


def clone(node: N) -> N:
    """A copy of a node and of all below it."""
    made: Any = object.__new__(node.__class__)
    for name in _slots(node.__class__):
        setattr(made, name, getattr(node, name))
    made.parent = None
    for name in node.parts:
        part = getattr(node, name)
        if part.__class__ is list:
            setattr(made, name, [None if p is None else clone(p) for p in part])
        elif part is not None:
            setattr(made, name, clone(part))
    made.adopt()
    return made  # type: ignore[no-any-return]


def _slots(kind: type) -> list[str]:
    return [name for base in kind.__mro__ for name in getattr(base, "__slots__", ())]
