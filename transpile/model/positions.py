"""Where nodes stand in the user's text, and what stands there."""

import re
from collections.abc import Iterator

from .node import INSERTED, Node, Span
from .program import Scope
from .statements import Block


def place(node: Node) -> tuple[str, int, int]:
    """Path, line and column, from 1, of a node, or of the one in whose place it stands; else those
    of the nearest part or ancestor that stood in the source."""
    nodes = (node, *node.walk(), *node.ancestors())
    span = _replaced(node) or next((n.origin for n in nodes if n.origin is not None), None)
    if span is None:
        return "", 1, 1
    text, start = span.file.text, span.start
    line = text.count("\n", 0, start) + 1
    return str(span.file.path), line, start - text.rfind("\n", 0, start)


def source_of(node: Node) -> str:
    """The user's text of a node, on one line; of one that a pass made that of what it stands in, of
    its parts, or of the statement that it was put behind."""
    span = _replaced(node) or next((n.origin for n in _near(node) if n.origin is not None), None)
    lines = re.sub(r"(?<=[\[({])\s*\n\s*|\s*\n\s*(?=[])}])", "", span.text if span else "")
    return " ".join(lines.split())


def _near(node: Node) -> Iterator[Node]:
    """A node and what it stands in; before a block the parts of the statement, and those above."""
    inner = node
    for around in (node, *node.ancestors()):
        if isinstance(around, Block):
            yield from inner.walk()
            yield from reversed(around.body[: [n is inner for n in around.body].index(True)])
        elif not isinstance(around, Scope):
            yield around
        inner = around


def _replaced(node: Node) -> Span | None:
    """The text in whose place a node stands that a pass made."""
    around, slot = node.parent, node.slot
    if node.start >= 0 or slot is None or slot == INSERTED:
        return None
    return Span(around.file, *slot) if around is not None and around.file is not None else None
