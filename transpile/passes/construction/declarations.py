"""Initial values as functions of a key, and the declarations that hold them where they stand: `nn.Parameter(lambda key: …)`."""

from __future__ import annotations

from typing import Any

import libcst as cst

from ... import tree
from ...context import Context
from .bindings import unsteady
from .initial_values import parameter_call


def initializer(function: cst.FunctionDef, value: Any, given: tuple[str, ...] = ()) -> Any:
    """`lambda weight, key: value`, made in a function; `given` are the names that come before the key.

    It is called later: names that the function assigns more than once or in a loop keep the present value as defaults, `n=n`.
    """
    late = unsteady(function) - set(given)
    defaults = "".join(f", {n}={n}" for n in sorted(tree.names_read(value) & late))
    return tree.replace(tree.expression(f"lambda {', '.join((*given, 'key'))}{defaults}: 0"), body=value)


def declaration(context: Context, kind: str, value: Any, function: cst.FunctionDef) -> Any:
    """`nn.Parameter(lambda key: value)`"""
    return tree.replace(tree.expression(f"{context.name(kind)}()"), args=[cst.Arg(initializer(function, value))])


def declare_parameters(context: Context, node: Any, function: cst.FunctionDef) -> Any:
    """Every `nn.Parameter(value)` below becomes a declaration."""

    def before(n: cst.CSTNode) -> Any:
        inner = parameter_call(n)
        if inner is not None and not isinstance(inner, cst.Lambda):
            return declaration(context, "Parameter", inner, function)
        return None

    return tree.rewrite(node, before, only={cst.Call})
