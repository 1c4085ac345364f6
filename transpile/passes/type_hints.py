"""Torch's types in type hints are JAX's.

    def forward(self, x: torch.Tensor) -> Tensor:    →    (self, x: jax.Array) -> jax.Array:
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..model.effects import Support
from ..model.expressions import Attribute, Constant, Name
from ..model.names import dotted
from ..model.node import Expression
from ..model.program import File, Function, Scope
from ..model.statements import Assign
from ..source.lower_ast import expression
from .pass_ import Changes, Pass

ARRAYS = frozenset(
    f"torch.{word}"
    for word in (
        "Tensor FloatTensor DoubleTensor HalfTensor BFloat16Tensor LongTensor IntTensor "
        "ShortTensor ByteTensor CharTensor BoolTensor nn.Parameter autograd.Variable "
        "nn.parameter.Parameter Variable"
    ).split()
)
TYPES = {"torch.dtype": "jnp.dtype", "torch.Size": "tuple", "torch.device": "str"}
MODULES = ("torch.nn.Module", "torch.nn.modules.module.Module", "torch.nn.modules.Module")


def run(scope: Scope, facts: Any) -> Changes:
    """Write the annotations of one scope."""
    changes = Changes(scope)
    file = scope if isinstance(scope, File) else scope.file
    for whole in _annotations(scope):
        for part in _names(whole):
            word = dotted(part) if not isinstance(part, Constant) else part.constant
            if file is None or word is None:
                continue
            found = facts.modules.project.resolve(file, word)
            made = _type(found) if isinstance(found, str) else None
            if made is not None:
                changes.replace(part, lambda _, made=made: made)  # type: ignore[misc]
    return changes


def _annotations(scope: Scope) -> Iterator[Expression]:
    for function in scope.nodes(Function):
        given = [p.annotation for p in function.parameters]
        yield from (a for a in [*given, function.returns] if a is not None)
    for assign in scope.nodes(Assign):
        if assign.annotation is not None:
            yield assign.annotation


def _names(whole: Expression) -> Iterator[Expression]:
    """The names in an annotation; quoted ones too, where a name is all that is quoted."""
    if isinstance(whole, (Name, Attribute)):
        yield whole
    elif isinstance(whole, Constant):
        if isinstance(whole.constant, str) and whole.constant.replace(".", "").isidentifier():
            yield whole
    else:
        for child in whole.children():
            if isinstance(child, Expression):
                yield from _names(child)


def _type(name: str) -> Expression | None:
    if name in ARRAYS:
        return expression("jax.Array")
    if name in MODULES:
        return Support("Module")
    return expression(TYPES[name]) if name in TYPES else None


PASS = Pass("type_hints", ("modules",), run)
