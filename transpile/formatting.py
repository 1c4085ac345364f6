"""Format what was changed, and leave every other line as the user wrote it.

Black formats whole files, or ranges at the cost of whole files. Here the changed lines alone go through it: each run of
changed statements of one depth is formatted as a small file of its own and put back at its indentation.
"""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterator

import black
import black.mode

LINE_LENGTH = 120
_STRINGS = re.compile(r"""("(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|#.*""")


def format_changed(code: str, original: str, line_length: int = LINE_LENGTH) -> str:
    """Black on the lines of `code` that `original` does not have."""
    before, after = original.splitlines(), code.splitlines()
    out: list[str] = []
    end = 0
    for first, last in _changed(before, after):
        first = max(first, end)
        last = _whole(after, first, last)
        out.extend(after[end:first])
        for group in _groups(after[first:last]):
            out.extend(_formatted(group, line_length))
        end = max(last, end)
    out.extend(after[end:])
    return "\n".join(out) + ("\n" if code.endswith("\n") else "")


def _changed(before: list[str], after: list[str]) -> Iterator[tuple[int, int]]:
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=len(after) > 20000)
    for tag, _, _, first, last in matcher.get_opcodes():
        if tag != "equal" and last > first:
            yield first, last


def _whole(lines: list[str], first: int, last: int) -> int:
    """The end of a range, moved past the statement that it cuts."""
    depth = sum(_depth(line) for line in lines[first:last])
    while depth > 0 and last < len(lines):
        depth += _depth(lines[last])
        last += 1
    return last


def _depth(line: str) -> int:
    bare = _STRINGS.sub("", line)
    return sum(bare.count(c) for c in "([{") - sum(bare.count(c) for c in ")]}")


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _groups(lines: list[str]) -> Iterator[list[str]]:
    """Runs of lines in which none is shallower than the first."""
    group: list[str] = []
    base, depth = 0, 0
    for line in lines:
        if group and depth == 0 and line.strip() and _indent(line) < base:
            yield group
            group = []
        if not group:
            base = _indent(line)
        if not line.strip() and not group:
            yield [line]
            continue
        group.append(line)
        depth += _depth(line)
    if group:
        yield group


def _formatted(group: list[str], line_length: int) -> list[str]:
    """A run formatted, or as it is where it cannot stand alone."""
    text = "\n".join(group)
    if not text.strip() or '"\""' in text or "'''" in text or "\t" in text:
        return group
    indent = _indent(next(line for line in group if line.strip()))
    if indent % 4:
        return group
    leading = next(i for i, line in enumerate(group) if line.strip())
    trailing = next(i for i, line in enumerate(reversed(group)) if line.strip())
    body = group[leading : len(group) - trailing]
    header = body[-1].rstrip().endswith(":")  # the body of the last line did not change
    if header:
        body = [*body, " " * (_indent(body[-1]) + 4) + "pass"]
    around = [" " * n + "class _:" for n in range(0, indent, 4)]  # black spaces definitions by their depth
    mode = black.Mode(line_length=line_length, target_versions={black.mode.TargetVersion.PY311})
    source = "\n".join([*around, *body, ""])
    try:
        ast.parse(source)
        lines = black.format_str(source, mode=mode).splitlines()[len(around) :]
    except Exception:  # part of a statement: else, except, the end of a bracket
        return group
    if header:
        lines = lines[:-1]
    while lines and not lines[0].strip():
        lines = lines[1:]
    return [*group[:leading], *lines, *group[len(group) - trailing :]]


def format_all(code: str, line_length: int = LINE_LENGTH) -> str:
    """Black on everything: for files that are all generated."""
    return black.format_str(code, mode=black.Mode(line_length=line_length))
