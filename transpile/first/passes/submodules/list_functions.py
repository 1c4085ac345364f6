"""Functions that choose among the layers of a list that they are given: of (name, layer) they choose as well.

    def dropped(layers, p):
        if p == 0:
            return layers
        drops = [random() < p for _ in range(len(layers))]
        return [layer for layer, drop in zip(layers, drops) if not drop]
"""

from __future__ import annotations

from typing import Any

import libcst as cst

from ... import tree
from ...project import FunctionInfo


def chooses(info: FunctionInfo, parameter: str) -> bool:
    """Whether a function gives back nothing but what the list holds, and does no more with that than choose and count."""
    values: dict[str, list[Any]] = {}
    for assignment in tree.nodes(info.node.body, cst.Assign):
        if len(assignment.targets) == 1 and isinstance(target := assignment.targets[0].target, cst.Name):
            values.setdefault(target.value, []).append(assignment.value)
    names, times = {parameter}, tree.times_bound(info.node.body)
    while new := {n for n, each in values.items() if n not in names and len(each) == times[n] and all(_leaves(v, names) for v in each)}:
        names |= new
    if len(values.get(parameter, [])) != times[parameter]:
        return False
    returns = [r.value for r in tree.scope_nodes(info.node.body, cst.Return)]
    lists = [*returns, *(v for n in names for v in values.get(n, []))]
    if not returns or not all(v is not None and _leaves(v, names) for v in lists):
        return False
    known = {id(leaf) for v in lists for leaf in _leaves(v, names)}
    known |= {id(t.target) for t in tree.nodes(info.node.body, cst.AssignTarget)}
    known |= {id(c.args[0].value) for c in tree.nodes(info.node.body, cst.Call) if tree.dotted(c.func) == "len" and c.args}
    return all(id(n) in known for n in tree.nodes(info.node.body, cst.Name) if n.value in names)


def _leaves(node: Any, names: set[str]) -> list[Any]:
    """The names of lists that a list of their entries is made of; nothing for anything else."""
    if isinstance(node, cst.Name):
        return [node] if node.value in names else []
    below: list[Any] = []
    if isinstance(node, cst.Call) and tree.dotted(node.func) in ("list", "tuple", "reversed") and len(node.args) == 1:
        below = [node.args[0].value]
    elif isinstance(node, cst.Subscript) and len(node.slice) == 1 and isinstance(node.slice[0].slice, cst.Slice):
        below = [node.value]
    elif isinstance(node, cst.IfExp):
        below = [node.body, node.orelse]
    elif isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Add):
        below = [node.left, node.right]
    elif isinstance(node, (cst.ListComp, cst.GeneratorExp)):
        below = [_chosen_from(node)]
    found = [_leaves(part, names) for part in below]
    return [leaf for leaves in found for leaf in leaves] if all(found) else []


def _chosen_from(node: Any) -> Any:
    """The list in `[layer for layer, drop in zip(layers, drops) if not drop]`; None where the entries are more than chosen."""
    loop, name = node.for_in, node.elt.value if isinstance(node.elt, cst.Name) else ""
    if loop.inner_for_in is not None or any(name in tree.names_read(i.test) for i in loop.ifs):
        return None
    if isinstance(loop.target, cst.Name):
        return loop.iter if loop.target.value == name else None
    call, parts = loop.iter, getattr(loop.target, "elements", [])
    places = [i for i, e in enumerate(parts) if isinstance(e.value, cst.Name) and e.value.value == name]
    if not isinstance(call, cst.Call) or len(places) != 1:
        return None
    if tree.dotted(call.func) == "zip" and len(call.args) == len(parts):
        return call.args[places[0]].value
    return call.args[0].value if tree.dotted(call.func) == "enumerate" and places == [1] and len(parts) == 2 else None
