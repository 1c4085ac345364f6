"""Lines of text: filled, indented anew, without semicolons, and the comments that stand in them."""

import ast
import re
from collections import Counter
from collections.abc import Iterable

from ..model.block import is_made_pass
from ..model.node import INSERTED, Node, Statement
from ..model.statements import Block

Piece = tuple[int, int, str]

_COMPOUND = frozenset(("", *"if for while with try match async def class".split()))

# Comments and strings, whichever begins first.
_TOKENS = r"#[^\n]*|('''|\"\"\")(?:\\.|(?!\1).)*\1|'(?:\\.|[^'\\\n])*'|\"(?:\\.|[^\"\\\n])*\""


def moved(text: str, home: str, indent: str, whole: bool = False) -> str:
    """Lines at another indentation; those inside of strings over several lines stay. `whole`:
    the first line too."""
    if home == indent or "\n" not in text and not whole:
        return text
    lines = text.split("\n")
    kept = _inside_strings(text) if '"""' in text or "'''" in text else frozenset()
    for i, line in enumerate(lines):
        if (i or whole) and i not in kept and line.strip():
            lines[i] = indent + line.removeprefix(home)
    return "\n".join(lines)


def _inside_strings(text: str) -> frozenset[int]:
    """The lines, counted from 0, that begin inside of a string in triple quotes."""
    found: set[int] = set()
    line, at = 0, 0
    for token in re.finditer(_TOKENS, text, re.S):
        line += text.count("\n", at, token.start())
        inside = token.group().count("\n")
        found.update(range(line + 1, line + inside + 1))
        line, at = line + inside, token.end()
    return frozenset(found)


def lost_comments(statement: Statement, said: str) -> list[str]:
    """The comments inside of a statement, or of its header, that its new text does not say: they
    stand above it then."""
    if statement.start < 0 or statement.file is None or not statement.touched:
        return []
    blocks = [c.start for c in statement.children() if isinstance(c, Block) and c.start >= 0]
    text = statement.file.text[statement.start : min([statement.end, *blocks])]
    return unsaid(text, said)


def comments_of_replaced(block: Block, statement: Statement, said: str) -> list[str]:
    """The comments inside of a simple statement that this alone was made of, as far as it does not
    say them: `self.register_buffer("h", h)  # of the second` over several lines."""
    if statement.start >= 0 or block.file is None or not statement.slot or is_made_pass(statement):
        return []
    at, text = block.body.index(statement), block.file.text[slice(*statement.slot)]
    beside = block.body[max(at - 1, 0) : at + 2]
    word = re.match(r"\w*", text)
    compound = word is None or word.group() in _COMPOUND
    return [] if compound or any(s.slot == INSERTED for s in beside) else unsaid(text, said)


def unsaid(text: str, said: str) -> list[str]:
    """The comments of a text that another does not say."""
    if "#" not in text:
        return []
    left = Counter(comments_in(said))
    found = []
    for comment in comments_in(text):
        left[comment] -= 1
        if left[comment] < 0:
            found.append(comment)
    return found


def comments_in(text: str) -> list[str]:
    """The comments of a text."""
    tokens = (t.group() for t in re.finditer(_TOKENS, text, re.S)) if "#" in text else ()
    return [t.rstrip() for t in tokens if t.startswith("#")]


def without_semicolons(gap: str, behind: bool, before: bool) -> str:
    """The text between statements without the semicolons of those which have gone: `a; b` of which
    `b` is left. Whether it begins behind a statement, and ends before one."""
    lines = gap.split("\n")
    for i, line in enumerate(lines):
        code, hash, comment = line.partition("#")
        if ";" in code and not (behind and before and len(lines) == 1):
            space = code[: len(code) - len(code.lstrip())] if i or not behind else "  " * bool(hash)
            lines[i] = space + hash + comment
    return "\n".join(lines)


def filled(text: str, start: int, end: int, pieces: Iterable[Piece]) -> str:
    """A stretch of text with other texts at some places."""
    out, at = [], start
    for first, last, new in sorted(pieces, key=lambda p: (p[0], p[1])):
        if first < at:  # inside of what another piece covers
            continue
        if first < last:  # `assert(x)` keeps its words apart
            new = " " * _joined(text[first - 1 : first], new[:1]) + new
            new += " " * _joined(new[-1:], text[last : last + 1])
        out += [text[at:first], new]
        at = last
    out.append(text[at:end])
    return "".join(out)


def _joined(left: str, right: str) -> bool:
    """Whether two characters would make one word."""
    return all(c.isalnum() or c == "_" for c in (left, right)) and bool(left and right)


def is_enclosed(text: str) -> bool:
    """Whether an expression over several lines is one without parentheses around it."""
    try:
        ast.parse(text.strip(), mode="eval")
    except SyntaxError:
        return False
    return True


def is_long(statement: Node) -> bool:
    return any(isinstance(part, Block) for part in statement.children())


def home_of(node: Node) -> str:
    """The indentation that the lines of a statement's text have: those of a simple one that is
    rendered are from an expression of the user's."""
    if node.start < 0 and not is_long(node):
        node = next((n for n in node.walk() if n.start >= 0), node)
    if node.start < 0 or node.file is None:
        return ""
    line = node.file.text.rfind("\n", 0, node.start) + 1
    found = re.match(r"[ \t]*", node.file.text[line : node.start])
    return found.group() if found else ""
