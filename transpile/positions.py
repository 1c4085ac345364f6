"""Where each node stands in the source, at the cost of writing the source once.

LibCST's own provider keeps the line and column up to date token by token, and is visited besides: it costs several times as
much. Here only the number of tokens before each node is noted, and counted out for the few nodes that are asked for.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import accumulate

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

    @contextmanager
    def record_syntactic_position(
        self, node: cst.CSTNode, *, start_node: cst.CSTNode | None = None, end_node: cst.CSTNode | None = None
    ) -> Iterator[None]:
        """A node's place without the whitespace, comments and parentheses around it."""
        start = len(self.tokens)
        yield
        self.before[id(node)] = start if start_node is None else self.before[id(start_node)]


class Positions:
    """The places of the nodes of one file, by identity: the same as those of LibCST's PositionProvider."""

    def __init__(self, module: cst.Module) -> None:
        self.module = module  # keeps the nodes, so that their identities stay theirs
        recorder = _Recorder(module)
        module._codegen(recorder)
        self.before = recorder.before
        self.offsets = [0, *accumulate(map(len, recorder.tokens))]
        self.lines = [0, *(found.end() for found in NEWLINE_RE.finditer("".join(recorder.tokens)))]

    def get(self, node: cst.CSTNode) -> tuple[int, int] | None:
        """Line and column where the node starts, both counted from 1; None if it is not in the file."""
        before = self.before.get(id(node))
        if before is None:
            return None
        offset = self.offsets[before]
        line = bisect_right(self.lines, offset)
        return line, offset - self.lines[line - 1] + 1
