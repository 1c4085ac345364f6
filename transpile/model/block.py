"""Blocks: statements one below the other."""

from __future__ import annotations

from collections.abc import Iterable

from .layout import comments, lines_of
from .node import INSERTED, Node, Statement


class Pass(Statement):
    __slots__ = ()


class Block(Node):
    """Statements one below the other. `form`: "module", "indented", "inline" (behind the colon),
    "elif" (an `else:` of one If)."""

    __slots__ = ("body", "form", "indent")
    parts = ("body",)

    def __init__(self, body: Iterable[Statement] = (), form: str = "indented") -> None:
        super().__init__()
        self.body, self.form = list(body), form
        self.indent: str | None = None  # the whitespace before its lines, where the user wrote it
        self.adopt()

    @property
    def is_empty(self) -> bool:
        """Whether nothing is done in it."""
        return all(isinstance(s, Pass) for s in self.body)

    def insert_before(self, statement: Statement, new: Iterable[Statement]) -> None:
        """Put statements above one of this block."""
        at = self._index(statement)
        self._insert(at, new)

    def precede(self, statement: Statement, new: Iterable[Statement]) -> None:
        """Put statements between one of this block and the comments above it."""
        made, at = list(new), self._index(statement)
        self.take(statement)
        above, behind = statement.comments or ("", "")
        if made:
            made[0].comments, statement.comments = (above, ""), ("", behind)
        self._insert(at, [*made, statement])

    def insert_after(self, statement: Statement, new: Iterable[Statement]) -> None:
        """Put statements below one of this block."""
        self._insert(self._index(statement) + 1, new)

    def append(self, new: Iterable[Statement]) -> None:
        """Put statements at the end."""
        self._insert(len(self.body), new)

    def set_apart(self, statement: Statement) -> None:
        """Put an empty line above a statement of this block, and what comments it."""
        at = self._index(statement)
        self.take(statement)
        above, behind = statement.comments or ("", "")
        statement.comments = above if above.startswith("\n") else f"\n{above}", behind
        self._insert(at, [statement])

    def remove(self, statement: Statement) -> None:
        """Leave out a statement; its comments stay where they stand."""
        del self.body[self._index(statement)]
        self._cut(statement, with_comments=False)

    def take(self, statement: Statement) -> None:
        """Leave out a statement that will stand elsewhere; its comments go along with it."""
        statement.comments = comments(statement)
        del self.body[self._index(statement)]
        self._cut(statement, with_comments=True)

    def _cut(self, statement: Statement, with_comments: bool) -> None:
        """Note what of the block's text goes with a statement."""
        place = statement.place()
        if self.start >= 0 and self.file is not None and place is not None and place != INSERTED:
            self.patches = [
                *(self.patches or ()),
                (*lines_of(self.file.text, place, with_comments), ""),
            ]
        self.touch()

    def substitute(self, statement: Statement, new: Iterable[Statement]) -> None:
        """Put any number of statements in the place of one; the first has its lines and
        comments, and that of its header above it."""
        made = list(new)
        if not made:
            self.remove(statement)
            return
        at, comment = self._index(statement), header_comment(statement)
        if comment and not any(comment in "".join(s.comments or ()) for s in made):
            lines, behind = made[0].comments or ("", "")
            made[0].comments = (f"{comment}\n{lines}", behind)
        statement.replace(made[0])
        self._insert(at + 1, made[1:])

    def _insert(self, at: int, new: Iterable[Statement]) -> None:
        made = list(new)
        for statement in made:
            statement.parent = self
            statement.slot = INSERTED
        self.body[at:at] = made
        if made and len(self.body) > len(made):  # one that was put where nothing was left
            self.body = [s for s in self.body if not is_made_pass(s) or s in made]
        self.touch()

    def _index(self, statement: Statement) -> int:
        return self.body.index(statement)

    def unfold(self, statement: Statement, inner: Block) -> None:
        """Put the statements of a block of a statement in the place of that; comments stay above
        what they stood above."""
        moved = list(inner.body)
        for one in moved:
            inner.take(one)
        if inner.end == statement.end:
            self._dedent_below(statement, inner)
        self.substitute(statement, moved)

    def _dedent_below(self, statement: Statement, inner: Block) -> None:
        """Comments below the last statement of a block come along."""
        if statement.start < 0 or statement.file is None or not inner.indent:
            return
        text, at = statement.file.text, statement.file.text.find("\n", statement.end) + 1
        while at and text.startswith(f"{inner.indent}#", at):
            cut = at, at + len(inner.indent), self.indent or ""
            self.patches = [*(self.patches or ()), cut]
            at = text.find("\n", at) + 1


def is_made_pass(statement: Statement) -> bool:
    return isinstance(statement, Pass) and statement.start < 0


def header_comment(statement: Statement) -> str:
    """The comment behind the header of a statement that has a block: `if ready:  # at last`."""
    blocks = [b for b in statement.children() if isinstance(b, Block) and b.start >= 0]
    if statement.start < 0 or statement.file is None or not blocks:
        return ""
    places = [c.place() for c in statement.children() if not isinstance(c, Block)]
    ends = [place[1] for place in places if place is not None and place[1] <= blocks[0].start]
    text, end = statement.file.text, max(ends, default=statement.start)
    line = text[end : text.find("\n", end)]
    return line[line.index("#") :].strip() if "#" in line else ""
