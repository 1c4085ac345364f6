"""`map(self.block, xs)` as the comprehension that it stands for, in which a call is seen as one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import libcst as cst

from . import tree
from .emit import display, fresh_name


def without_map(node: cst.Call, visit: Callable[[Any], Any]) -> Any:
    """`[self.block(x) for x in xs]` for `list(map(self.block, xs))`, a generator for `map(self.block, xs)` alone. None for another call."""
    inner = node.args[0].value if tree.dotted(node.func) == "list" and len(node.args) == 1 else node
    if not isinstance(inner, cst.Call) or not _maps_method(inner):
        return None
    function, *iterables = [tree.rewrite(a.value, visit) for a in inner.args]
    used = tree.names_read(function)
    names: list[Any] = [cst.Name(fresh_name(used, stem)) for stem in _stems(len(iterables))]
    over = iterables[0] if len(iterables) == 1 else cst.Call(cst.Name("zip"), [cst.Arg(i) for i in iterables])
    target = names[0] if len(names) == 1 else display(names)
    each = cst.Call(function, [cst.Arg(name) for name in names])
    loop = cst.CompFor(target, over)
    return cst.GeneratorExp(each, loop) if inner is node else cst.ListComp(each, loop)


def _maps_method(node: cst.Call) -> bool:
    """Whether a call is `map` of an attribute of self, with what it goes over."""
    if tree.dotted(node.func) != "map" or len(node.args) < 2 or any(a.star or a.keyword is not None for a in node.args):
        return False
    return (tree.dotted(node.args[0].value) or "").startswith("self.")


def _stems(count: int) -> list[str]:
    return ["x", "y", "z"][:count] if count <= 3 else ["x"] * count
