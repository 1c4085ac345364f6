"""Local lists of a container's layers: they hold (name, layer), so that a loop over them finds the params.

    flows = list(reversed(self.flows))                ->           flows = list(reversed(self.flows.layers()))
    for flow in flows[:-2] + [flows[-1]]:                          for name, flow in flows[:-2] + [flows[-1]]:
        x = flow(x)                                                    x = flow(params["flows"][name], x)
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from typing import Any

import libcst as cst

from ... import tree
from ...paths import Path
from ...values import Function, Module
from .list_functions import chooses
from .scope import LayerLists, Scope

_ORDERS = ("reversed", "list", "tuple", "iter")
_COMPOSED = (cst.IfExp, cst.BinaryOperation, cst.List, cst.Tuple)


def layer_lists(scope: Scope, node: cst.FunctionDef) -> LayerLists:
    """The lists of a function that are bound and used in no other way than these."""
    values: dict[str, list[Any]] = {}
    for assignment in tree.nodes(node.body, cst.Assign):
        if len(assignment.targets) == 1 and isinstance(target := assignment.targets[0].target, cst.Name):
            values.setdefault(target.value, []).append(assignment.value)
    times, given = tree.times_bound(node.body), tree.parameter_names(node)
    names = {n for n, each in values.items() if len(each) == times[n] and n not in given and any(not _is_leaf(scope, v) for v in each)}
    heads = list(_heads(node))
    while wrong := {n for n in names if not all(_parts(scope, v, names) for v in values[n])} or names and _used_otherwise(scope, node, heads, values, names):
        names -= wrong
    paths = {n: _path(scope, values[n], values, names) for n in names}
    made = [value for n in names if paths[n] is not None for value in values[n]]
    found = {id(h): path for h in heads if (path := _of_head(scope, h, values, names)) is not None}
    leaves = {id(leaf) for value in [*made, *(h for h in heads if id(h) in found)] for leaf in _parts(scope, value, names)}
    return LayerLists(frozenset(n for n in names if paths[n] is not None), frozenset(leaves), found)


def _parts(scope: Scope, node: Any, names: Set[str]) -> list[Any]:
    """The containers and names of lists that a list of layers is made of; nothing for anything else."""
    if isinstance(node, cst.Name) and node.value in names or _is_leaf(scope, node):
        return [node]
    below: list[Any] = []
    if isinstance(node, cst.Call) and tree.dotted(node.func) in _ORDERS and len(node.args) == 1:
        below = [node.args[0].value]
    elif isinstance(node, cst.Subscript) and len(node.slice) == 1 and isinstance(node.slice[0].slice, cst.Slice):
        below = [node.value]
    elif isinstance(node, cst.IfExp):
        below = [node.body, node.orelse]
    elif isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Add):
        below = [node.left, node.right]
    elif isinstance(node, cst.Call):
        below = _chosen_among(scope, node, names)
    elif isinstance(node, (cst.List, cst.Tuple)) and all(isinstance(e.value, cst.Subscript) and isinstance(e.value.slice[0].slice, cst.Index) for e in node.elements):
        below = [e.value.value for e in node.elements]  # type: ignore[attr-defined]
    found = [_parts(scope, part, names) for part in below]
    return [leaf for parts in found for leaf in parts] if all(found) else []


def _chosen_among(scope: Scope, node: cst.Call, names: Set[str]) -> list[Any]:
    """The list that a function is given which chooses among its layers: `dropped(self.layers, p)`."""
    value = scope.facts.of(node.func)
    if not isinstance(value, Function) or value.info.owner is not None or scope.needs_of(value) & {"params", "state"}:
        return []
    given = [(name, a) for name, a in value.info.given(node).items() if _parts(scope, a, names)]
    return [a for _, a in given] if len(given) == 1 and chooses(value.info, given[0][0]) else []


def _is_leaf(scope: Scope, node: Any) -> bool:
    """Whether an expression is a list or Sequential of modules that the function's own module holds."""
    value = scope.facts.of(node)
    if not isinstance(node, cst.Attribute) or not isinstance(value, Module) or scope.path(node) is None or not scope.paths.is_container(node):
        return False
    return {r.rpartition(".")[2] for r in value.classes if isinstance(r, str)} <= {"ModuleList", "Sequential"}


def _heads(node: cst.FunctionDef) -> Iterator[Any]:
    """What loops and comprehensions go over, each of what is zipped by itself."""
    loop: Any
    for loop in tree.nodes(node.body, cst.For, cst.CompFor):
        over = loop.iter
        inner = isinstance(over, cst.Call) and tree.dotted(over.func) in ("enumerate", "zip")
        yield from [a.value for a in over.args] if inner else [over]


def _used_otherwise(scope: Scope, node: cst.FunctionDef, heads: list[Any], values: dict[str, list[Any]], names: Set[str]) -> set[str]:
    """The names that are read where no list of layers, and no loop over one, is made of them."""
    lists = [*heads, *(value for n in names for value in values[n])]
    known = {id(leaf) for one in lists for leaf in _parts(scope, one, names)}
    known |= {id(t.target) for t in tree.nodes(node.body, cst.AssignTarget)}
    known |= {id(a.attr) for a in tree.nodes(node.body, cst.Attribute)} | {id(a.keyword) for a in tree.nodes(node.body, cst.Arg)}
    known |= {id(c.args[0].value) for c in tree.nodes(node.body, cst.Call) if tree.dotted(c.func) == "len" and c.args}
    return {n.value for n in tree.nodes(node.body, cst.Name) if n.value in names and id(n) not in known}


def _path(scope: Scope, made: list[Any], values: dict[str, list[Any]], names: Set[str], seen: frozenset[str] = frozenset()) -> Path | None:
    """Where the params are of the layers in lists; None where they are in several places."""
    found = set()
    for leaf in (leaf for value in made for leaf in _parts(scope, value, names)):
        if not isinstance(leaf, cst.Name):
            found.add(scope.path(leaf))
        elif leaf.value not in seen:
            found.add(_path(scope, values[leaf.value], values, names, seen | {leaf.value}))
    return found.pop() if len(found) == 1 else None


def _of_head(scope: Scope, head: Any, values: dict[str, list[Any]], names: Set[str]) -> Path | None:
    """Where the params are of the layers that a loop goes over, if it goes over such a list."""
    parts = _parts(scope, head, names)
    composed = any(isinstance(n, _COMPOSED) or isinstance(n, cst.Call) and tree.dotted(n.func) not in _ORDERS for n in tree.walk(head)) or any(isinstance(p, cst.Name) for p in parts)
    return _path(scope, [head], values, names) if parts and composed else None
