"""What code does beside computing: calls for their effect alone, and draws from generators of the host."""

from __future__ import annotations

from typing import Any

import libcst as cst

from . import tree
from .context import Context
from .printing import SAYS
from .values import Tensor

GROWING = frozenset("append extend insert pop remove clear update setdefault add discard".split())


def effect(context: Context, block: cst.CSTNode) -> str | None:
    """What a piece of code does that JAX would do for either side of a branch, or once for all turns of a loop; None where
    it only computes. Lists that grow are asked for elsewhere; `jax.debug` knows its place."""
    for node in tree.walk_scope(block):
        if isinstance(node, cst.Expr) and isinstance(node.value, cst.Call) and not _is_harmless(node.value):
            name = tree.dotted(node.value.func) or "something"
            return "what could not be converted stands" if name == "nn.unconverted" else f"{name} is called for its effect"
        if isinstance(node, cst.Call) and context.host.is_draw(node):
            return "a generator of Python or NumPy draws"
        if isinstance(node, cst.Call) and context.moving.moves(node):
            return f"{tree.code(node.func)} moves on what Python keeps"
    return None


def report_draws(context: Context, function: cst.FunctionDef) -> None:
    """Report what draws from a generator of the host in a function that runs under jit: `if random.random() < 0.5`."""
    for call in tree.nodes(function.body, cst.Call):
        if context.host.is_direct(call) and context.value(call) != context.value(call.func):  # a generator is made, and yet to draw
            context.report("host-draw", call, f"{tree.code(call.func)} draws once, when the function is traced: every call of a jitted one has the same number")


def report_handlers(context: Context, function: cst.FunctionDef) -> None:
    """Report handlers of errors that JAX does not raise: `try: x[5]` with `except IndexError`."""
    for node in tree.nodes(function.body, cst.Try):
        picks = [n for n in tree.nodes(node.body, cst.Subscript) if isinstance(context.value(n.value), Tensor)]
        for handler in node.handlers if picks else ():
            if handler.type is not None and tree.names_read(handler.type) & {"IndexError", "LookupError"}:
                context.report("taken-for-granted", handler.type, f"no IndexError comes of {tree.code(picks[0])}: JAX takes the last element for one out of range")


def _is_harmless(call: cst.Call) -> bool:
    func: Any = call.func
    return tree.dotted(func) in SAYS or isinstance(func, cst.Attribute) and func.attr.value in GROWING
