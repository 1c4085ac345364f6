"""Slices of which only the data tell where they begin: their length must be known.

x[:, i : i + n]          lax.dynamic_slice_in_dim(x, i, n, 1)
x[i : i + n] = y         nn.store_window(x, i, n, y, 0)
"""

from ...facts.values.lattice import is_traced
from ...model.copy import clone
from ...model.effects import Put, Support
from ...model.expressions import Call, Constant, Display, Slice, Subscript
from ...model.node import Expression
from ...model.operators import Binary
from ...source.lower_ast import expression
from ...source.splice import show
from .conversion import Conversion
from .literals import known, literal

OPERATORS = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/", "power": "**"}


def parts_of(index: Expression) -> list[Expression]:
    """The indices between the brackets."""
    several = isinstance(index, Display) and index.kind == "tuple" and index.enclosed is None
    return index.elements if isinstance(index, Display) and several else [index]


def is_whole(part: Expression) -> bool:
    """`:` or `...`"""
    if isinstance(part, Slice):
        return part.lower is None and part.upper is None and part.step is None
    return literal(part) is ...


def window(c: Conversion, node: Subscript | Put) -> bool:
    """See to a window that is read or stored; False of any other index."""
    parts = parts_of(node.index)
    moving = [i for i, part in enumerate(parts) if _moves(part)] if c.may_be_traced else []
    if not moving:
        return False
    at = moving[0]
    side = _length(parts[at])
    others = all(is_whole(part) for i, part in enumerate(parts) if i != at)
    stored = isinstance(node, Put)
    known_how = not isinstance(node, Put) or node.how == "set" or node.how in OPERATORS
    if side is None or len(moving) > 1 or not others or not known_how:
        what = "a store into a slice" if stored else "a slice"
        message = f"{what} whose length follows from data"
        c.unconverted("data-dependent-shape", node, message)
        return True
    if any(literal(part) is ... for part in parts[:at]):
        axis = at - len(parts)  # `x[..., i : i + n]`: from behind
    else:
        axis = at
    if isinstance(node, Put):
        c.changes.replace(node, lambda n: _stored(n, at, side, axis))
    else:
        c.changes.replace(node, lambda n: _read(n.object, n.index, at, side, axis))
    c.visit_all(node.children())
    return True


def _moves(part: Expression) -> bool:
    """Whether only the data tell where a slice begins or ends."""
    bounds = [part.lower, part.upper] if isinstance(part, Slice) else []
    return any(is_traced(known(bound)) for bound in bounds if bound is not None)


def _length(part: Expression) -> str | None:
    """On which side the n of `i : i + n` stands."""
    if not isinstance(part, Slice) or part.lower is None or part.step is not None:
        return None
    if not isinstance(part.upper, Binary) or part.upper.operator != "+":
        return None
    start = show(part.lower)
    side = "right" if show(part.upper.left) == start else "left"
    if side == "left" and show(part.upper.right) != start:
        return None
    return None if is_traced(known(getattr(part.upper, side))) else side


def _read(base: Expression, index: Expression, at: int, side: str, axis: int) -> Expression:
    taken = [base, *_place(index, at, side), Constant(axis)]
    return Call(expression("lax.dynamic_slice_in_dim"), taken)


def _stored(node: Put, at: int, side: str, axis: int) -> Expression:
    new = node.new
    if node.how != "set":
        old = _read(clone(node.base), clone(node.index), at, side, axis)
        old.value = node.base.value
        new = Binary(old, OPERATORS[node.how], new)
    taken = [node.base, *_place(node.index, at, side), new, Constant(axis)]
    return Call(Support("store_window"), taken)


def _place(index: Expression, at: int, side: str) -> list[Expression]:
    """Where a window begins, and its length."""
    part = parts_of(index)[at]
    assert isinstance(part, Slice) and part.lower is not None and isinstance(part.upper, Binary)
    return [part.lower, getattr(part.upper, side)]
