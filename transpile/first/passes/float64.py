"""Functions that compute constants in float64 do so without JAX's 64 bit types too, and round once.

    betas = torch.linspace(1e-4, 0.02, 1000, dtype=torch.float64)
    self.register_buffer("v", torch.cumprod(1 - betas, 0).float())

Computed in float32 the last of these differ from torch's by several units in the last place, and
`log(1 - alphas)` by all of its digits. What forward passes compute of data stays in JAX's dtypes.
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from typing import Any

import libcst as cst

from .. import tree
from ..context import Context
from ..project import FunctionInfo
from ..values import NUMPY, Static, Tensor

_WIDE = frozenset({"jnp.float64", "jnp.double", "jnp.complex128"})


def find(contexts: Iterable[tuple[Context, cst.Module]], running: Set[FunctionInfo]) -> set[str]:
    """The names of the functions that compute constants in float64, also by way of others."""
    wide: set[str] = set()
    made = [(c, node) for c, module in contexts for node in _builders(c, module, running)]
    while True:
        found = {node.name.value for context, node in made if _is_wide(context, node, wide)}
        if found <= wide:
            return wide
        wide |= found


def run(context: Context, module: cst.Module, wide: Set[str], running: Set[FunctionInfo]) -> cst.Module:
    """Decorate these functions."""
    if not wide:
        return module
    nodes = {id(node) for node in _builders(context, module, running) if _is_wide(context, node, wide)}

    def decorated(node: Any) -> Any:
        if id(node) not in nodes:
            return None
        decorator = cst.Decorator(tree.expression(context.name("in_float64")))
        return tree.replace(node, decorators=[*node.decorators, decorator])

    return tree.rewrite(module, decorated, only={cst.FunctionDef, cst.ClassDef})  # type: ignore[no-any-return]


def _builders(context: Context, module: cst.Module, running: Set[FunctionInfo]) -> list[Any]:
    """The functions and methods that no forward pass runs, the properties of constants among them."""
    found = []
    for statement in module.body:
        inside = tree.body_statements(statement) if isinstance(statement, cst.ClassDef) else [statement]
        for node in inside:
            info = context.facts.by_node.get(id(node)) if isinstance(node, cst.FunctionDef) else None
            if isinstance(node, cst.FunctionDef) and (info is None or info not in running):
                found.append(node)
    return found


def _is_wide(context: Context, node: cst.FunctionDef, wide: Set[str]) -> bool:
    if cst.Yield in tree.kinds(node.body):
        return False
    if any(tree.dotted(n) in _WIDE and not _is_compared(node, n) for n in tree.nodes(node.body, cst.Attribute)):
        return True
    calls = list(tree.nodes(node.body, cst.Call))
    cast = {id(c.func.value) for c in calls if isinstance(c.func, cst.Attribute) and c.func.attr.value == "astype"}
    if any(_takes_numpy(context, c) for c in calls if id(c) not in cast):
        return True
    return any((tree.dotted(c.func) or "").rpartition(".")[2] in wide for c in calls)


def _is_compared(node: cst.FunctionDef, dtype: Any) -> bool:
    """`if x.dtype == jnp.float64` computes nothing in it."""
    return any(dtype in tree.walk(n) for n in tree.nodes(node.body, cst.Comparison))


def _takes_numpy(context: Context, call: cst.Call) -> bool:
    """`jnp.asarray(betas)` of an array of NumPy's, which is float64 unless something says otherwise."""
    if tree.dotted(call.func) not in ("jnp.asarray", "jnp.array", "nn.tensor") or len(call.args) != 1:
        return False
    value = context.value(call.args[0].value)
    return isinstance(value, Static) and value.type == NUMPY.type or isinstance(value, Tensor) and value.host
