"""A copy of a param that is filled before it is read: only its shape counts.

    self.register_buffer("mask", self.weight.data.clone())
    self.mask.fill_(1)
"""

from __future__ import annotations

from typing import Any

import libcst as cst

from ... import tree
from .constructors import Original
from .questions import LIKE, undetached


def filled_at_once(original: Original, statements: list[Any]) -> list[Any]:
    """The statements of `__init__`, where such a copy is not made: what fills it asks the param itself for its shape."""
    out = list(statements)
    for statement in statements:
        name, value = _set(original, statement)
        if name is None or original.array(undetached(value)) not in original.inherited:
            continue
        later: Any = next((s for s in out[out.index(statement) + 1 :] if _mentions(original, s, name)), None)
        filled_name, filling = _set(original, later)
        if filled_name != name or not isinstance(filling, cst.Call) or tree.dotted(filling.func) not in LIKE:
            continue
        if original.attribute(filling.args[0].value) != name or any(_mentions(original, a, name) for a in filling.args[1:]):
            continue
        made = tree.replace(filling, args=[tree.replace(filling.args[0], value=value), *filling.args[1:]])
        out[out.index(later)] = tree.replace(later, body=[tree.replace(later.body[0], value=made)])
        out.remove(statement)
    return out


def _set(original: Original, statement: Any) -> tuple[str | None, Any]:
    """`self.mask = value`: the name and the value."""
    small = tree.only_small(statement)
    if isinstance(small, cst.Assign) and len(small.targets) == 1:
        return original.attribute(small.targets[0].target), small.value
    return None, None


def _mentions(original: Original, node: cst.CSTNode, name: str) -> bool:
    return any(original.attribute(n) == name for n in tree.nodes(node, cst.Attribute))
