"""Lambdas that draw: a lambda has the key of the function around it, so that each of its calls must be known.

`map(lambda v: self.noisy(v), rows)` becomes a generator, whose turns get keys of their own. One that is called at one place,
or by JAX, is left; any other is refused, or reported where another function may call it once.
"""

from __future__ import annotations

from typing import Any

import libcst as cst

from .. import tree
from ..context import KEY, Context
from ..dataflow import called_once
from ..effects import calls_once

_ONCE = ("lax.", "jax.", "nn.", "functools.")


def run(context: Context, node: cst.FunctionDef) -> cst.FunctionDef:
    """See to the lambdas of one function whose draws have placeholders for keys."""
    if not any(_draws(n) for n in tree.nodes(node.body, cst.Lambda)):
        return node
    node = tree.rewrite(node, _mapped, only={cst.Call})
    judged = {id(n): _judged(context, node, n) for n in tree.nodes(node.body, cst.Lambda) if _draws(n)}
    if not any(judged.values()):
        return node

    def before(n: cst.CSTNode) -> Any:
        if not judged.get(id(n)):
            return None
        return context.unconverted("unsupported", n, "a lambda that draws, and may be called more than once: as a function, def, it gets a key for each call")  # type: ignore[arg-type]

    return tree.rewrite(node, before, only={cst.Lambda})  # type: ignore[no-any-return]


def _draws(node: cst.Lambda) -> bool:
    """Whether a lambda draws with a key that is not its own."""
    return not any(p.name.value == "key" for p in (*node.params.params, *node.params.kwonly_params)) and any(n.value == KEY for n in tree.nodes(node.body, cst.Name))


def _mapped(node: cst.CSTNode) -> Any:
    """`map(lambda v: self.noisy(v), rows)` as `(self.noisy(v) for v in rows)`."""
    if not isinstance(node, cst.Call) or tree.dotted(node.func) != "map" or len(node.args) != 2 or any(a.star or a.keyword for a in node.args):
        return None
    function, rows = (a.value for a in node.args)
    if not isinstance(function, cst.Lambda) or not _draws(function) or len(function.params.params) != 1 or function.params.params[0].default is not None:
        return None
    made = tree.expression("(x for y in z)")
    return tree.replace(made, elt=function.body, for_in=tree.replace(made.for_in, target=function.params.params[0].name, iter=rows))


def _judged(context: Context, function: cst.FunctionDef, node: cst.Lambda) -> bool:
    """Whether a lambda is refused."""
    for call in tree.nodes(function.body, cst.Call):
        argument = next((a for a in call.args if a.value is node), None)
        if argument is not None:
            if not (tree.dotted(call.func) or "").startswith(_ONCE) and not calls_once(context.value(call.func), call, argument):
                context.report("taken-for-granted", node, "this lambda draws with one key: it is right where it is called once")
            return False
    for small in tree.nodes(function.body, cst.Assign):
        target = small.targets[0].target
        if small.value is node and len(small.targets) == 1 and isinstance(target, cst.Name):
            uses = sum(n.value == target.value for n in tree.nodes(function.body, cst.Name))
            return uses != 2 or not called_once(function.body, target.value)  # here, and where it is called
    return True
