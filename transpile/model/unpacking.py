"""What each target of an assignment is given."""

from collections.abc import Iterator

from .expressions import Display
from .node import Expression


def pairs(target: Expression, value: Expression) -> Iterator[tuple[Expression, Expression]]:
    """`a, b = x, y` as pairs; of what is not written out the whole stands for each part."""
    if not isinstance(target, Display):
        yield target, value
        return
    parts = value.elements if isinstance(value, Display) else []
    for i, part in enumerate(target.elements):
        yield from pairs(part, parts[i] if len(parts) == len(target.elements) else value)
