"""Where each node of a LibCST tree stands in the text: offsets, counted while the tree is written
once.

LibCST's own position provider costs more than parsing and writing together; counting lengths costs
a writing.
"""

from __future__ import annotations

from typing import Any

import libcst as cst
from libcst._nodes.internal import CodegenState


class _Nothing:
    """A context that does nothing, for the nodes whose inner place is their outer one."""

    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None: ...


_NOTHING = _Nothing()

# More than half of all nodes, of which nobody asks where they stand.
_UNASKED = {
    *(cst.SimpleWhitespace, cst.ParenthesizedWhitespace, cst.EmptyLine, cst.Newline, cst.Comment),
    *(cst.Comma, cst.Dot, cst.Colon, cst.AssignEqual, cst.Parameters),
    *(cst.LeftParen, cst.LeftSquareBracket, cst.RightSquareBracket),
}


class _Inner:
    """Notes where a node starts and ends without the parentheses, comments and lines around it."""

    __slots__ = ("spans", "node", "start", "last")

    def __init__(self, spans: Spans, node: cst.CSTNode, last: cst.CSTNode | None) -> None:
        self.spans, self.node, self.last = spans, node, last

    def __enter__(self) -> None:
        self.start = self.spans.offset

    def __exit__(self, *_: object) -> None:
        spans = self.spans
        end = spans.offset if self.last is None else spans.outer[self.last][1]
        spans.inner[self.node] = self.start, end


class Spans(CodegenState):
    """The places of all nodes of one file: `outer` with all that belongs to a node, `inner` what
    it is itself."""

    def __init__(self, module: cst.Module) -> None:
        super().__init__(module.default_indent, module.default_newline)
        self.offset = 0
        self.starts: list[int] = []  # of the nodes that are being written
        self.outer: dict[cst.CSTNode, tuple[int, int]] = {}
        self.inner: dict[cst.CSTNode, tuple[int, int]] = {}
        self.tokens = ["written"]  # LibCST asks whether there is any text
        module._codegen(self)

    def add_token(self, value: str) -> None:
        self.offset += len(value)

    def add_indent_tokens(self) -> None:
        for token in self.indent_tokens:
            self.offset += len(token)

    def before_codegen(self, node: cst.CSTNode) -> None:
        self.starts.append(self.offset)

    def after_codegen(self, node: cst.CSTNode) -> None:
        start = self.starts.pop()
        if node.__class__ not in _UNASKED:
            self.outer[node] = start, self.offset

    def pop_trailing_newline(self) -> None:
        self.offset -= len(self.default_newline)

    def record_syntactic_position(
        self,
        node: cst.CSTNode,
        *,
        start_node: cst.CSTNode | None = None,
        end_node: cst.CSTNode | None = None,
    ) -> Any:
        lpar: Any = getattr(node, "lpar", None)
        if lpar is not None and not lpar:
            return _NOTHING
        return _Inner(self, node, end_node)

    def of(self, node: cst.CSTNode) -> tuple[int, int]:
        """A node's own place."""
        return self.inner.get(node) or self.outer[node]
