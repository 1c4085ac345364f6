"""`nn.LayerNorm.forward(self, x)` in a class of that one base is `super().forward(x)`."""

from __future__ import annotations

from typing import Any

import libcst as cst

from . import tree


def through_super(node: Any) -> Any:
    """A class with the calls of its base's forward made by super()."""
    base = tree.dotted(node.bases[0].value) if len(node.bases) == 1 else None
    if base is None or "." not in base:
        return node

    def method(function: cst.FunctionDef) -> cst.FunctionDef:
        own = function.params.params[0].name.value if function.params.params else None

        def call(made: Any) -> Any:
            if tree.dotted(made.func) != f"{base}.forward" or not made.args or tree.code(made.args[0].value) != own:
                return made
            return tree.replace(made, func=tree.expression("super().forward"), args=made.args[1:])

        return tree.rewrite(function, None, call, only={cst.Call})  # type: ignore[no-any-return]

    body = [method(s) if isinstance(s, cst.FunctionDef) else s for s in tree.body_statements(node)]
    return node if tree.same(body, tree.body_statements(node)) else tree.with_body(node, body)
