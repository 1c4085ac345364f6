"""Parameters that a dialect adds to the user's functions, in the layout that the others have.

def __init__(self, dim, heads=8):       →   def __init__(self, dim, heads=8, *, rngs: nnx.Rngs):
"""

import re

from ..model.node import Statement
from ..model.program import Function, Parameter
from ..model.statements import Block, Pass, Return
from ..source.lower_ast import expression

_COMMENTED = re.compile(r"[ \t]*(,?)[ \t]*#[^\n]*")


def add_by_place(function: Function, made: list[Parameter], at: int) -> None:
    """Add parameters by place before the one at an index."""
    known = function.parameters
    if function.start >= 0 and function.file is not None and made:
        texts = [p.name if p.default is None else f"{p.name}=None" for p in made]
        if at:
            place = _end(function, known[at - 1], known[at:])
            joint, last = _joint(function, known[at - 1 :]), not known[at:]
            _put(function, place, joint, texts, False, last)
        else:
            place = _opening(function)
            line = re.compile(r"\n[ \t]*").match(function.file.text, place)
            first = "" if line is None else line.group()  # they have a line each
            texts = [first + text for text in texts]
            joint = ", " if line is None else ","
            function.patch(place, place, joint.join([*texts, *[""] * bool(known)]))
    for parameter in made:
        parameter.parent = function
    function.parameters = [*known[:at], *made, *known[at:]]
    function.touch()


def add_keyword(
    function: Function, name: str, annotation: str | None = None, default: str | None = None
) -> None:
    """Add a parameter that is given by keyword alone, before `**kwargs`."""
    known = function.parameters
    last = known[-1] if known and known[-1].kind == "**" else None
    plain = known[:-1] if last is not None else known
    starred = any(p.kind in ("*", "=") for p in plain)
    text = name if annotation is None else f"{name}: {annotation}"
    text = text if default is None else f"{text}={default}"
    parts = [text] if starred else ["*", text]
    if function.start >= 0 and function.file is not None:
        _write(function, plain, last, parts)
    # the text is there already: the node is for those who ask what a function takes
    made = Parameter(
        name,
        "=",
        None if annotation is None else expression(annotation),
        None if default is None else expression(default),
    )
    made.parent = function
    function.parameters = [*plain, made, *([last] if last is not None else [])]
    function.touch()


def _write(
    function: Function, plain: list[Parameter], last: Parameter | None, parts: list[str]
) -> None:
    """Put the text of a parameter behind the others, on a line of its own where they have one."""
    placed = [p for p in plain if _place(p)[0] >= 0]
    if placed:
        at = _end(function, placed[-1], [])
        further = _place(plain[-1])[0] < 0  # one was put there before
        _put(function, at, _joint(function, placed[-1:] if len(plain) > 1 else []), parts, further)
    elif last is not None:
        at = _place(last)[0]
        function.patch(at, at, ", ".join(parts) + ", ")
    else:
        at = _opening(function)
        function.patch(at, at, ", ".join([*[""] * bool(plain), *parts]))


def _put(
    function: Function, at: int, joint: str, parts: list[str], further: bool, last: bool = True
) -> None:
    """Put the texts of parameters behind the one that ends at a place, and behind what was put
    there `further`."""
    commented = _COMMENTED.match(function.file.text, at) if function.file is not None else None
    if commented is None or joint == ", ":
        function.patch(at, at, joint + joint.join(parts))
    else:  # the comment is of the parameter that it stands beside
        comma = commented[1] if last else ","
        function.patch(at, at, "" if commented[1] or further else ",")
        at = commented.end()
        first = joint if further and not commented[1] else joint[1:]
        function.patch(at, at, first + joint.join(parts) + comma)


def _end(function: Function, parameter: Parameter, others: list[Parameter]) -> int:
    """Where a parameter ends, with the slash behind the last of those by place alone."""
    assert function.file is not None
    _, end = _place(parameter)
    if parameter.kind == "/" and not any(p.kind == "/" for p in others):
        slash = re.compile(r"\s*,\s*/").match(function.file.text, end)
        return slash.end() if slash is not None else end
    return end


def _joint(function: Function, others: list[Parameter]) -> str:
    """What stands between parameters, the last of these that begins a line being like them."""
    assert function.file is not None
    text = function.file.text
    for parameter in others[:2]:
        start = _place(parameter)[0]
        line = text[text.rfind("\n", 0, start) + 1 : start]
        if start >= 0 and not line.strip():
            return f",\n{line}"
    return ", "


def _opening(function: Function) -> int:
    """Behind the bracket that opens its parameters."""
    assert function.file is not None
    text = function.file.text
    return text.index("(", text.index(function.name, function.start)) + 1


def _place(parameter: Parameter) -> tuple[int, int]:
    found = parameter.place()
    return found if found is not None else (parameter.start, parameter.end)


def conclude(block: Block, statements: list[Statement]) -> None:
    """Put statements where a constructor ends: `if not affine: return` may end it before its last.
    A lone `pass` goes."""
    early = (s for s in block.body if any(isinstance(n, Return) for n in s.walk()))
    first = next(early, None)
    if first is not None:
        block.insert_before(first, statements)
        return
    block.append(statements)
    for lone in [s for s in block.body if isinstance(s, Pass)]:
        block.remove(lone)
