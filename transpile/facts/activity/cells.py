"""Where the sources of gradients are kept: one cell for a definition of a name or a field, joined
with those that share its memory.
"""

from __future__ import annotations

from collections.abc import Iterable

from ...model.node import Node
from ...model.program import Class, Function, Parameter

# What a gradient may come from: a parameter of the function, or one of these.
PARAM, INPUT, OPEN = "param", "input", "open"  # OPEN: from what is not known
Source = Parameter | str
Sources = frozenset[Source]
NONE: Sources = frozenset()
Key = Node | tuple[Class | Function | None, str]  # also `(function, "return")`


class Cell:
    """`raw`: as if no block turned gradients off; `out`: as it is seen outside of the block."""

    __slots__ = ("raw", "out", "joined", "readers")

    def __init__(self) -> None:
        self.raw: set[Source] = set()
        self.out: set[Source] = set()
        self.joined: Cell | None = None
        self.readers: set[object] = set()

    def root(self) -> Cell:
        """The cell that stands for all that are joined with this one."""
        cell = self
        while (joined := cell.joined) is not None:
            if joined.joined is not None:
                cell.joined = joined.joined  # the way is half as long for who asks next
            cell = joined
        return cell


class Cells:
    """All cells, and which readers have read what has changed since.

    `reader` is who reads now: a cell remembers it, and a change makes it `stale`.
    """

    def __init__(self) -> None:
        self.of: dict[Key, Cell] = {}
        self.reader: object = None
        self.stale: set[object] = set()

    def get(self, key: Key) -> Cell:
        """A cell that is read."""
        found = self._cell(key)
        found.readers.add(self.reader)
        return found

    def _cell(self, key: Key) -> Cell:
        found = self.of.get(key)
        if found is None:
            found = self.of[key] = Cell()
        return found.root()

    def flow(self, key: Key, raw: Iterable[Source], out: Iterable[Source]) -> None:
        """Let sources flow into a cell."""
        cell = self._cell(key)
        before = len(cell.raw), len(cell.out)
        cell.raw.update(raw)
        cell.out.update(out)
        if before != (len(cell.raw), len(cell.out)):
            self.stale |= cell.readers

    def join(self, one: Key, other: Key) -> None:
        """Say that two cells may share memory: what is written into one is in the other."""
        a, b = self._cell(one), self._cell(other)
        if a is not b:
            self.stale |= a.readers | b.readers
            b.joined = a
            a.raw |= b.raw
            a.out |= b.out
            a.readers |= b.readers
