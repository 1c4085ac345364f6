"""`del x` of a local name: it frees memory early, which jax.jit does by itself, and functions made from what follows may read x."""

from __future__ import annotations

from typing import Any

import libcst as cst

from .. import tree
from ..context import Context
from ..values import NUMPY, External


def run(context: Context, module: cst.Module) -> cst.Module:
    """Leave them out in the functions of one file; `del x[0]`, and what certainly is nothing of torch's, stay."""
    if not any(tree.nodes(module, cst.Del)):
        return module

    def visit(node: Any) -> Any:
        own = tree.local_names(node)

        def without(line: Any) -> Any:
            kept = [small for small in (_without(context, s, own) for s in line.body) if small is not None]
            if tree.same(kept, line.body):
                return None
            return tree.replace(line, body=[*kept[:-1], tree.replace(kept[-1], semicolon=cst.MaybeSentinel.DEFAULT)]) if kept else cst.RemoveFromParent()

        def inner(n: Any) -> Any:
            return visit(n) if isinstance(n, cst.FunctionDef) else without(n)

        body = tree.rewrite(node.body, inner, only={cst.FunctionDef, cst.SimpleStatementLine})
        if body is node.body:
            return node
        new = tree.replace(node, body=body)
        context.facts.carry(node, new)
        return new

    return tree.rewrite(module, visit, only={cst.FunctionDef})  # type: ignore[no-any-return]


def _without(context: Context, small: Any, own: set[str]) -> Any:
    """A `del` without the names of the function itself; None where nothing is left of it."""
    if not isinstance(small, cst.Del):
        return small
    targets = [e.value for e in small.target.elements] if isinstance(small.target, (cst.Tuple, cst.List)) else [small.target]
    kept = [t for t in targets if not (isinstance(t, cst.Name) and t.value in own and not _is_hosts(context, t))]
    if len(kept) == len(targets):
        return small
    if len(kept) == 1:
        return tree.replace(small, target=kept[0])
    return tree.replace(small, target=cst.Tuple([cst.Element(t) for t in kept], lpar=[], rpar=[])) if kept else None


def _is_hosts(context: Context, name: cst.Name) -> bool:
    """Whether it is memory of the host that is freed: rows that were read from a file."""
    value = context.value(name)
    return isinstance(value, External) or value == NUMPY
