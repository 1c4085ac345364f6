"""Code that goes by the order of a dict that jax may have sorted: what goes through jax.jit or lax.cond comes back sorted by its keys.

    for name, feature in features.items():      of an argument of forward, or a dict that a module keeps
        y = y * 2 + feature
    torch.cat(list(features.values()))

`{k: f(v) for k, v in d.items()}`, `out[k] = v` for each and `sorted(d)` do not go by it. An OrderedDict keeps its order.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import libcst as cst

from . import tree
from .arrays import Arrays
from .context import Context
from .project import ClassInfo, FunctionInfo
from .values import Mapping, Module

_VIEWS = ("values", "items", "keys")
_ORDERED = ("list", "tuple", "enumerate", "zip", "iter", "reversed")
_SETTLED = ("sum", "all", "any", "max", "min", "set", "frozenset", "sorted", "len", "dict")  # the same in any order
_MESSAGE = "this goes by the order of a dict, which jax.jit sorts by its keys: name the keys, or have it an OrderedDict"


def report(context: Context, info: FunctionInfo, arrays: Arrays) -> None:
    """Report what a function that runs in a forward pass does so with an argument of forward, or a dict in the state."""
    given = tree.parameter_names(info.node) - set(tree.names_assigned(info.node.body)) if info.name == "forward" else set()
    for read, place in ordered_reads(context, info.node.body):
        base = context.value(read.value) if isinstance(read, cst.Attribute) else None
        refs = base.refs if isinstance(base, Module) else []
        found = (arrays.find(ref, read.attr.value) for ref in refs if isinstance(ref, ClassInfo))
        if isinstance(read, cst.Name) and read.value in given or any(array is not None and array.where == "state" for array in found):
            context.report("taken-for-granted", place, _MESSAGE)
    for call in tree.nodes(info.node.body, cst.Call):
        if isinstance(call.func, cst.Call) and tree.dotted(call.func.func) == "jax.checkpoint":
            for argument in (a.value for a in call.args if isinstance(context.value(a.value), Mapping) and not is_sorted(a.value)):
                context.report("taken-for-granted", argument, "jax.checkpoint hands a dict on sorted by its keys: see that nothing goes by their order")


def ordered_reads(context: Context, code: cst.CSTNode) -> Iterator[tuple[Any, Any]]:
    """The dicts that a piece of code goes through in their order, each with the expression that does."""
    settled: set[int] = set()
    for node in tree.nodes(code, cst.Call, cst.For, cst.ListComp, cst.GeneratorExp, cst.StarredElement, cst.Arg):
        current: Any = node
        if isinstance(node, cst.Call):
            name = tree.dotted(node.func)
            settled |= {id(a.value) for a in node.args} if name in _SETTLED else set()
            sources = [a.value for a in node.args] if name in _ORDERED else []
        elif isinstance(node, cst.For):
            sources = [] if _stores_by_key(node) else [node.iter]
        elif isinstance(node, (cst.ListComp, cst.GeneratorExp)):
            sources = [] if id(node) in settled else [node.for_in.iter]
        else:
            sources = [current.value] if isinstance(node, cst.StarredElement) or current.star == "*" else []
        for source in sources if id(node) not in settled else ():
            if (read := _dict(context, source)) is not None:
                yield read, source


def _dict(context: Context, node: Any) -> Any:
    """The dict in `d.items()`, or that is gone through itself."""
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and node.func.attr.value in _VIEWS and not node.args:
        return None if isinstance(context.value(node.func.value), Module) else node.func.value
    return node if isinstance(context.value(node), Mapping) else None


def _stores_by_key(loop: cst.For) -> bool:
    """Whether a loop does nothing but to store under each key: `for k in d: d[k] = d[k].float()`."""
    for statement in tree.body_statements(loop):
        small = tree.only_small(statement)
        stores = isinstance(small, cst.Assign) and all(isinstance(t.target, cst.Subscript) for t in small.targets)
        if not stores and not (isinstance(statement, cst.For) and _stores_by_key(statement)):
            return False
    return True


def is_sorted(node: Any) -> bool:
    """Whether a dict is written with its keys in the order that jax gives it."""
    elements = node.elements if isinstance(node, cst.Dict) else ()
    keys = [tree.literal(e.key) if isinstance(e, cst.DictElement) else None for e in elements]
    return bool(keys) and all(isinstance(key, str) for key in keys) and keys == sorted(keys)  # type: ignore[type-var]
