"""Where nodes stand in a file, of what Python's tree says: offsets for lines and columns, the
parentheses around expressions, the insertions of f-strings.
"""

import re
from collections.abc import Iterator

from ..model.node import Expression
from ..model.program import File

_LINE = re.compile(r"\r\n|\r|\n")
_BEHIND = re.compile(r"(?:\s|\\\n|#[^\n]*)*")
_COLON = re.compile(r"(?:[^:#]|#[^\n]*)*:")
_LINE_END = re.compile(r"[ \t\f]*(?:#[^\n]*)?(?:\n|\Z)")
_QUOTE = re.compile(r"([fFrRbBuUtT]{0,2})('''|\"\"\"|'|\")")
_COMMENT = re.compile(r"#[^\n]*|('''|\"\"\"|'|\")(?:\\.|(?!\1)[^\n])*\1")


class Places:
    """The places of the nodes of a file, or of a part of it that was parsed alone; that begins at
    `shift`."""

    def __init__(self, file: File, parsed: str, shift: int = 0) -> None:
        self.file, self.text, self.shift = file, file.text, shift
        self.starts = [0, *(line.end() for line in _LINE.finditer(parsed))]
        self.parsed, self.plain = parsed, parsed.isascii()

    def at(self, line: int, column: int) -> int:
        """The offset of a place; Python counts the columns in bytes."""
        start = self.starts[line - 1]
        if not self.plain:
            stop = self.starts[line] if line < len(self.starts) else None
            column = len(self.parsed[start:stop].encode()[:column].decode())
        return start + column + self.shift

    def enclose(self, made: Expression, behind_bracket: bool = False) -> None:
        """Note the parentheses around an expression; `behind_bracket`: it is the first argument of
        a call, whose own it follows."""
        ends = list(self._closing(made.end))
        if ends:
            starts = list(self._opening(made.start))
            count = min(len(ends), len(starts) - behind_bracket)
            if count > 0:
                made.enclosed = starts[count - 1], ends[count - 1]

    def opens(self, at: int) -> bool:
        """Whether a parenthesis opens right before."""
        return next(self._opening(at), None) is not None

    def skip(self, at: int) -> int:
        """Behind space and comments."""
        return _BEHIND.match(self.text, at).end()  # type: ignore[union-attr]

    def _closing(self, at: int) -> Iterator[int]:
        text = self.text
        if text[at : at + 1] in _NEVER:
            return
        while text.startswith(")", at := self.skip(at)):
            yield (at := at + 1)

    def _opening(self, at: int) -> Iterator[int]:
        text = self.text
        while at > 0:
            at -= 1
            if text[at] == "(":
                yield at
            elif text[at] == "\n":
                first = text.rfind("\n", 0, at) + 1
                if "#" in text[first:at]:
                    found = _COMMENT.finditer(text, first, at)
                    at = next((c.start() for c in found if c.group()[0] == "#"), at)
            elif not text[at].isspace() and text[at] != "\\":
                return

    def suite(self, at: int) -> int | None:
        """Where the lines of a block begin whose header goes on at this offset; None where it
        stands behind the colon."""
        colon = _COLON.match(self.text, at)
        assert colon is not None
        line = _LINE_END.match(self.text, colon.end())
        return None if line is None else line.end()

    # --- f-strings -------------------------------------------------------------------------------

    def insertions(self, start: int, end: int) -> list[tuple[int, int]]:
        """Where the expressions in f-strings, that stand in a row, begin and end: before 3.12
        Python's tree does not know."""
        found: list[tuple[int, int]] = []
        while (start := self.skip(start)) < end:
            quote = _QUOTE.match(self.text, start)
            start = start + 1 if quote is None else self._string(quote, found)
        return found

    def _string(self, begin: re.Match[str], found: list[tuple[int, int]]) -> int:
        """The end of a string."""
        text, at, (prefix, quote) = self.text, begin.end(), begin.groups()
        formatted, raw = set("fFtT") & set(prefix), set("rR") & set(prefix)
        while not text.startswith(quote, at):
            if text[at] == "\\" and text[at + 1] in "\\'\"":
                at += 2
            elif formatted and text.startswith("\\N{", at) and not raw:
                at = text.index("}", at)
            elif formatted and text[at] == "{":
                at = at + 2 if text[at + 1] == "{" else self._insertion(at + 1, found)
            else:
                at += 1
        return at + len(quote)

    def _insertion(self, start: int, found: list[tuple[int, int]]) -> int:
        """The end of an insertion, with its format."""
        text, at, depth = self.text, start, 0
        while depth or text[at] not in ":}" and not _CONVERSION.match(text, at):
            quote = _QUOTE.match(text, at)
            if quote is not None:
                at = self._string(quote, found=[])
                continue
            depth += (text[at] in "([{") - (text[at] in ")]}")
            at += 1
        found.append((start, at))
        while text[at] not in ":}":
            at += 1
        while text[at] != "}":
            at = self._insertion(at + 1, found) if text[at] == "{" else at + 1
        return at + 1


_CONVERSION = re.compile(r"\s*=\s*[!:}]|!(?!=)")
_NEVER = frozenset(",.([]:}=")
