"""What expressions make of selections: the same of the wholes; calls are in `calls`."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ...facts.memory.indices import number
from ...facts.memory.paths import of
from ...facts.ranks import moved
from ...facts.values.lattice import Static, Tensor
from ...model.expressions import (
    Attribute,
    Comprehension,
    Constant,
    Lambda,
    Name,
    NamedExpression,
    Slice,
    Subscript,
)
from ...model.names import index_parts
from ...model.node import Expression, Node
from ...model.operators import Binary, Boolean, Compare, Conditional, Unary
from .domain import RAW, Chosen, Count, Info, Mixed
from .frame import Frame, told
from .masks import mask_in, mask_of, of_torch, use
from .operands import Part, compared, counted, linear, operated

_KEPT = frozenset({"data", "dtype", "device"})  # what may be asked of a selection


def info_of(frame: Frame, node: Expression) -> Info:
    """Go through an expression, so that its selections stay whole; whether its value is one."""
    known = frame.handlers
    handler = next((known[kind] for kind in type(node).__mro__ if kind in known), _generic)
    return handler(frame, node)


def settled(frame: Frame, node: Expression | None, counts: bool = False) -> None:
    """Go through an expression that may be no selection, and no count unless such are allowed."""
    info = info_of(frame, node) if node is not None else None
    if not (counts and isinstance(info, Count)):
        frame.refuse(info)


def part(frame: Frame, node: Expression) -> Part:
    return Part(node, info_of(frame, node))


def _generic(frame: Frame, node: Node) -> Info:
    """Anything else: what is below it goes its own way."""
    for child in node.children():
        if isinstance(child, Expression):
            settled(frame, child)
        else:
            _generic(frame, child)
    return None


def _closed(frame: Frame, node: Expression) -> Info:
    """A lambda or comprehension: what it reads must be no selection."""
    frame.refuse_reads(node)
    return None


def _named(frame: Frame, node: NamedExpression) -> Info:
    settled(frame, node.expression)
    frame.bind(node.target.id)
    return None


def _name(frame: Frame, node: Name) -> Info:
    entry = frame.entry(node.id)
    frame.read.add((node.id, entry.version))
    if isinstance(entry.info, Mixed):
        frame.refuse(entry.info)
        return None
    if isinstance(entry.info, Count):
        frame.tell(node, Tensor(kind="i", number=True))
    return entry.info


def _attribute(frame: Frame, node: Attribute) -> Info:
    """`d.data`, `d.dtype`"""
    info = info_of(frame, node.object)
    if node.name not in _KEPT or isinstance(info, Count):
        frame.refuse(info)
    return info if node.name == "data" and isinstance(info, Chosen) else None


# --- selections -----------------------------------------------------------------------------------


def _subscript(frame: Frame, node: Subscript) -> Info:
    """`x[mask]`, and the length in `d.shape[0]`."""
    if frame.selects(node):
        mask = mask_in(node)
        assert mask is not None
        return selection(frame, node, node.object, mask, lambda n: n.object)
    inner, index = node.object, index_parts(node.index)
    if isinstance(inner, Attribute) and inner.name == "shape" and number(node.index) == 0:
        info = info_of(frame, inner.object)
        if isinstance(info, Chosen):
            return length(frame, node, info, lambda n: n.object.object)
        frame.refuse(info)
        return None
    if len(index) == 2 and getattr(index[1], "constant", ...) is None:  # `w[mask][:, None]`
        info = info_of(frame, inner)
        first = getattr(index[0], "constant", None) is ...
        only = isinstance(index[0], Slice) and not any(index[0].children())
        if isinstance(info, Chosen) and not info.flat:
            if first or only and not frame.env.is_loose(info):
                frame.edit(index[0], _dots)
                return with_last_dim(info)
        frame.refuse(info)
        return None
    return _generic(frame, node)


def selection(
    frame: Frame,
    node: Expression,
    subject: Expression,
    mask: Expression,
    whole: Callable[[Any], Expression],
    flat: bool = False,
) -> Info:
    """The whole of what is selected from."""
    info, made = info_of(frame, subject), mask_of(frame, mask)
    if info is not None or made is None:
        frame.refuse(info)
        frame.refused.add(node)
        return None
    frame.edit(node, whole)
    kind = getattr(of(subject), "kind", None)
    return Chosen(made, flat, frozenset([node]), frame.ranks(subject), RAW, kind)


def _dots(node: Expression) -> Expression:
    return told(Constant(...), Static(..., ""))


def with_last_dim(chosen: Chosen) -> Chosen:
    """`w[mask].unsqueeze(-1)`, of which the whole has one dim more as well."""
    return replace(chosen, ranks=moved(chosen.ranks, 1), binding=None)


def length(
    frame: Frame,
    node: Expression,
    chosen: Chosen,
    subject: Callable[[Any], Expression],
    elements: bool = False,
) -> Info:
    """How many places a mask selects, or how many elements."""
    mask, value = use(frame, chosen), Tensor(kind="i", number=True)
    if chosen.flat or elements and frame.env.is_loose(chosen):
        mark = "[flat]" if chosen.flat else "[rows]"
        make = lambda n: of_torch("Tensor.numel", [subject(n), mask()], mark, value)
    else:
        make = lambda n: of_torch("sum", [mask()], "", value)
    frame.edit(node, make)
    return Count(chosen.origins)


# --- operators ------------------------------------------------------------------------------------


def _unary(frame: Frame, node: Unary) -> Info:
    info = info_of(frame, node.operand)
    if isinstance(info, Count):
        kind = "b" if node.operator == "not" else "i"
        frame.tell(node, Tensor(kind=kind, number=True))
    elif isinstance(info, Chosen):
        if node.operator == "not" or node.operator == "~" and info.kind != "b":
            frame.refuse(info)
            return None
        return linear(info)
    return info


def _boolean(frame: Frame, node: Boolean) -> Info:
    """`n > 0 and flag`"""
    parts = [part(frame, node.left), part(frame, node.right)]
    return counted(frame, node, parts, "b")


def _conditional(frame: Frame, node: Conditional) -> Info:
    settled(frame, node.test, counts=True)
    settled(frame, node.body)
    settled(frame, node.orelse)
    return None


def _compare(frame: Frame, node: Compare) -> Info:
    parts = [part(frame, operand) for operand in node.operands]
    if len(parts) > 2 or node.operators[0] in ("is", "is not", "in", "not in"):
        frame.refuse(*(p.info for p in parts))
        return None
    return compared(frame, node, parts)


def _binary(frame: Frame, node: Binary) -> Info:
    return operated(frame, node, part(frame, node.left), part(frame, node.right), node.operator)


EXPRESSIONS: dict[type, Callable[[Frame, Any], Info]] = {
    Name: _name,
    Attribute: _attribute,
    Subscript: _subscript,
    Unary: _unary,
    Binary: _binary,
    Boolean: _boolean,
    Conditional: _conditional,
    Compare: _compare,
    NamedExpression: _named,
    **dict.fromkeys((Comprehension, Lambda), _closed),
}
