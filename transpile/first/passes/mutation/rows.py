"""Loops over the rows of a tensor that their body writes: `for row in x: x.add_(1)` sees the new rows, and goes by index."""

from __future__ import annotations

from typing import Any

import libcst as cst

from ... import tree
from ...context import Context
from ...emit import fresh_name
from ...values import Static, Tensor

_INT = Static(type="int")


class Stale(Exception):
    """What stops the walk at a write: a loop around it goes over the rows as they were."""

    def __init__(self, loop: cst.For) -> None:
        self.loop = loop


def picking(context: Context, loop: cst.For, function: cst.FunctionDef) -> cst.FunctionDef:
    """The function with one loop rewritten to go by index."""
    new = tree.rewrite(function, lambda n: _by_index(context, loop, function) if n is loop else None)
    context.facts.carry(function, new)
    return new  # type: ignore[no-any-return]


def _by_index(context: Context, loop: cst.For, function: cst.FunctionDef) -> Any:
    """The loop with each row picked by its number when its turn comes.

    Where the body gives the name of the tensor to another, the tensor looped over gets a name of its own.
    """
    name, over = fresh_name(tree.names_read(function), "i"), loop.iter
    first: list[Any] = []
    if tree.code(over) in tree.names_assigned(loop.body):
        over = cst.Name(fresh_name(tree.names_read(function), "rows"))
        context.facts.carry(loop.iter, over)
        first = [tree.replace(tree.assignment(over, loop.iter), leading_lines=loop.leading_lines)]
        loop = tree.replace(loop, leading_lines=[])
    index, row = cst.Name(name), tree.expression("x[i]")
    row = tree.replace(row, value=over, slice=[tree.replace(row.slice[0], slice=cst.Index(index))])
    shape = cst.Attribute(over, cst.Name("shape"))
    length = tree.replace(tree.expression("x[0]"), value=shape)
    turns = tree.replace(tree.expression("range()"), args=[cst.Arg(length)])
    for node, value in ((index, _INT), (length, _INT), (shape, Static(type="shape")), (turns, Static(type="range")), (row, Tensor())):
        context.facts.tell(node, value)
    body = [tree.assignment(loop.target, row), *tree.body_statements(loop)]
    new = tree.replace(tree.with_body(loop, body), target=cst.Name(name), iter=turns)
    context.facts.tell(new.target, _INT)
    context.facts.kept.append(new)
    return cst.FlattenSentinel([*first, new]) if first else new
