"""The model as text: the user's bytes, with the text of changed parts put into their slots."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from ..model.expressions import Call, FormattedString, Subscript
from ..model.layout import comments
from ..model.node import INSERTED, Expression, Node, Statement
from ..model.program import File, Function
from ..model.statements import Block, If
from .lines import (
    Piece,
    comments_in,
    comments_of_replaced,
    filled,
    home_of,
    is_enclosed,
    is_long,
    lost_comments,
    moved,
    unsaid,
    without_semicolons,
)
from .precedence import needs_parentheses
from .render import EXPRESSIONS
from .render_statements import STATEMENTS

_RENDER = {**EXPRESSIONS, **STATEMENTS}
_BRACKETED = {"Display", "Dictionary", "Comprehension", "FormattedString"}


def write(file: File) -> str:
    """The text of a file as it is now, with all its comments."""
    text = Writer().text(file)
    lost = unsaid(file.text, text) if file.touched else []
    return Writer(lost).text(file) if lost else text


class Writer:
    """Writes nodes. The text of a statement begins where it begins, and is indented as it was.
    `lost`: comments that nothing says, which stand where the statement stood that they were in."""

    def __init__(self, lost: Iterable[str] = ()) -> None:
        self._lost = Counter(lost)

    def text(self, node: Node) -> str:
        """A node's own text, without parentheses around it."""
        if node.start < 0:
            return _RENDER[node.__class__](self, node)
        assert node.file is not None
        if not node.touched:
            return node.file.text[node.start : node.end]
        if isinstance(node, Block):
            return self._block(node)
        return self._spliced(node)

    def part(self, parent: Node, child: Node) -> str:
        """A part of a node that is rendered, in parentheses where it needs them."""
        text = self.text(child)
        if isinstance(parent, Subscript) and parent.index is child and text:
            return text
        if isinstance(child, Expression):
            bracketed = (
                isinstance(parent, (Call, Subscript)) or parent.__class__.__name__ in _BRACKETED
            )
            if (
                needs_parentheses(parent, child)
                or "\n" in text
                and not bracketed
                and not is_enclosed(text)
            ):
                return f"({text})"
        return text

    def lines(self, block: Block, indent: str) -> str:
        """The lines of a block at an indentation, with their comments, without the last line
        break."""
        home = block.indent
        if block.start >= 0 and block.form == "indented" and not self._restated(block):
            return moved(self.text(block), home or "", indent, whole=True)
        if block.form == "elif" and len(block.body) == 1 and not self._restated(block):
            if isinstance(block.parent, If):  # behind `el`
                return self._statement(block.body[0], indent)
            return self._line(block.body[0], indent, commented=False)
        commented = block.start >= 0 and block.form == "indented"
        made = [self._line(statement, indent, commented) for statement in block.body]
        return "\n".join(made) or f"{indent}pass"

    # --- splicing --------------------------------------------------------------------------------

    def _spliced(self, node: Node) -> str:
        """A node's own text with what has changed in it."""
        assert node.file is not None
        pieces: list[Piece] = list(node.patches or ())
        for child in node.children():
            piece = self._piece(node, child)
            if piece is not None:
                pieces.append(piece)
        return filled(node.file.text, node.start, node.end, pieces)

    def _piece(self, node: Node, child: Node) -> Piece | None:
        """What has changed of the text of a node in one of its parts."""
        if isinstance(child, Block):
            return self._suite(node, child) if child.touched or child.slot is not None else None
        if child.slot is None:
            if not child.touched:
                return None
            return child.start, child.end, self._quoted(node, self.text(child))
        text = self._quoted(node, self.part(node, child))
        start, end = child.slot
        if isinstance(node, Function) and child in node.decorators and start == end:  # a new one
            return start, end, f"@{text}\n{home_of(node)}"
        if isinstance(node, Call) and child is not node.function:
            at = next(i for i, a in enumerate(node.arguments) if a is child)
            word = node.keywords[at]
            if start == end:  # a new argument
                text = text if word is None else f"{word}{_equals(node)}{text}"
                return start, end, _joint(node, at) + text
        return start, end, text

    def _quoted(self, node: Node, text: str) -> str:
        """What is inserted into an f-string must not have its quotes, before Python 3.12."""
        if not isinstance(node, FormattedString) or node.file is None:
            return text
        written = node.file.text[node.start : node.end].lstrip("fFrRbBuU")
        quote = written[0]
        if written.startswith(3 * quote) and 3 * quote not in text:
            return text  # between triple quotes one alone ends nothing
        return text.replace(quote, "'" if quote == '"' else '"')

    def _suite(self, node: Node, block: Block) -> Piece:
        """What has changed of a compound statement in one of its blocks."""
        assert node.file is not None
        start, end = block.slot or (block.start, block.end)
        if block.start >= 0 and block.slot is None and not self._restated(block):
            return start, end, self.text(block)
        text, made = node.file.text, self.lines(block, home_of(node) + "    ")
        if start == end:  # another side, where there was none
            return start, end, f"\n{home_of(node)}else:\n{made}"
        if text.startswith("elif", start):
            return start, end, f"else:\n{made}"
        while text[start - 1] in " \t":
            start -= 1
        return start, end, made if text[start - 1] == "\n" else f"\n{made}"

    # --- blocks ----------------------------------------------------------------------------------

    def _restated(self, block: Block) -> bool:
        """Whether a block keeps nothing of its layout: it stood behind a colon, and its
        statements are others now."""
        if block.form not in ("inline", "elif") or not block.touched:
            return False
        if block.form == "elif" and not all(is_long(s) for s in block.body):
            return True
        return _others(block) or any(is_long(s) for s in block.body if s.slot is not None)

    def _block(self, block: Block) -> str:
        """The lines of a block that keeps its layout."""
        assert block.file is not None
        text, at, out = block.file.text, block.start, ""
        indent, others = block.indent or "", _others(block)
        for statement in block.body:
            place = statement.place()
            if place is None or place == INSERTED:
                line = self._line(statement, indent, commented=True)
                stop = at if at == block.start else self._line_end(block, at)
                out += self._gap(block, at, stop)
                out += "\n" * bool(out and not out.endswith("\n")) + line
                begins = stop == block.start  # the line break there ends an empty line
                out += "\n" * (stop < block.end and (begins or text[stop] not in "\r\n;"))
                at = stop
                continue
            gap = self._gap(block, at, place[0])
            if others and ";" in gap and not gap.strip("; \t"):  # statements that shared a line
                gap = f"\n{indent}" if out.strip() else ""
            own = statement.slot is None
            again = [] if own else self._found_again(text[slice(*place)])
            if not own and statement.comments is not None:  # it stood elsewhere, and has its own
                out += gap + "".join(f"{comment}\n{indent}" for comment in again)
                out += self._line(statement, indent, commented=True).lstrip()
            else:
                said = self.text(statement) if own else self._statement(statement, indent)
                line = text[text.rfind("\n", 0, place[0]) + 1 : place[0]]
                lost = [] if line.strip() else lost_comments(statement, said)
                if not own and not line.strip():
                    lost += comments_of_replaced(block, statement, said) + again
                out += gap + "".join(f"{comment}\n{line}" for comment in lost) + said
            at = place[1]
        out += self._gap(block, at, block.end)
        if block.patches and block.form != "module":
            out = out.rstrip()  # the last statement may have gone
        return out if out.strip() or block.form == "module" else f"{indent}pass"

    def _line_end(self, block: Block, at: int) -> int:
        """Where the line ends, or another statement follows on it."""
        assert block.file is not None
        text = block.file.text
        if text[at : block.end].lstrip(" \t").startswith(";"):
            return text.index(";", at)
        stop = text.find("\n", at)
        return min(len(text) if stop < 0 else stop, block.end)

    def _gap(self, block: Block, start: int, end: int) -> str:
        """The text between statements, without that of those which have gone."""
        assert block.file is not None
        text, indent = block.file.text, block.indent or ""
        cuts = [
            (a, min(b, end), new or self._left(text[a:b], indent))
            for a, b, new in block.patches or ()
            if start <= a and b <= end + 1
        ]
        gap = filled(text, start, end, cuts)
        if not cuts or ";" not in gap:
            return gap
        behind = bool(text[:start].rpartition("\n")[2].strip())
        return without_semicolons(gap, behind, end < block.end)

    def _left(self, text: str, indent: str) -> str:
        """The lines that are left of statements which have gone: comments in them."""
        lines = self._found_again(text) if text.endswith("\n") else []
        return "".join(f"{indent}{comment}\n" for comment in lines)

    def _found_again(self, text: str) -> list[str]:
        """The comments of a text that have been lost, each once."""
        found = Counter(comments_in(text)) & self._lost
        self._lost -= found
        return list(found.elements())

    def _line(self, statement: Statement, indent: str, commented: bool) -> str:
        """A statement on lines of its own, with its comments."""
        above, behind = comments(statement) if commented or statement.comments else ("", "")
        lines = "".join(f"{indent}{line.strip()}".rstrip() + "\n" for line in above.splitlines())
        said = self._statement(statement, indent)
        lines += "".join(f"{indent}{comment}\n" for comment in lost_comments(statement, said))
        text = lines + indent + said
        return f"{text}  {behind}" if behind else text

    def _statement(self, statement: Statement, indent: str) -> str:
        """The text of a statement for another indentation; the first line has none."""
        return moved(self.text(statement), home_of(statement), indent)


def _others(block: Block) -> bool:
    """Whether the statements of a block are others than the user's."""
    return bool(block.patches) or any(s.slot == INSERTED for s in block.body)


def _joint(call: Call, at: int) -> str:
    """What stands between the arguments of the user's and a new one: they may have a line each."""
    own = [a for a in call.arguments[:at] if a.start >= 0 and a.file is call.file]
    if not own or call.file is None:
        return ", " if at else ""
    text, last = call.file.text, own[-1].end
    starts = [text[text.rfind("\n", 0, start) + 1 : start] for start in _starts(call, own[-2:])]
    lines = [line for line in starts if not line.strip()]
    alone = len(lines) == len(starts) or len(own) == 2 and starts[-1:] == lines
    end = text.find("\n", last)
    commented = text.find("#", last, end if end >= 0 else len(text)) >= 0
    return f",\n{lines[-1]}" if alone and lines and not commented else ", "


def _starts(call: Call, arguments: list[Expression]) -> Iterator[int]:
    """Where arguments begin in the text, with the keywords that they have there."""
    assert call.file is not None
    for argument in arguments:
        place = argument.place() or (argument.start, 0)
        word = _KEYWORD.search(call.file.text[call.start : place[0]])
        yield call.start + word.start() if word else place[0]


_KEYWORD = re.compile(r"\w+\s*=\s*\Z")


def _equals(call: Call) -> str:
    """`=` as the user writes it between a keyword and its value in a call."""
    for word, argument in zip(call.keywords, call.arguments):
        if word is not None and argument.start >= 0 and call.file is not None:
            spaced = call.file.text.endswith(" = ", 0, argument.start)
            return " = " if spaced else "="
    return "="


def show(node: Any) -> str:
    """The text of a node, for messages and tests."""
    return Writer().text(node)
