"""Format what was changed, and leave every other line as the user wrote it.

Black formats whole files, or ranges at the cost of whole files. Here the changed lines alone go
through it: each run of changed statements of one depth is formatted as a small file of its own and
put back at its indentation.
"""

import ast
import bisect
import difflib
import functools
import itertools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from .files import python_tree
from .fragments import below, black, formatted, indent
from .user_layout import depth

LINE_LENGTH = 120


def format_changed(code: str, original: str, line_length: int = LINE_LENGTH) -> str:
    """Black on the lines of `code` that `original` does not have. What is no Python stays, so that
    its fault is found where it is."""
    if _parsed(code) is None:
        return code
    code = _with_own_gaps(code, original)
    before, after = original.splitlines(), code.splitlines()
    whole = _statements(code)
    out: list[Sequence[str]] = []  # runs of lines; those of `fragments` are still as they were made
    fragments: list[int] = []
    end = 0
    for first, last in _changed(before, after):
        first = whole.get(first, (first, last))[0]
        last = max(last, whole.get(last - 1, (first, last))[1])
        if last <= end:
            continue  # a further line of a statement that is done
        first = max(first, end)
        out.append(after[end:first])
        groups = list(_groups(after[first:last]))
        fragments.extend(range(len(out), len(out) + len(groups)))
        out.extend(groups)
        end = last
    out.append(after[end:])
    for at, lines in zip(fragments, formatted([out[at] for at in fragments], line_length)):
        out[at] = lines
    return "\n".join(line for lines in out for line in lines) + "\n" * code.endswith("\n")


def _with_own_gaps(code: str, original: str) -> str:
    """The code without blank lines after the head of a function that had none there, since what
    stood first is gone (`super().__init__()`), and with one after each function that is new, and
    before it in a function."""
    before = {f.name: f for f in _functions(original)}
    lines = code.splitlines()
    gone: set[int] = set()
    ends: set[int] = set()
    for f in _functions(code):
        old = before.get(f.name)
        if old is None or old.first == old.head:
            gone.update(range(f.head, f.first))
        if f.inner and f.name.replace(".__call__.", ".forward.") not in before:
            ends.update(at for at in (f.start, f.end) if _lacks_a_gap(lines, at))
        elif old is None and f.method != "__call__" and f.end < len(lines):
            following = lines[f.end].lstrip()
            if following.startswith(("def ", "async def ", "@", "class ")):
                ends.add(f.end)
    out: list[str] = []
    for at, line in enumerate(lines):
        out += [""] * (at in ends) + [line] * (at not in gone)
    return "\n".join(out) + "\n" * code.endswith("\n")


def _lacks_a_gap(lines: list[str], at: int) -> bool:
    """Whether two statements meet at a line, neither of which is in the other."""
    pair = lines[at - 1 : at + 1]
    if len(pair) < 2 or not all(map(str.strip, pair)) or pair[0].lstrip().startswith("#"):
        return False
    return indent(pair[0]) >= indent(pair[1])


class _Function(NamedTuple):
    """A function of a file by its dotted name, from line `start` on: the lines of its body begin at
    `head`, with blank ones up to `first`, and end before `end`."""

    name: str
    inner: bool  # whether it stands in another
    start: int
    head: int
    first: int
    end: int

    @property
    def method(self) -> str:
        return self.name.rpartition(".")[2]


def _functions(code: str) -> list[_Function]:
    """The functions of a file in order."""
    lines = code.splitlines()
    found: list[_Function] = []

    def visit(node: ast.AST, path: str, inner: bool = False) -> None:
        for child in below(node):
            name, inside = path, inner
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                name = f"{path}.{child.name}"
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
                found.append(_function(name, inner, child, lines))
                inside = True
            visit(child, name, inside)

    if (module := _parsed(code)) is not None:
        visit(module, "")
    return found


def _parsed(code: str) -> ast.Module | None:
    try:
        return python_tree(code)
    except (SyntaxError, ValueError):
        return None


def _function(
    name: str, inner: bool, node: ast.FunctionDef | ast.AsyncFunctionDef, lines: list[str]
) -> _Function:
    top = node.body[0]
    head = min([top.lineno, *(d.lineno for d in getattr(top, "decorator_list", []))]) - 1
    while head > node.lineno and (
        not lines[head - 1].strip() or lines[head - 1].lstrip().startswith("#")
    ):
        head -= 1
    first = next((i for i in range(head, len(lines)) if lines[i].strip()), head)
    first = first if top.lineno > node.lineno else head
    start = min([node.lineno, *(d.lineno for d in node.decorator_list)]) - 1
    return _Function(name, inner, start, head, first, node.end_lineno or len(lines))


def _changed(before: list[str], after: list[str]) -> Iterator[tuple[int, int]]:
    """The ranges of lines of `after` that are new. A line that only stands further left, since a
    `with torch.no_grad():` is gone, is not.

    The matcher is quadratic in lines that occur often, so that it is given a stretch at a time:
    from one line at the left margin that occurs once in both, such as the head of a class, to
    the next.
    """
    new = [True] * len(after)
    start, first = 0, 0
    for end, last in [*_anchors(before, after), (len(before), len(after))]:
        one, other = ([s.strip() for s in part] for part in (before[start:end], after[first:last]))
        matcher = difflib.SequenceMatcher(None, one, other, autojunk=False)
        for i, j, n in matcher.get_matching_blocks() if one != other else [(0, 0, len(one))]:
            for old, at in zip(range(start + i, start + i + n), range(first + j, first + j + n)):
                # further right: in a function that was made of it
                new[at] = indent(after[at]) > indent(before[old])
        start, first = end, last
    for at in range(1, len(after)):  # a blank line parts no statements that are new
        new[at] = new[at] or new[at - 1] and not after[at].strip()
    for is_new, group in itertools.groupby(range(len(after)), new.__getitem__):
        if is_new:
            places = [*group]
            yield places[0], places[-1] + 1


def _anchors(before: list[str], after: list[str]) -> list[tuple[int, int]]:
    """Pairs of places of lines at the left margin that occur once in both, as many as come in one
    order."""
    places, times = _margin(before), _margin(after)
    pairs = [(i, times[line]) for line, i in places.items() if i >= 0 and times.get(line, -1) >= 0]
    ends: list[int] = []  # the least end of an ordered run of each length, and which pair it is
    chosen: list[int] = []
    previous: list[int] = []
    for k, (_, j) in enumerate(pairs):
        at = bisect.bisect_left(ends, j)
        previous.append(chosen[at - 1] if at else -1)
        ends[at : at + 1], chosen[at : at + 1] = [j], [k]
    found = []
    k = chosen[-1] if chosen else -1
    while k >= 0:
        found.append(pairs[k])
        k = previous[k]
    return found[::-1]


def _margin(lines: list[str]) -> dict[str, int]:
    """The lines that begin at the left margin, each with its place, or with -1 where it occurs
    again."""
    found: dict[str, int] = {}
    for i, line in enumerate(lines):
        if line and not line[0].isspace():
            found[line] = -1 if line in found else i
    return found


def _statements(code: str) -> dict[int, tuple[int, int]]:
    """The lines, from 0, that belong to a statement or header of several lines: where it begins,
    and the line after its end.

    A line from the middle of one means something else alone: `silu=F.silu,` in a call would be an
    assignment of a tuple.
    """
    found: dict[int, tuple[int, int]] = {}
    lines = code.splitlines()
    if (module := _parsed(code)) is None:
        return found
    todo = [*below(module)]
    while todo:
        node = todo.pop()
        todo += below(node)
        if isinstance(node, ast.stmt):
            first, last = node.lineno - 1, node.end_lineno or node.lineno
            if hasattr(node, "body") or hasattr(node, "cases"):  # its header alone
                last, opened = first + 1, depth(lines[first])
                while opened > 0 and last < len(lines):
                    opened += depth(lines[last])
                    last += 1
            for line in range(first, last) if last > first + 1 else ():
                found[line] = (first, last)
    return found


def _groups(lines: list[str]) -> Iterator[list[str]]:
    """Runs of lines in which none is shallower than the first."""
    group: list[str] = []
    base, opened = 0, 0
    for line in lines:
        if group and opened == 0 and line.strip() and indent(line) < base:
            yield group
            group = []
        if not group:
            base = indent(line)
        if not line.strip() and not group:
            yield [line]
            continue
        group.append(line)
        opened += depth(line)
    if group:
        yield group


@functools.lru_cache(maxsize=1024)  # torch's layers, which come out alike of many programs
def format_all(code: str, line_length: int = LINE_LENGTH) -> str:
    """Black on everything: for files that are all generated."""
    return black(code, line_length)
