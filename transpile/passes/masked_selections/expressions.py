"""What expressions make of selections: the same of the wholes; calls are in `calls`."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ...facts.bindings import read
from ...facts.memory.access_paths import of, spelled
from ...facts.memory.indices import number
from ...facts.shapes.ranks import moved
from ...facts.values.lattice import BOOL, SHAPE, Static, Tensor
from ...model.copy import clone
from ...model.expressions import (
    Attribute,
    Call,
    Comprehension,
    Constant,
    Display,
    Lambda,
    Name,
    NamedExpression,
    Slice,
    Starred,
    Subscript,
)
from ...model.names import dotted, index_parts
from ...model.node import Expression, Node
from ...model.operators import Binary, Boolean, Compare, Conditional, Unary
from ...model.statements import Assert
from .domain import RAW, Chosen, Count, Info, Mixed
from .frame import Frame, told
from .masks import assume, is_pure, mask_in, mask_of, of_torch, rows_of, use
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
        info = selection(frame, node, node.object, mask, lambda n: n.object)
        return replace(info, behind=_is_behind(node)) if isinstance(info, Chosen) else info
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


def regrouped(frame: Frame, node: Call, function: Attribute) -> Info:
    """`x[mask].view(-1, n)` is of whole rows where `x.shape == (*mask.shape, n)`, as by
    `x[mask.unsqueeze(-1).expand_as(x)]`: that is asserted. None where it is not so."""
    inner, given = function.object, node.arguments
    if isinstance(inner, Call) and getattr(inner.function, "name", "") == "contiguous":
        inner = inner.function.object  # type: ignore[attr-defined]
    if len(given) != 2 or any(node.keywords) or number(given[0]) != -1 or not frame.open:
        return None
    if number(given[1]) == -1 or spelled(given[1]) is None or not is_pure(given[1]):
        return None
    if any(frame.entry(name).info is not None for name in read(given[1])):
        return None
    whole, chosen, dims = (
        inner,
        frame.entry(inner.id).info if isinstance(inner, Name) else None,
        None,
    )
    if isinstance(inner, Subscript) and frame.selects(inner) and dotted(inner.object):
        whole, index = inner.object, mask_in(inner)
        assert index is not None
        mask, dims = rows_of(frame, index) or (index, None)
        made = mask_of(frame, mask)
        if info_of(frame, whole) is None and made is not None:
            kind, behind = getattr(of(whole), "kind", None), mask is not index or _is_behind(inner)
            found = frozenset([inner])
            chosen = Chosen(made, False, found, frame.ranks(whole), RAW, kind, behind=behind)
    if not isinstance(chosen, Chosen) or not chosen.behind or chosen.flat:
        return None
    ranks, name, last, mask_ = chosen.mask.ranks, clone(whole), clone(given[1]), use(frame, chosen)
    frame.before(frame.statement, lambda: Assert(_has_shape(name, mask_(), dims, last)))
    assume(frame, moved(ranks, 1), chosen.ranks, ranks)
    frame.edit(node, lambda n: clone(whole))
    return chosen


def _is_behind(node: Subscript) -> bool:
    """`x[mask, :]`"""
    return any(isinstance(part, Slice) for part in index_parts(node.index))


def _has_shape(
    array: Expression, mask: Expression, dims: int | None, last: Expression
) -> Expression:
    """`array.shape == (*mask.shape, last)`, of a mask with so many dims."""
    shape, front = (told(Attribute(one, "shape"), SHAPE) for one in (array, mask))
    if dims is not None:
        front = told(Subscript(front, Slice(None, Constant(dims), None)), SHAPE)
    wanted = told(Display("tuple", [Starred(front), last]), SHAPE)
    return told(Compare([shape, wanted], ["=="]), BOOL)


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
