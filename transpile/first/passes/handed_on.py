"""What a call gives back with the state is returned as it is.

    x, state = self.reverse(params, state, x)     ->     return self.reverse(params, state, x)
    return x, state
"""

from __future__ import annotations

from typing import Any

import libcst as cst

from .. import tree


def run(node: cst.FunctionDef) -> cst.FunctionDef:
    """Rewrite the returns of a function that returns its state."""
    return tree.rewrite(node, None, lambda n: _block(n) if n.__class__ is cst.IndentedBlock else n, only={cst.IndentedBlock})  # type: ignore[no-any-return]


def _block(node: Any) -> Any:
    body: list[Any] = list(node.body)
    if len(body) < 2:
        return node
    made, returned = tree.only_small(body[-2]), tree.only_small(body[-1])
    if not isinstance(made, cst.Assign) or not isinstance(returned, cst.Return) or len(made.targets) != 1 or not isinstance(made.value, cst.Call):
        return node
    names = _names(made.targets[0].target)
    if not names or names[-1] != "state" or names != _names(returned.value):
        return node
    lines = [*body[-2].leading_lines, *(line for line in body[-1].leading_lines if line.comment is not None)]
    last = tree.replace(body[-1], body=[cst.Return(made.value)], leading_lines=lines)
    return tree.replace(node, body=[*body[:-2], last])


def _names(value: Any) -> list[str] | None:
    """The names in `x, state`."""
    parts: list[Any] = [e.value for e in value.elements] if isinstance(value, cst.Tuple) else []
    return [p.value for p in parts] if parts and all(isinstance(p, cst.Name) for p in parts) else None
