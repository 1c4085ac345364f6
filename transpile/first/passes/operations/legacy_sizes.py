"""`torch.Tensor(shape)` makes zeros of a torch.Size, and holds the numbers of any other tuple: of a shape of NumPy's or of a gym's."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence as Sequence_
from typing import Any

import libcst as cst

from ... import tree
from ...apply import Argument
from ...context import Context
from ...rulebook import Definition
from ...values import MISSING, NUMPY, Sequence, Static, Tensor, Value

_INT = Static(MISSING, "int")
_SHAPE = Static(MISSING, "shape")
_ADVICE = "torch makes zeros of a torch.Size, and of any other tuple a tensor that holds its numbers"


def told(context: Context, functions: Sequence_[cst.FunctionDef], definitions: tuple[Definition, ...], node: cst.Call, arguments: list[Argument]) -> list[Argument]:
    """The arguments of a call, with the shape of something else than a tensor as the tuple that it is."""
    if len(node.args) != 1 or not any("Size" in p.accepts for d in definitions for p in d.parameters):
        return arguments
    given = node.args[0]
    if given.star or context.value(given.value) != _SHAPE:
        return arguments
    value = _plain(context, functions, node, given.value)
    return arguments if value is None else [*arguments[:-1], dataclasses.replace(arguments[-1], value=value)]


def is_size(context: Context, functions: Sequence_[cst.FunctionDef], node: Any) -> bool:
    """Whether an expression is a torch.Size, as far as can be told."""
    return context.value(node) == _SHAPE and all(isinstance(context.value(owner), Tensor) for owner in _owners(functions, node))


def _plain(context: Context, functions: Sequence_[cst.FunctionDef], node: cst.Call, given: Any) -> Value | None:
    """What the argument is where it is a plain tuple; what may be one, or a torch.Size, is reported."""
    owners = [owner for owner in _owners(functions, given) if not isinstance(context.value(owner), Tensor)]
    if not owners:
        return None
    if all(context.value(owner) == NUMPY for owner in owners):
        return Sequence(_INT, None, True)
    if all(_is_space(owner) for owner in owners):
        context.report("taken-for-granted", node, f"the shape of a space is taken for a plain tuple: {_ADVICE}")
        return Sequence(_INT, None, True)
    context.report("taken-for-granted", node, f"{tree.code(given)} is taken for the shape of a tensor: {_ADVICE}")
    return None


def _owners(functions: Sequence_[cst.FunctionDef], node: Any) -> list[Any]:
    """What the shapes are of that an expression is made of: the x and y of `x.shape[:2] + y.shape`."""
    if isinstance(node, cst.Attribute):
        return [node.value] if node.attr.value == "shape" else []
    if isinstance(node, cst.Subscript):
        return _owners(functions, node.value)
    if isinstance(node, cst.BinaryOperation):
        return _owners(functions, node.left) + _owners(functions, node.right)
    if isinstance(node, cst.Name) and functions:
        assigned = [n.value for n in tree.scope_nodes(functions[-1].body, cst.Assign) if any(isinstance(t.target, cst.Name) and t.target.value == node.value for t in n.targets)]
        return [owner for value in assigned if node.value not in tree.names_read(value) for owner in _owners(functions, value)]
    return []


def _is_space(node: Any) -> bool:
    """`env.action_space` and `self.observation_space`, as gym calls them."""
    name = node.attr.value if isinstance(node, cst.Attribute) else node.value if isinstance(node, cst.Name) else ""
    return str(name).endswith("space")
