"""Statements over several lines that keep the layout which the user gave them: black would join
what fits on a line, and take `append(ModuleList([` apart.

They stand behind names of one line while black formats what is around them.
"""

import ast
import itertools
import re
import textwrap
import tokenize
from collections.abc import Callable, Sequence

_STRINGS = re.compile(r"""("(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|#.*""")
_HEADER = re.compile(r"(async )?def ")
_REFORMATTED = re.compile(r"(import|from|if|elif|while|for|with|class|match|case|except|async)\b")
_BESIDE = re.compile(r"# *(noqa|type:|pragma|pylint|pyright|fmt)")  # said of its line
_FOLLOWING = re.compile(r"(else|elif|except|finally|case)\b|[)\]}@]")
_MARK = re.compile(r"\s*(?:@|def )?_kept_(\d+)_(?:\(\):)?")
_LAYOUT = (tokenize.NL, tokenize.NEWLINE, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT)


Format = Callable[[str, int], str]


def without_kept(
    lines: Sequence[str], line_length: int, black: Format
) -> tuple[list[str], list[Sequence[str]]]:
    """The lines with a name in place of each statement that keeps its layout, and those."""
    out: list[str] = []
    kept: list[Sequence[str]] = []
    at = 0
    while at < len(lines):
        end = _end(lines, at)
        statement = lines[at:end]
        short = _with_short_lines(statement, line_length, black) if end > at + 1 else None
        if short is not None:
            out.append(_stand_in(statement[0], len(kept)))
            kept.append(short)
        else:
            lone = len(statement) == 1
            out += _commented_above(statement, line_length) if lone else statement
        at = end
    return out, kept


def with_kept(lines: Sequence[str], kept: Sequence[Sequence[str]]) -> list[str] | None:
    """The lines again with what stood behind names; None where one is not on a line of its own."""
    out: list[str] = []
    found = 0
    for line in lines:
        mark = _MARK.fullmatch(line)
        out += kept[int(mark[1])] if mark else [line]
        found += mark is not None
    return out if found == len(kept) else None


def _commented_above(lines: Sequence[str], line_length: int) -> Sequence[str]:
    """A line that its comment makes too long with that above it: black would take it apart."""
    line = lines[0]
    found = next((m for m in _STRINGS.finditer(line) if m[0].startswith("#")), None)
    code = line[: found.start()].rstrip() if found else ""
    if found is None or not code.strip() or not len(code) <= line_length < len(line):
        return lines
    if _BESIDE.match(found[0]) or _FOLLOWING.match(code.lstrip()):
        return lines
    return [code[: len(code) - len(code.lstrip())] + found[0], code]


def depth(line: str) -> int:
    """How many more brackets a line opens than it closes."""
    bare = _STRINGS.sub("", line)
    return sum(bare.count(c) for c in "([{") - sum(bare.count(c) for c in ")]}")


def _end(lines: Sequence[str], at: int) -> int:
    """The line after a statement that begins at one."""
    end, opened = at + 1, depth(lines[at])
    while end < len(lines) and (opened > 0 or lines[end - 1].endswith("\\")):
        opened += depth(lines[end])
        end += 1
    return end


def _stand_in(line: str, number: int) -> str:
    text = line.lstrip()
    name, indent = f"_kept_{number}_", line[: len(line) - len(text)]
    if _HEADER.match(text):
        return f"{indent}def {name}():"
    return f"{indent}{'@' * text.startswith('@')}{name}"


def _with_short_lines(
    lines: Sequence[str], line_length: int, black: Format
) -> Sequence[str] | None:
    """A statement as it is laid out, but for what is too long of it; None where it is not kept."""
    if not _is_kept(lines):
        return None
    out: list[str] = []
    for line in lines:
        long = len(line) > line_length and not _is_header_with_comments(lines)
        made = _element(line, line_length, black) if long else [line]
        if made is None:
            return None
        out += made
    return out if len(out) == len(lines) or _meaning(out) == _meaning(lines) else None


def _meaning(lines: Sequence[str]) -> str:
    """A statement without its layout."""
    text = textwrap.dedent("\n".join(lines)) + " pass" * lines[-1].rstrip().endswith(":")
    try:
        return ast.dump(ast.parse(text))
    except SyntaxError:  # `@staticmethod`
        return text


def _element(line: str, line_length: int, black: Format) -> list[str] | None:
    """The lines of an element that has one of its own, `norm=LayerNorm(n, eps),`; None of what is
    none: several are `a, b, state=state` and would be an assignment."""
    text = line.strip().removesuffix(",")
    word = re.match(r"\w+ ?= ?(?!=)", text)
    value = text[word.end() :] if word else text
    if "#" in text or depth(value) or not (value[:1].isalpha() or value[:1] == "_"):
        return None
    if not _is_one(value):  # `a, b=b`: several on one line
        return None
    indent = " " * (len(line) - len(line.lstrip()))
    try:
        if isinstance(ast.parse(value, mode="eval").body, ast.Tuple):
            return None
        made = black(value, line_length - len(indent) - 1).rstrip("\n").splitlines()
    except Exception:  # it is no expression, or none for black
        return None
    made[0] = (word[0] if word else "") + made[0]
    made[-1] += "," * line.rstrip().endswith(",")
    return [indent + part for part in made]


def _is_one(value: str) -> bool:
    try:
        return not isinstance(ast.parse(value, mode="eval").body, ast.Tuple)
    except SyntaxError:
        return False


def _is_header_with_comments(lines: Sequence[str]) -> bool:
    """Joined to one line it would have all its comments behind it."""
    if not _HEADER.match(lines[0].lstrip()):
        return False
    return any(m[0].startswith("#") for line in lines[:-1] for m in _STRINGS.finditer(line))


def _is_kept(lines: Sequence[str]) -> bool:
    text = lines[0].lstrip()
    if _HEADER.match(text):
        if not lines[-1].rstrip().endswith(":"):
            return False
        if _is_header_with_comments(lines):
            return True
    elif _REFORMATTED.match(text):
        return False
    if any(not line.strip() or "\t" in line for line in lines):
        return False
    shift = len(lines[0]) - len(text)
    try:
        return _is_aligned(lines, shift)
    except (tokenize.TokenError, IndentationError, SyntaxError):
        return False


def _is_aligned(lines: Sequence[str], shift: int) -> bool:
    """Whether each line stands further right than the one whose last bracket it is in, or, where
    something follows that bracket, below it."""
    given = itertools.chain((line[shift:] + "\n" for line in lines), itertools.repeat(""))
    brackets: list[tuple[int, int | None]] = []  # the indentation where one opens, what is below it
    row, indent = 0, 0
    opened = False  # just now, so that what follows tells what stands below
    for token in tokenize.generate_tokens(given.__next__):
        if token.type in _LAYOUT or token.type == tokenize.ENDMARKER:
            continue
        if token.start[0] != token.end[0]:
            return False  # a string over several lines
        closes = token.type == tokenize.OP and token.string in ")]}"
        if token.start[0] != row:
            row, opened = token.start[0], False
            if brackets and not _stands(token.start[1], closes, *brackets[-1]):
                return False
            if not brackets and row > 1:
                return False
            indent = token.start[1]
        elif opened:
            brackets[-1], opened = (brackets[-1][0], token.start[1]), False
        if token.type == tokenize.OP and token.string in "([{":
            brackets.append((indent, None))
            opened = True
        elif closes:
            brackets.pop()
            opened = False
    return True


def _stands(column: int, closes: bool, indent: int, below: int | None) -> bool:
    if below is None:
        return column >= indent if closes else column > indent
    return column in (below - 1, below) if closes else column == below
