"""`torch.cat` leaves out empty tensors of one dim, whatever the others are: an accumulator that begins as one goes by a rule of its own.

    out = torch.empty(0)                 ->   out = torch.empty(0)
    for x in xs:                              for x in xs:
        out = torch.cat((out, x))                 out = torch.cat_with_empty((out, x))
"""

from __future__ import annotations

from typing import Any

import libcst as cst

from .. import tree

_SIZED = ("empty", "zeros", "ones")
_MADE = ("tensor", "Tensor", "FloatTensor", "LongTensor", "DoubleTensor")
_JOINS = ("torch.cat", "torch.concat", "torch.concatenate")


def run(module: cst.Module) -> cst.Module:
    """Rewrite the joins in the functions of one file."""
    return tree.rewrite(module, None, lambda n: _function(n) if n.__class__ is cst.FunctionDef else n, only={cst.FunctionDef})  # type: ignore[no-any-return]


def _function(node: cst.FunctionDef) -> cst.FunctionDef:
    empty = {name for n in tree.scope_nodes(node.body, cst.Assign) if _is_empty(n.value) for name in tree.names_assigned(n)}
    if not empty:
        return node

    def after(call: Any) -> Any:
        given = call.args[0].value if tree.dotted(call.func) in _JOINS and call.args else None
        if not isinstance(given, (cst.Tuple, cst.List)) or not any(isinstance(e.value, cst.Name) and e.value.value in empty for e in given.elements):
            return call
        return tree.replace(call, func=tree.expression("torch.cat_with_empty"))

    return tree.rewrite(node, None, after, only={cst.Call})  # type: ignore[no-any-return]


def _is_empty(value: Any) -> bool:
    """`torch.empty(0)`, `torch.tensor([])`, `torch.Tensor()`"""
    if not isinstance(value, cst.Call):
        return False
    base, _, function = (tree.dotted(value.func) or "").rpartition(".")
    sizes = [tree.code(a.value) for a in value.args if a.keyword is None]
    return base == "torch" and (function in _SIZED and sizes == ["0"] or function in _MADE and sizes in ([], ["[]"]))
