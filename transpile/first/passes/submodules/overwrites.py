"""Params whose data `forward` writes: `self.weight.data.clamp_(-1, 1)` holds for the call, and the gradient is the param's own.

    params = nn.with_data(params, ("weight",), jnp.clip(params["weight"], -1, 1))

A parameter that a constructor makes on some ways only may be computed on the others: `self.weight = self.lower @ self.upper`.
"""

from __future__ import annotations

from typing import Any

import libcst as cst

from ... import tree
from ...emit import call, display
from .scope import Scope

_FOR_THE_CALL = "forward writes the data of a parameter: here that holds for the call; write it in params after each step to keep it"
_BY_CALLER = "this method sets entries of the params that it is given: a jitted caller keeps the old ones; return params, and take them back"
_ELSEWHERE = "a method that forward calls writes the data of a parameter: do it in forward itself, or in params after each step"


def overwriting(scope: Scope, target: Any, place: Any, value: Any, computed: bool = False) -> Any:
    """The statement for a write to the entry `place` of the params while the model runs; None for other targets and times.

    `computed`: the attribute is another array from now on, no parameter.
    """
    if not scope.computes or not isinstance(target, cst.Attribute) or not isinstance(place, cst.Subscript):
        return None
    keys: list[Any] = []
    holder: Any = place
    while isinstance(holder, cst.Subscript):
        keys.insert(0, holder.slice[0].slice.value)  # type: ignore[attr-defined]
        holder = holder.value
    if not isinstance(holder, cst.Name) or not (holder.value == "params" or holder.value.endswith("_params")):
        return None
    if not scope.runs:
        if not scope.sets_params:
            scope.context.report("parameter-write", target, _BY_CALLER)
        scope.sets_params = True
        return None
    if not scope.is_forward:
        return cst.Expr(scope.context.unconverted("parameter-write", target, _ELSEWHERE))
    if computed and len(keys) == 1:
        entries = tree.expression(f"{{**{holder.value}, {tree.code(keys[0])}: x}}")
        return cst.Assign([cst.AssignTarget(holder)], tree.replace(entries, elements=[entries.elements[0], tree.replace(entries.elements[1], value=value)]))
    scope.context.report("parameter-write", target, _FOR_THE_CALL)
    path = display(keys) if len(keys) > 1 else cst.Tuple([cst.Element(keys[0], comma=cst.Comma())])
    made = call(scope.context.name("with_data"), [holder, tree.parenthesised(path), value])
    return cst.Assign([cst.AssignTarget(holder)], made)
