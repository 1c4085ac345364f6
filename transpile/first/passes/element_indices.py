"""An element that is made an int in order to index by it is one in JAX: `x[i, jnp.asarray(labels[i], int)]` of `x[i, int(labels[i])]`.

Where labels may be an array or a list, both are served: under jax.jit an element of an array has no value that `int` could give.
"""

from __future__ import annotations

from typing import Any

import libcst as cst

from .. import tree
from ..context import Context
from ..emit import call
from ..values import External, Tensor


def run(context: Context, module: cst.Module) -> cst.Module:
    """Index by the elements themselves: where they stand, and by locals that are nothing but indices."""
    found: dict[int, Any] = {}
    for definition in tree.definitions(module):
        if isinstance(definition, cst.FunctionDef):
            found |= _indices(context, definition)
    return tree.rewrite(module, lambda n: found.get(id(n)), only={cst.Call}) if found else module


def _indices(context: Context, function: cst.FunctionDef) -> dict[int, Any]:
    """The calls `int(labels[i])` of a function that only make indices of arrays, each with what it is in JAX."""
    used = {id(part): part for n in tree.nodes(function.body, cst.Subscript) if isinstance(context.value(n.value), Tensor) for part in _parts(n)}
    found = {id(part): made for part in used.values() if (made := _element(context, part)) is not None}
    assigned = [a for a in tree.nodes(function.body, cst.Assign) if len(a.targets) == 1 and isinstance(a.targets[0].target, cst.Name)]
    for assignment in assigned:
        made, target = _element(context, assignment.value), assignment.targets[0].target
        if made is None:
            continue
        reads = [n for n in tree.nodes(function.body, cst.Name) if n.value == target.value and n is not target]  # type: ignore[attr-defined]
        if reads and all(id(n) in used for n in reads):
            found[id(assignment.value)] = made
    return found


def _parts(node: cst.Subscript) -> list[Any]:
    return [e.slice.value for e in node.slice if isinstance(e.slice, cst.Index)]


def _element(context: Context, node: Any) -> Any:
    """`jnp.asarray(labels[i], int)` of `int(labels[i])`, where labels may be an array or may not; None of anything else."""
    if not isinstance(node, cst.Call) or context.value(node.func) != External("builtins.int") or len(node.args) != 1:
        return None
    element: Any = node.args[0].value
    value = context.value(element)
    if not isinstance(element, cst.Subscript) or not isinstance(value, Tensor) or not value.assumed:
        return None
    made = call("jnp.asarray", [element, cst.Name("int")])
    context.facts.tell(made, Tensor(kind="i"))
    return made
