"""What the turns of a loop are, where that can be told before it: an index, and rows of arrays.

`for t, (a, b) in enumerate(zip(xs, ys))`: the index t, and the rows a of xs and b of ys.
"""

from dataclasses import dataclass, replace

from .expressions import Attribute, Call, Display, Name
from .names import dotted
from .node import Expression
from .statements import For

Rows = tuple[tuple[str, Expression], ...]


@dataclass(frozen=True)
class Turns:
    """`index` is the name that counts, from 0; `count` how many turns there are, None where arrays
    tell; `rows` has the name of each row, and the array along whose first axis it runs."""

    index: str | None
    count: Expression | None
    rows: Rows
    reverse: bool = False


def turns(loop: For) -> Turns | None:
    """What a loop goes over; None for anything else. Whether what gives rows is an array is asked
    elsewhere."""
    if loop.asynchronous:
        return None
    return _turns(loop.target, loop.iterable)


def _turns(target: Expression, iterable: Expression) -> Turns | None:
    if not isinstance(iterable, Call):
        return _row(target, iterable)
    word, arguments = dotted(iterable.function), iterable.arguments
    if any(iterable.keywords) or not arguments:
        return None
    first = arguments[0]
    if word == "range" and len(arguments) == 1:
        return Turns(target.id, first, ()) if isinstance(target, Name) else None
    if word == "reversed" and len(arguments) == 1:
        inner = _turns(target, first)
        plain = (
            inner is not None and not inner.reverse and (inner.index is None) == bool(inner.rows)
        )
        return replace(inner, reverse=True) if inner is not None and plain else None
    parts = target.elements if isinstance(target, Display) else []
    if word == "enumerate" and len(arguments) == 1 and len(parts) == 2:
        inner = _turns(parts[1], first)
        index = parts[0]
        if inner is None or inner.index is not None or inner.reverse or not isinstance(index, Name):
            return None
        return replace(inner, index=index.id)
    if word == "zip" and len(parts) == len(arguments):
        return _zipped(parts, arguments)
    return _row(target, iterable)


def _zipped(parts: list[Expression], arguments: list[Expression]) -> Turns | None:
    rows: Rows = ()
    for part, argument in zip(parts, arguments):
        row = _row(part, argument)
        if row is None:
            return None
        rows += row.rows
    return Turns(None, None, rows)


def _row(target: Expression, array: Expression) -> Turns | None:
    """A row of an array that has a name, or of one with two axes exchanged."""
    plain = array
    if isinstance(array, Call):
        exchanged = isinstance(array.function, Attribute) and array.function.name == "swapaxes"
        plain = array.function.object if exchanged else array  # type: ignore[attr-defined]
    if not isinstance(target, Name) or not isinstance(plain, (Name, Attribute)):
        return None
    return Turns(None, None, ((target.id, array),))
