"""Lines and comments around a statement, as the text of its file has them."""

from .node import INSERTED, Statement


def comments(statement: Statement) -> tuple[str, str]:
    """The comments and empty lines above a statement, and the comment behind it, as its file has
    them."""
    if statement.comments is not None:
        return statement.comments
    if statement.start >= 0:
        file, place = statement.file, (statement.start, statement.end)
    else:  # what stands where the user's statement stood
        around = statement.parent
        file, place = around.file if around is not None else None, statement.slot or INSERTED
    if file is None or place == INSERTED:
        return "", ""
    text, (start, end) = file.text, place
    line = text.rfind("\n", 0, start) + 1
    first, _ = lines_of(text, (start, end), True)
    stop = text.find("\n", end)
    behind = text[end : stop if stop >= 0 else len(text)].strip()
    return text[first:line], behind if behind.startswith("#") else ""


def lines_of(text: str, place: tuple[int, int], with_comments: bool) -> tuple[int, int]:
    """The stretch of whole lines that a statement fills, its line break included; less where others
    share them.

    A comment behind it stays, on a line of its own, unless it goes `with_comments`, as those above
    it do.
    """
    start, end = place
    line = text.rfind("\n", 0, start) + 1
    stop = text.find("\n", end) + 1 or len(text)
    behind = text[end:stop].strip()
    if text[line:start].strip() or behind and not (behind.startswith("#") and with_comments):
        return start, text.index("#", end) if behind.startswith("#") else end
    if with_comments:
        while line > 0:
            above = text.rfind("\n", 0, line - 1) + 1
            written = text[above:line].strip()
            if written and not written.startswith("#"):
                break
            line = above
    return line, stop
