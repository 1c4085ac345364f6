"""`map(self.block, xs)` and `map(lambda conv: conv(x), self.convs)` as the comprehensions that they stand for, in which a call is seen as one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import libcst as cst

from . import tree
from .emit import display, fresh_name


def without_map(node: cst.Call, visit: Callable[[Any], Any]) -> Any:
    """`[self.block(x) for x in xs]` for `list(map(self.block, xs))`, a generator for `map(self.block, xs)` alone or in another call. None for other calls."""
    inner = node.args[0].value if len(node.args) == 1 and not node.args[0].star and not _maps_method(node) else node
    if not isinstance(inner, cst.Call) or not _maps_method(inner):
        return None
    function, *iterables = [tree.rewrite(a.value, visit) for a in inner.args]
    if isinstance(function, cst.Lambda):
        names: list[Any] = [cst.Name(p.name.value) for p in function.params.params]
        each = function.body
    else:
        used = tree.names_read(function)
        names = [cst.Name(fresh_name(used, stem)) for stem in _stems(len(iterables))]
        each = cst.Call(function, [cst.Arg(name) for name in names])
    over = iterables[0] if len(iterables) == 1 else cst.Call(cst.Name("zip"), [cst.Arg(i) for i in iterables])
    target = names[0] if len(names) == 1 else display(names)
    loop = cst.CompFor(target, over)
    if tree.dotted(node.func) == "list":
        return cst.ListComp(each, loop)
    if inner is node:
        return cst.GeneratorExp(each, loop)
    made = cst.GeneratorExp(each, loop, lpar=[], rpar=[])
    return tree.replace(node, args=[tree.replace(node.args[0], value=made)])


def _maps_method(node: cst.Call) -> bool:
    """Whether a call is `map` of an attribute of self, or of a lambda that calls what it is given, with what it goes over."""
    if tree.dotted(node.func) != "map" or len(node.args) < 2 or any(a.star or a.keyword is not None for a in node.args):
        return False
    function = node.args[0].value
    if isinstance(function, cst.Lambda):
        return _calls_given(function, len(node.args) - 1)
    return (tree.dotted(function) or "").startswith("self.")


def _calls_given(function: cst.Lambda, count: int) -> bool:
    """Whether a lambda of so many plain parameters calls one of them, as it would a module."""
    given = function.params
    names = [p.name.value for p in given.params if p.default is None]
    plain = len(names) == len(given.params) == count and not given.kwonly_params and not given.posonly_params
    if not plain or given.star_kwarg is not None or isinstance(given.star_arg, cst.Param):
        return False
    return any(isinstance(c.func, cst.Name) and c.func.value in names for c in tree.nodes(function.body, cst.Call))


def _stems(count: int) -> list[str]:
    return ["x", "y", "z"][:count] if count <= 3 else ["x"] * count
