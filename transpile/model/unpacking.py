"""What each target of an assignment is given."""

from collections.abc import Iterator

from .expressions import Display
from .node import Expression
from .statements import Assign


def each_pair(assign: Assign) -> Iterator[tuple[Expression, Expression]]:
    """Each target of an assignment with its value; nothing of `x += y`, and of `x: int`."""
    if assign.expression is not None and not assign.operator:
        for target in assign.targets:
            yield from pairs(target, assign.expression)


def pairs(target: Expression, value: Expression) -> Iterator[tuple[Expression, Expression]]:
    """`a, b = x, y` as pairs; of what is not written out the whole stands for each part."""
    if not isinstance(target, Display):
        yield target, value
        return
    parts = value.elements if isinstance(value, Display) else []
    for i, part in enumerate(target.elements):
        yield from pairs(part, parts[i] if len(parts) == len(target.elements) else value)
