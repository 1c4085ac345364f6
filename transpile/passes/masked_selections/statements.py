"""The way through the statements of a function: what each name holds, where ways part and meet."""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from ...facts.bindings import bound, read
from ...facts.shapes.ranks import Ranks
from ...facts.values.lattice import Tensor
from ...model.expressions import Attribute, Call, Display, Name, Starred, Subscript
from ...model.fallthrough import always_returns
from ...model.names import target_names
from ...model.node import Expression, Statement
from ...model.operators import Compare
from ...model.statements import (
    Assert,
    Assign,
    Block,
    ExpressionStatement,
    For,
    If,
    Return,
    While,
    With,
)
from .domain import RAW, Chosen, Info, Mixed, joined, origins
from .expressions import info_of, settled
from .frame import Frame, told
from .masks import fill, mask_in, mask_of, rows_of, use


def block(frame: Frame, node: Block | None) -> None:
    for statement in node.body if node is not None else ():
        _statement(frame, statement)


def _statement(frame: Frame, node: Statement) -> None:
    frame.statement = node
    handler = next((_HANDLERS[kind] for kind in type(node).__mro__ if kind in _HANDLERS), _other)
    handler(frame, node)


def _other(frame: Frame, node: Statement) -> None:
    """What is not looked into: it reads no selection."""
    frame.refuse_reads(node)
    for name in bound(node):
        frame.refuse(frame.entry(name).info)
        frame.bind(name)


def _value(frame: Frame, node: Return | ExpressionStatement) -> None:
    settled(frame, node.expression)


# --- assignments ----------------------------------------------------------------------------------


def _assign(frame: Frame, node: Assign) -> None:
    """`d = x[mask]`, `a, b = x[mask], y[mask]`, `x[mask] = y[mask] * 2`"""
    target, value = node.targets[0], node.expression
    if value is None:
        return
    if node.operator:
        _augmented(frame, node, target, value)
        return
    pairs = _pairs(node, target, value)
    if pairs:
        found = [(name, v, info_of(frame, v), frame.ranks(v)) for name, v in pairs]
        rows = [rows_of(frame, v) for _, v in pairs]
        for (name_, v, info, ranks), of_rows in zip(found, rows):
            _bind(frame, name_, v, info, ranks)
            if of_rows is not None:
                versions = [(name, frame.entry(name).version) for name in read(of_rows[0])]
                frame.rows[name_.id, frame.entry(name_.id).version] = (of_rows, versions)
    elif len(node.targets) == 1 and isinstance(target, Subscript) and target in frame.candidates:
        _stored(frame, target, value)
    else:
        several = frame.reader.of_results(value)
        settled(frame, value)
        for one in node.targets:
            _target(frame, one)
            for name in target_names(one):
                frame.bind(name, several)


def _pairs(node: Assign, target: Expression, value: Expression) -> list[tuple[Name, Expression]]:
    """The names and values of `a, b = x, y`, or of `a = x`."""
    if len(node.targets) > 1:
        return []
    if isinstance(target, Name):
        return [(target, value)]
    if not isinstance(target, Display) or not isinstance(value, Display):
        return []
    if value.kind != "tuple" or len(target.elements) != len(value.elements):
        return []
    if any(isinstance(v, Starred) for v in value.elements):
        return []
    pairs = zip(target.elements, value.elements)
    found = [(t, v) for t, v in pairs if isinstance(t, Name)]
    return found if len(found) == len(value.elements) else []


def _bind(frame: Frame, name: Name, value: Expression, info: Info, ranks: Ranks) -> None:
    """What is assigned to a name; a selection gets numbers outside of its mask."""
    if isinstance(info, Chosen):
        ranks = info.ranks
        if info.outside == RAW:
            at = frame.fills.get(name, 0)
            fill(frame, value, info, at)
            info = replace(info, outside=at)
        info = replace(info, binding=name)
    frame.bind(name.id, ranks, info)


def _target(frame: Frame, node: Expression) -> None:
    """What is stored into may be no selection, and no selection tells the place."""
    if isinstance(node, (Display, Starred)):
        for child in node.children():
            _target(frame, child)  # type: ignore[arg-type]
    elif not isinstance(node, Name):
        frame.refuse_reads(node)


def _stored(frame: Frame, target: Subscript, value: Expression) -> None:
    """`x[mask] = d.sqrt()`, where d is selected by that mask: the places of the mask from the
    whole."""
    info, index = info_of(frame, value), mask_in(target)
    mask = mask_of(frame, index) if index is not None and isinstance(info, Chosen) else None
    settled(frame, target.object)
    if not isinstance(info, Chosen) or mask is None or info.mask.key != mask.key or info.flat:
        frame.refuse(info)
        return
    at, there = use(frame, info), use(frame, info)
    frame.edit(value, lambda n: told(Subscript(n, at()), Tensor(kind=info.kind)))
    bytes_ = not isinstance(info.mask.node, Name)  # `x[m]` is of `m != 0`, which has a name here
    if bytes_ or not isinstance(target.index, Name):
        frame.edit(target.index, lambda n: there())


def _augmented(frame: Frame, node: Assign, target: Expression, value: Expression) -> None:
    if isinstance(target, Subscript) and target in frame.candidates and node.operator in "+-":
        _stored(frame, target, value)
        return
    settled(frame, value, counts=True)
    if not isinstance(target, Name):
        _target(frame, target)
        return
    entry, ranks = frame.entry(target.id), frame.ranks(value)
    frame.refuse(entry.info)
    frame.bind(target.id, entry.ranks | ranks)


# --- control --------------------------------------------------------------------------------------


def _if(frame: Frame, node: If) -> None:
    """Both sides, and what holds where they meet; before an `elif` no statement can stand."""
    block_ = node.parent
    with _header(frame, isinstance(block_, Block) and block_.form != "elif"):
        settled(frame, node.test, counts=True)
    before = frame.env
    frame.env = before.copy()
    block(frame, node.body)
    then, frame.env = frame.env, before.copy()
    block(frame, node.orelse)
    if always_returns(node.orelse):
        frame.env = then
    elif not always_returns(node.body):
        frame.env = joined(then, frame.env, before, frame.versions)


@contextlib.contextmanager
def _header(frame: Frame, is_open: bool) -> Iterator[None]:
    before, frame.open = frame.open, is_open
    yield
    frame.open = before


def _loop(frame: Frame, node: For | While) -> None:
    """A loop: what a turn binds holds no selection where the next one begins."""
    if isinstance(node, For):
        settled(frame, node.iterable)
    heads = {}
    for name in bound(node):
        info = frame.entry(name).info
        frame.bind(name, None, Mixed(origins(info)) if info is not None else None)
        heads[name] = frame.entry(name).version
    frame.env.masks = {k: m for k, m in frame.env.masks.items() if not _is_of(k, heads)}
    if isinstance(node, While):
        with _header(frame, False):
            settled(frame, node.test, counts=True)
    before = frame.env.copy()
    block(frame, node.body)
    for name, version in heads.items():
        if (name, version) in frame.read:
            frame.refuse(frame.entry(name).info)
    frame.env = joined(frame.env, before, before, frame.versions)
    if node.orelse is not None:
        _other(frame, node.orelse)  # type: ignore[arg-type]


def _is_of(key: Any, names: dict[str, int]) -> bool:
    return any(name in names for name, _ in key[1])


def _with(frame: Frame, node: With) -> None:
    for context, target in node.pairs:
        settled(frame, context)
        for name in target_names(target) if target is not None else ():
            frame.bind(name)
    block(frame, node.body)


# --- ranks ----------------------------------------------------------------------------------------


def _assert(frame: Frame, node: Assert) -> None:
    """`assert pred.dim() == target.dim()`: they have one rank."""
    settled(frame, node.test, counts=True)
    if node.message is not None:
        frame.refuse_reads(node.message)
    test = node.test
    if not isinstance(test, Compare) or test.operators != ["=="]:
        return
    one, other = (_asked(operand) for operand in test.operands)
    if one is not None and other is not None and one[1] == other[1]:
        left, right = (frame.env.resolve(frame.ranks(n)) for n in (one[0], other[0]))
        if left != right:
            frame.env.same[left] = right


def _asked(node: Expression) -> tuple[Expression, bool] | None:
    """The array whose rank or shape is asked for, and whether it is the shape."""
    words = {"ndim": False, "shape": True}
    if isinstance(node, Call) and not node.arguments:
        node, words = node.function, {"dim": False, "ndimension": False, "size": True}
    if not isinstance(node, Attribute) or not isinstance(node.object, Name):
        return None
    return (node.object, words[node.name]) if node.name in words else None


_HANDLERS: dict[type, Callable[[Frame, Any], None]] = {
    Assign: _assign,
    Return: _value,
    ExpressionStatement: _value,
    Assert: _assert,
    If: _if,
    For: _loop,
    While: _loop,
    With: _with,
}
