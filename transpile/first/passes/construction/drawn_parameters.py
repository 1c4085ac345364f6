"""A function that draws a param before it gives it back draws when the model is initialised.

    def table(n, d):                          def table(n, d):
        w = torch.empty(n, d)                     def initial(key):
        nn.init.uniform_(w, -0.02, 0.02)    →         w = jax.random.uniform(key, (n, d), …)
        return nn.Parameter(w)                        return w

                                                  return nn.Parameter(initial)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import libcst as cst

from ... import tree
from ...emit import fresh_name
from .bindings import has_key


def drawn_parameters(function: cst.FunctionDef, keyed: Callable[[cst.FunctionDef], cst.FunctionDef]) -> cst.FunctionDef:
    """A function that makes a param on all ways, with the draws that precede it in a function of the key; `keyed` hands that to its draws."""
    returns: list[Any] = list(tree.scope_nodes(function.body, cst.Return))
    if not returns or not all(_is_parameter(r.value) for r in returns) or not has_key(_without(function.body, returns)):
        return function
    names = tree.parameter_names(function)
    if "key" in names or names & set(tree.names_assigned(function.body)):
        return function  # what the inner function set would be its own there
    given = {id(r): r.value.args[0].value for r in returns}
    body = tree.rewrite(function.body, lambda n: tree.replace(n, value=given[id(n)]) if id(n) in given else None)
    statements = tree.body_statements(tree.replace(function, body=body))
    doc = [s for s in statements[:1] if tree.is_docstring(s)]
    name = fresh_name(tree.names_read(function) | names, "initial")
    inner: Any = tree.with_body(tree.statement(f"def {name}(key):\n    pass\n"), statements[len(doc) :])
    back = tree.statement(f"return {tree.code(returns[0].value.func)}({name})")
    return tree.with_body(function, [*doc, keyed(inner), tree.replace(back, leading_lines=[cst.EmptyLine(indent=False)])])


def _is_parameter(value: Any) -> bool:
    """`nn.Parameter(w)`, after the rules have been applied."""
    return isinstance(value, cst.Call) and tree.dotted(value.func) == "nn.Parameter" and len(value.args) == 1 and value.args[0].keyword is None


def _without(body: Any, returns: list[Any]) -> Any:
    """A body whose returns give nothing back."""
    return tree.rewrite(body, lambda n: tree.replace(n, value=None) if any(n is r for r in returns) else None)
