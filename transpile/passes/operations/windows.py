"""Slices of which only the data tell where they begin: their length must be known, or a number is
stored at their places.

x[:, i : i + n]          lax.dynamic_slice_in_dim(x, i, n, 1)
x[:, i : i + n, :k]      lax.dynamic_slice_in_dim(x, i, n, 1)[:, :, :k]
x[i : i + n] = y         nn.store_window(x, i, n, y, 0)
x[i, n:] = 0             nn.store_number(x, jnp.s_[i, n:], 0)
x[:, :n] += 1            nn.store_number(x, jnp.s_[:, :n], x + 1)
arange(i, i + n)         i + jnp.arange(n)
"""

from collections.abc import Sequence
from dataclasses import replace

from ...facts.memory.access_paths import spelled
from ...facts.values.lattice import Static, Tensor, is_traced
from ...model.constants import is_whole
from ...model.copy import clone
from ...model.effects import Put, Support
from ...model.expressions import Call, Constant, Display, Slice, Subscript
from ...model.node import Expression, Node
from ...model.operators import Binary
from ...model.rulebook import Definition
from ...source.lower_ast import expression
from ...source.splice import show
from .bind import argument_of, arguments_of
from .conversion import Conversion
from .inline import Use
from .literals import known, literal

OPERATORS = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/", "power": "**"}
WORDS = {operator: word for word, operator in OPERATORS.items()}
_FINITE = frozenset({"add", "subtract", "multiply"})  # also where the result is not taken


def parts_of(index: Expression) -> list[Expression]:
    """The indices between the brackets."""
    several = isinstance(index, Display) and index.kind == "tuple" and index.enclosed is None
    return index.elements if isinstance(index, Display) and several else [index]


def window(c: Conversion, node: Subscript | Put) -> bool:
    """See to a window that is read or stored; False of any other index. A slice of a length that
    only the data tell stays one, which serves outside of jit and where a call gives a number.
    """
    parts = parts_of(node.index)
    moving = [i for i, part in enumerate(parts) if _moves(part)] if c.may_be_traced else []
    if not moving:
        return False
    at = moving[0]
    part = parts[at]
    assert isinstance(part, Slice)
    side = _length(part.lower, part.upper) if part.step is None else None
    stored = isinstance(node, Put)
    rest = [part for i, part in enumerate(parts) if i != at]
    others = all(is_whole(part) if stored else _keeps_dim(part) for part in rest)
    known_how = not isinstance(node, Put) or node.how == "set" or node.how in OPERATORS
    if side is None or len(moving) > 1 or not others or not known_how:
        if isinstance(node, Put) and _takes_number(node, parts):
            c.changes.replace(node, _with_number)
            c.visit_all(node.children())
            return True
        what = "a store into a slice" if stored else "a slice"
        message = f"{what} whose length follows from data, which jax.jit cannot know"
        c.changes.report("data-dependent-shape", node, message)
        return False
    if any(literal(part) is ... for part in parts[:at]):
        axis = at - len(parts)  # `x[..., i : i + n]`: from behind
    else:
        axis = at
    if isinstance(node, Put):
        c.changes.replace(node, lambda n: _stored(n, at, side, axis))
    else:
        c.changes.replace(node, lambda n: _of_rest(n, at, side, axis))
    c.visit_all(node.children())
    return True


def counted(c: Conversion, node: Call, rules: Sequence[Definition]) -> bool:
    """See to `torch.arange(i, i + n)` where only the data tell i; False of any other."""
    arguments = arguments_of(node)
    if node.keywords[:2] != [None, None] or None in node.keywords[2:] or "step" in node.keywords:
        return False
    start, end = (argument.node for argument in arguments[:2])
    side = _length(start, end)
    if side is None or not c.may_be_traced or not is_traced(known(start)):
        return False
    if "dtype" in node.keywords and getattr(known(start), "kind", None) != "i":
        return False  # a float that an integer dtype would cut
    length = replace(argument_of(end, side), value=Static(type="int"))
    use = Use.of(c.rulebook, rules, [length, *arguments[2:]])
    c.changes.replace(node, lambda _: Binary(arguments[0].now(), "+", use.make()))
    c.visit_all(node.children())
    return True


def _keeps_dim(part: Expression) -> bool:
    """Whether the dim of an index is still there behind it, and no other."""
    return isinstance(part, Slice) and not _moves(part) or is_whole(part)


def _of_rest(node: Subscript, at: int, side: str, axis: int) -> Expression:
    """The window, and of that what the other indices choose."""
    index = clone(node.index)
    read = _read(node.object, node.index, at, side, axis)
    parts = parts_of(index)
    if all(is_whole(part) for i, part in enumerate(parts) if i != at):
        return read
    parts[at].replace(Slice(None, None, None))
    return Subscript(read, index)


def _moves(part: Expression) -> bool:
    """Whether only the data tell where a slice begins or ends."""
    bounds = [part.lower, part.upper] if isinstance(part, Slice) else []
    return any(is_traced(known(bound)) for bound in bounds if bound is not None)


def _length(start: Expression | None, end: Expression | None) -> str | None:
    """On which side of an end `i + n` the n stands."""
    if start is None or not isinstance(end, Binary) or end.operator != "+":
        return None
    side = "right" if show(end.left) == show(start) else "left"
    if side == "left" and show(end.right) != show(start):
        return None
    return None if is_traced(known(getattr(end, side))) else side


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


def _takes_number(node: Put, parts: Sequence[Expression]) -> bool:
    """Whether one number goes to all places of numbers and slices, and may to others, unread."""
    value = known(node.new)
    constant = isinstance(value, Static) and value.type in ("int", "float", "bool")
    if not constant and not is_number(node.new):
        return False
    if node.how != "set" and not (constant and node.how in _FINITE):
        return False
    whole = (p.step is None if isinstance(p, Slice) else _is_place(p) for p in parts)
    return all(whole) and spelled(node.base) is not None


def _is_place(part: Expression) -> bool:
    return literal(part) is ... or is_number(part)


def is_number(node: Node) -> bool:
    """Whether an index is a whole number, of Python's or an array without dims."""
    value = known(node)
    if isinstance(value, Static):
        return value.type == "int"
    return isinstance(value, Tensor) and value.number is True


def _with_number(node: Put) -> Call:
    new = node.new
    if node.how != "set":
        new = Binary(clone(node.base), OPERATORS[node.how], new)
    places = Subscript(expression("jnp.s_"), node.index)
    return Call(Support("store_number"), [node.base, places, new])


def _place(index: Expression, at: int, side: str) -> list[Expression]:
    """Where a window begins, and its length."""
    part = parts_of(index)[at]
    assert isinstance(part, Slice) and part.lower is not None and isinstance(part.upper, Binary)
    return [part.lower, getattr(part.upper, side)]
