"""Numbers that are made whole later: `torch.linspace(-1, n, s).int()`, where the last digit decides which number it is."""

from __future__ import annotations

from typing import Any

import libcst as cst

from ... import tree
from .walk import Walk

_CASTS = frozenset({"int", "long", "short", "floor", "ceil", "round", "trunc", "to", "type"})


def are_made(walk: Walk, node: cst.Call) -> bool:
    """Whether what a call makes is cast or rounded in the function around it, by itself or by a name that holds it."""
    casts = [c for c in tree.nodes(walk.body, cst.Call) if (c.func.attr.value if isinstance(c.func, cst.Attribute) else tree.dotted(c.func)) in _CASTS]
    if not casts:
        return False
    names: set[str] = set()
    assign: Any
    for assign in tree.nodes(walk.body, cst.Assign, cst.CompFor, cst.For):
        source = assign.value if isinstance(assign, cst.Assign) else assign.iter
        if any(n is node for n in tree.nodes(source, cst.Call)) or source is node or names & tree.names_read(source):
            names |= set(tree.names_assigned(assign) if isinstance(assign, cst.Assign) else tree.target_names(assign.target))
    return any(names & tree.names_read(c) or any(n is node for n in tree.nodes(c, cst.Call)) for c in casts)
