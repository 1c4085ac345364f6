"""What is written out: whether an expression is None, a number, the whole of an index."""

from .expressions import Constant, Slice
from .node import Node


def is_constant(node: Node | None, constant: object) -> bool:
    """Whether something is this very constant: True, False, None, `...`."""
    return isinstance(node, Constant) and node.constant is constant


def is_int(value: Node | None) -> bool:
    """Whether it is a whole number, written out."""
    return isinstance(value, Constant) and type(value.constant) is int


def is_none(node: Node | None) -> bool:
    """Whether something is the constant None; not where nothing is there."""
    return is_constant(node, None)


def is_whole(index: Node) -> bool:
    """`:` or `...` of an index."""
    return isinstance(index, Slice) and not index.children() or is_constant(index, ...)
