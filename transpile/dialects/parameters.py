"""Parameters that a dialect adds to the user's functions, in the layout that the others have.

def __init__(self, dim, heads=8):       →   def __init__(self, dim, heads=8, *, rngs: nnx.Rngs):
"""

from __future__ import annotations

from ..model.program import Function, Parameter
from ..source.lower_ast import expression


def add_keyword(function: Function, name: str, annotation: str | None = None) -> None:
    """Add a parameter that is given by keyword alone, before `**kwargs`."""
    known = function.parameters
    last = known[-1] if known and known[-1].kind == "**" else None
    plain = known[:-1] if last is not None else known
    starred = any(p.kind in ("*", "=") for p in plain)
    text = name if annotation is None else f"{name}: {annotation}"
    parts = [text] if starred else ["*", text]
    if function.start >= 0 and function.file is not None:
        _write(function, plain, last, parts)
    # the text is there already: the node is for those who ask what a function takes
    made = Parameter(name, "=", None if annotation is None else expression(annotation))
    made.parent = function
    function.parameters = [*plain, made, *([last] if last is not None else [])]
    function.touch()


def _write(
    function: Function, plain: list[Parameter], last: Parameter | None, parts: list[str]
) -> None:
    """Put the text of a parameter behind the others, on a line of its own where they have one."""
    assert function.file is not None
    text = function.file.text
    if plain:
        _, at = _place(plain[-1])
        start = _place(plain[-1])[0]
        line = text[text.rfind("\n", 0, start) + 1 : start]
        alone = not line.strip() and len(plain) > 1
        joint = f",\n{line}" if alone else ", "
        function.patch(at, at, joint + joint.join(parts))
    elif last is not None:
        at = _place(last)[0]
        function.patch(at, at, ", ".join(parts) + ", ")
    else:
        at = text.index("(", text.index(function.name, function.start)) + 1
        function.patch(at, at, ", ".join(parts))


def _place(parameter: Parameter) -> tuple[int, int]:
    found = parameter.place()
    return found if found is not None else (parameter.start, parameter.end)
