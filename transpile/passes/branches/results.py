"""What comes out of the sides of a branch that return, and whether it has one structure."""

from ...model.constants import is_none
from ...model.expressions import Display, Starred
from ...model.node import Expression
from ...model.statements import Block, If, Return, With
from ..truth import traced


def returned(block: Block) -> list[Expression | None]:
    """What comes out of a block that always returns: of `elif`, too, one value for each way."""
    last = block.body[-1]
    if isinstance(last, If) and last.orelse is not None:
        return [*returned(last.body), *returned(last.orelse)]
    if isinstance(last, With):
        return returned(last.body)
    return [last.expression if isinstance(last, Return) else None]


def returns_none(value: Expression | None) -> bool:
    return value is None or is_none(value)


def differ(one: Expression | None, other: Expression | None) -> bool:
    """Whether two results are certain to differ in structure: `h, None` and `h, aux`."""
    if isinstance(one, Display) and isinstance(other, Display):
        pairs = list(zip(one.elements, other.elements))
        starred = any(isinstance(e, Starred) for pair in pairs for e in pair)
        longer = len(one.elements) != len(other.elements)
        return not starred and (longer or any(differ(a, b) for a, b in pairs))
    among = any(isinstance(v, Display) or returns_none(v) for v in (one, other))
    return among and any(v is not None and traced(v) for v in (one, other))
