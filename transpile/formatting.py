"""Format what was changed, and leave every other line as the user wrote it."""

from __future__ import annotations

import difflib

import black

LINE_LENGTH = 120


def format_changed(code: str, original: str, line_length: int = LINE_LENGTH) -> str:
    """Black on the lines of `code` that `original` does not have."""
    mode = black.Mode(line_length=line_length, target_versions={black.TargetVersion.PY311})
    before, after = original.splitlines(), code.splitlines()
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    changed = [(j1 + 1, max(j2, j1 + 1)) for tag, _, _, j1, j2 in matcher.get_opcodes() if tag != "equal" and j2 > j1]
    if not changed:
        return code
    changed = [(first, _to_definition(after, last)) for first, last in changed]
    try:
        return black.format_str(code, mode=mode, lines=changed)
    except Exception:  # black refuses some odd but valid sources: unformatted code is still right
        return code


def _to_definition(lines: list[str], last: int) -> int:
    """A range that ends just above a definition takes it in: black then keeps the blank lines between."""
    end = last
    while end < len(lines) and not lines[end].strip():
        end += 1
    return end + 1 if end < len(lines) and end > last and lines[end].startswith(("class ", "def ", "@")) else last


def format_all(code: str, line_length: int = LINE_LENGTH) -> str:
    """Black on everything: for files that are all generated."""
    return black.format_str(code, mode=black.Mode(line_length=line_length))
