"""Where each node stands in the source, at the cost of writing the source once.

LibCST's own provider keeps the line and column up to date token by token, and is visited besides:
it costs several times as much. Here only the number of tokens before each node is noted, and
counted out for the few nodes that are asked for.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import Any

import libcst as cst
from libcst._nodes.internal import CodegenState
from libcst.metadata.position_provider import NEWLINE_RE


class _Recorder(CodegenState):
    """Writes code, and notes how many tokens come before each node."""

    def __init__(self, module: cst.Module) -> None:
        super().__init__(module.default_indent, module.default_newline)
        self.before: dict[int, int] = {}

    def before_codegen(self, node: cst.CSTNode) -> None:
        self.before.setdefault(id(node), len(self.tokens))

    def record_syntactic_position(
        self,
        node: cst.CSTNode,
        *,
        start_node: cst.CSTNode | None = None,
        end_node: cst.CSTNode | None = None,
    ) -> Any:
        return _Span(self, node, start_node)


class _Span:
    """A node's place without the whitespace, comments and parentheses around it, which is known
    after it is written."""

    __slots__ = ("node", "recorder", "start", "start_node")

    def __init__(
        self, recorder: _Recorder, node: cst.CSTNode, start_node: cst.CSTNode | None
    ) -> None:
        self.recorder, self.node, self.start_node = recorder, node, start_node

    def __enter__(self) -> None:
        self.start = len(self.recorder.tokens)

    def __exit__(self, *_: object) -> None:
        before = self.recorder.before
        before[id(self.node)] = (
            self.start if self.start_node is None else before[id(self.start_node)]
        )


class Positions:
    """The places of the nodes of one file, by identity: the same as those of LibCST's
    PositionProvider."""

    def __init__(self, module: cst.Module) -> None:
        self.module = module  # keeps the nodes, so that their identities stay theirs
        recorder = _Recorder(module)
        module._codegen(recorder)
        self.before = recorder.before
        self.offsets = [0, *accumulate(map(len, recorder.tokens))]
        self.text = "".join(recorder.tokens)
        self.lines = [0, *(found.end() for found in NEWLINE_RE.finditer(self.text))]

    def get(self, node: cst.CSTNode) -> tuple[int, int] | None:
        """Line and column where the node starts, both counted from 1; None if it is not in the
        file."""
        before = self.before.get(id(node))
        if before is None:
            return None
        offset = self.offsets[before]
        line = bisect_right(self.lines, offset)
        return line, offset - self.lines[line - 1] + 1
