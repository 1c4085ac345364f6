"""A constructor that returns early: what follows goes to the other side of the branch that does, where it can be told what moves."""

from __future__ import annotations

from typing import Any

import libcst as cst

from ... import tree
from ...values import Module, Tensor
from .constructors import Original
from .statements import branch

_WHY = "the constructor may return here, and params are given values after it: init gives them those whether it returns or not; put what follows under a branch"


def without_early_returns(original: Original) -> cst.FunctionDef:
    """The constructor with `if plain: return` as `if not plain: …`, where arrays get values after it."""
    body = _guarded(original, original.statements)
    return original.node if tree.same(body, original.statements) else tree.with_body(original.node, body)


def _guarded(original: Original, statements: list[Any]) -> list[Any]:
    for i, statement in enumerate(statements):
        rest = statements[i + 1 :]
        if isinstance(statement, cst.FunctionDef) or not tree.returns(statement) or not any(_gives_arrays(original, s) for s in rest):
            continue
        rest = _guarded(original, rest)
        sides = _sides(statement)
        if sides is None:
            original.context.report("unsupported", next(n for n in tree.walk(statement) if isinstance(n, cst.Return)), _WHY)
            return statements
        then, other = (side[:-1] if _ends_in_return(side) else [*side, *rest] for side in sides)
        return [*statements[:i], branch(statement, then, other)] if then or other else statements[:i]
    return statements


def _sides(statement: Any) -> tuple[list[Any], list[Any]] | None:
    """The two sides of a branch of which one always returns, at its end, and nothing else does."""
    if not isinstance(statement, cst.If):
        return None
    sides = tree.body_statements(statement), tree.else_statements(statement)
    inner = [s for side in sides for s in (side[:-1] if _ends_in_return(side) else side)]
    return sides if any(map(_ends_in_return, sides)) and not any(map(tree.returns, inner)) else None


def _ends_in_return(side: list[Any]) -> bool:
    return bool(side) and isinstance(tree.only_small(side[-1]), cst.Return)


def _gives_arrays(original: Original, statement: Any) -> bool:
    """Whether a statement gives values to params or state, or makes some."""
    n: Any
    for n in tree.nodes(statement, cst.AssignTarget, cst.AugAssign, cst.Call):
        if isinstance(n, cst.Call):
            if tree.dotted(n.func) in ("nn.Parameter", f"{original.self_name}.register_buffer", f"{original.self_name}.register_parameter"):
                return True
        elif isinstance(n.target, cst.Attribute):
            known = original.context.value(n.target)
            below = isinstance(original.context.value(n.target.value), Module) and isinstance(known, Tensor) and known.param
            if below or original.array(n.target) is not None:
                return True
    return False
