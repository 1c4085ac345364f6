"""`torch.Tensor(shape)` makes zeros of a torch.Size, and holds the numbers of any other tuple: of a
shape of NumPy's or of a gym's."""

import dataclasses
from collections.abc import Sequence as Sequence_
from typing import Any

from ...facts.values.lattice import INT, NUMPY, SHAPE, Sequence, Tensor, Value
from ...model.expressions import Attribute, Name, Subscript
from ...model.names import names_in, text
from ...model.node import Expression
from ...model.operators import Binary
from ...model.program import Function, Scope
from ...model.rulebook import Definition
from ...model.statements import Assign
from .bind import Argument
from .literals import known

_ADVICE = (
    "torch makes zeros of a torch.Size, and of any other tuple a tensor that holds its numbers"
)


def told(
    c: Any, node: Expression, rules: Sequence_[Definition], name: str, arguments: list[Argument]
) -> list[Argument]:
    """The arguments of a call, with the shape of something else than a tensor as the tuple that it
    is; what may be one, or a torch.Size, is reported."""
    sizes = any("Size" in p.accepts for d in rules for p in d.parameters)
    count = 1 + name.startswith("torch.Tensor.")  # `x.new(shape)`
    if not sizes or len(arguments) != count or arguments[-1].star or arguments[-1].value != SHAPE:
        return arguments
    given, before = arguments[-1], arguments[:-1]
    owners = [o for o in _owners(c.scope, given.node) if not isinstance(known(o), Tensor)]
    if not owners:
        return arguments
    plain: Value = Sequence(INT, None, True)
    if all(known(owner) == NUMPY for owner in owners):
        return [*before, dataclasses.replace(given, value=plain)]
    if all(map(_is_space, owners)):
        why = f"the shape of a space is taken for a plain tuple: {_ADVICE}"
        c.changes.report("taken-for-granted", node, why)
        return [*before, dataclasses.replace(given, value=plain)]
    why = f"{text(given.node)} is taken for the shape of a tensor: {_ADVICE}"
    c.changes.report("taken-for-granted", node, why)
    return arguments


def _owners(scope: Scope, node: Expression | None) -> list[Expression]:
    """What the shapes are of that an expression is made of: x and y of `x.shape[:2] + y.shape`."""
    if isinstance(node, Attribute):
        return [node.object] if node.name == "shape" else []
    if isinstance(node, Subscript):
        return _owners(scope, node.object)
    if isinstance(node, Binary):
        return _owners(scope, node.left) + _owners(scope, node.right)
    if isinstance(node, Name) and isinstance(scope, Function):
        name = node.id
        given = [
            a.expression
            for a in scope.nodes(Assign)
            if any(isinstance(t, Name) and t.id == name for t in a.targets)
        ]
        return [
            owner
            for value in given
            if value is not None and name not in names_in(value)
            for owner in _owners(scope, value)
        ]
    return []


def _is_space(node: Expression) -> bool:
    """`env.action_space` and `self.observation_space`, as gym calls them."""
    word = node.name if isinstance(node, Attribute) else node.id if isinstance(node, Name) else ""
    return word.endswith("space")
