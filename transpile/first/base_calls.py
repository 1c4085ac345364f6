"""`nn.LayerNorm.forward(self, x)` in a class whose first base that is, is `super().forward(x)`; so are `reset_parameters` and `train`."""

from __future__ import annotations

from typing import Any

import libcst as cst

from . import tree

_METHODS = ("forward", "reset_parameters", "train")


def through_super(node: Any) -> Any:
    """A class with the calls of its first base's methods made by super()."""
    base = tree.dotted(node.bases[0].value) if node.bases else None
    if base is None or "." not in base:
        return node

    def method(function: cst.FunctionDef) -> cst.FunctionDef:
        own = function.params.params[0].name.value if function.params.params else None

        def call(made: Any) -> Any:
            name = (tree.dotted(made.func) or "").removeprefix(f"{base}.")
            if name not in _METHODS or not made.args or tree.code(made.args[0].value) != own:
                return made
            return tree.replace(made, func=tree.expression(f"super().{name}"), args=made.args[1:])

        return tree.rewrite(function, None, call, only={cst.Call})  # type: ignore[no-any-return]

    body = [method(s) if isinstance(s, cst.FunctionDef) else s for s in tree.body_statements(node)]
    return node if tree.same(body, tree.body_statements(node)) else tree.with_body(node, body)
