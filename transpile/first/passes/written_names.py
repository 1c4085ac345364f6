"""Local names of arrays that code which builds models writes in place: what they stand for is written out.

    w, b = self.weight, self.bias                  init.ones_(self.weight)
    init.ones_(w)                       ->
    for p in (self.u, self.v):                     self.u.data.fill_(2.0)
        p.data.fill_(2.0)                          self.v.data.fill_(2.0)

There no alias follows a write: params are written by their paths alone.
"""

from __future__ import annotations

from collections.abc import Set
from functools import partial
from typing import Any

import libcst as cst

from .. import tree
from ..arrays import PARAMETER
from ..context import Context
from ..indices import index_kind
from ..inplace import is_inplace_name
from ..project import FunctionInfo
from ..values import Function, Method, Tensor


def run(context: Context, module: cst.Module, running: Set[FunctionInfo]) -> cst.Module:
    """Rewrite the functions of one file that do not run with the model's arrays."""

    def before(node: Any) -> Any:
        info = context.facts.by_node.get(id(node))
        if info is None or info in running:
            return node
        function = tree.rewrite(node, None, lambda n: _unrolled(context, n), only={cst.For})
        return _written_out(context, function, info.self_name)

    return tree.rewrite(module, before, only={cst.FunctionDef})  # type: ignore[no-any-return]


def _written_out(context: Context, function: cst.FunctionDef, self_name: str | None) -> cst.FunctionDef:
    """A function without the names for arrays that it writes by."""
    found = _Names(context, function)
    if not found.places and not found.own:
        return function

    def without(node: Any) -> Any:
        small = tree.only_small(node)
        if small in found.assignments:
            return cst.RemoveFromParent()
        if small in found.own:
            target = tree.replace(small.targets[0], target=copied(context, found.places[small.targets[0].target.value]))
            return tree.with_names(tree.replace(node, body=[tree.replace(small, targets=[target])]), place)
        return None

    def place(name: cst.Name) -> Any:
        return copied(context, found.places[name.value]) if name.value in found.places else None

    return tree.with_names(tree.rewrite(function, without, only={cst.SimpleStatementLine}), place)  # type: ignore[no-any-return]


class _Names:
    """The local names of one function that stand for an array throughout, and are written: what each stands for."""

    def __init__(self, context: Context, function: cst.FunctionDef) -> None:
        self.context, self.function = context, function
        self.times = tree.times_bound(function.body)
        self.times.subtract(n.target.value for n in tree.nodes(function.body, cst.AugAssign) if isinstance(n.target, cst.Name))
        written = written_names(context, function.body)
        self.places: dict[str, Any] = {}
        self.assignments: list[Any] = []  # those that bind them, and are not needed any more
        self.own: list[Any] = []  # those that bind them to parameters made there, which go by their attributes at once
        for block in tree.nodes(function, cst.IndentedBlock):
            self._made_here([small for s in block.body if (small := tree.only_small(s)) is not None])
        for statement in tree.nodes(function.body, cst.Assign) if written else ():
            pairs = [(name, tree.with_names(value, self._place)) for name, value in _pairs(statement)]
            if {name for name, _ in pairs} & written and all(self._stands_for(name, value, statement) for name, value in pairs):
                self.places.update(pairs)
                self.assignments.append(statement)

    def _place(self, name: cst.Name) -> Any:
        """What a name stands for in the value of another: w in `row = w[0]`."""
        return copied(self.context, self.places[name.value]) if name.value in self.places else None

    def _made_here(self, smalls: list[Any]) -> None:
        """`w = nn.Parameter(…)` with `self.weight = w` below it, among the statements of one block."""
        made = {t.target.value: s for s in smalls if isinstance(s, cst.Assign) and self.context.torch_name(s.value) in PARAMETER for t in s.targets if isinstance(t.target, cst.Name)}
        kept: list[Any] = [s for s in tree.nodes(self.function.body, cst.Assign) if isinstance(s.value, cst.Name) and s.value.value in made]
        for s in kept:
            target, name = s.targets[0].target, s.value.value
            if sum(tree.code(other.value) == name for other in kept) != 1 or self.times[name] != 1 or len(s.targets) != 1 or len(made[name].targets) != 1:
                continue
            if s in smalls and isinstance(target, cst.Attribute) and sum(tree.code(n.target) == tree.code(target) for n in tree.nodes(self.function.body, cst.AssignTarget)) == 1:
                self.places[name] = target
                self.assignments.append(s)
                self.own.append(made[name])

    def _stands_for(self, name: str, value: Any, statement: cst.Assign) -> bool:
        """Whether a name means an array of a module's, by a path that means the same wherever the name is used."""
        path = array_path(self.context, value)
        if path is None or self.times[name] != 1 or any(self.times[n] > 1 for n in tree.names_read(value)):
            return False
        augmented = any(isinstance(n.target, cst.Name) and n.target.value == name for n in tree.nodes(self.function.body, cst.AugAssign))
        return not (augmented and not isinstance(value, (cst.Attribute, cst.Subscript))) and not self._is_set_after(path, statement)

    def _is_set_after(self, path: Any, statement: cst.Assign) -> bool:
        """Whether something on the way to an array is replaced after the name was bound: `self.weight = nn.Parameter(w)`."""
        holders = {tree.code(path)}
        while isinstance(path, cst.Attribute):
            path = path.value
            holders.add(tree.code(path))
        after = False
        for n in tree.nodes(self.function.body, cst.Assign):
            after = after or n is statement
            if after and any(tree.code(t.target) in holders for t in n.targets):
                return True
        return False


def _pairs(statement: cst.Assign) -> list[tuple[str, Any]]:
    """The names that an assignment binds, each with its value; none where it binds anything else."""
    target, value = statement.targets[0].target, statement.value
    if len(statement.targets) != 1:
        return []
    if isinstance(target, cst.Name):
        return [(target.value, value)]
    if not isinstance(target, cst.Tuple) or not isinstance(value, cst.Tuple) or len(target.elements) != len(value.elements):
        return []
    return [(t.value.value, v.value) for t, v in zip(target.elements, value.elements)] if all(isinstance(t.value, cst.Name) for t in target.elements) else []  # type: ignore[attr-defined]


def array_path(context: Context, node: Any) -> Any:
    """The attribute `self.fc.weight` that an expression is, or is a view of: `self.fc.weight.data[0]`; None for others."""
    while True:
        if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and _is_view(context, node.func.attr.value):
            if not isinstance(context.value(node.func), Method):
                return None
            node = node.func.value
        elif isinstance(node, cst.Subscript) and _is_array(context, node.value):
            if index_kind(context, node.slice) != "basic":
                return None  # a copy
            node = node.value
        elif isinstance(node, cst.Attribute) and node.attr.value in ("data", "T") and _is_array(context, node.value):
            node = node.value
        else:
            return node if isinstance(node, cst.Attribute) and tree.dotted(node) is not None and _is_array(context, node) else None


def _is_view(context: Context, method: str) -> bool:
    return method in ("detach", "t") or context.rulebook.table("VIEWS").get(method) in ("reshape", "swap")


def _is_array(context: Context, node: Any) -> bool:
    return isinstance(context.value(node), Tensor) or isinstance(node, cst.Attribute) and node.attr.value in context.rulebook.array_names


def written_names(context: Context, node: cst.CSTNode) -> set[str]:
    """The names whose arrays a piece of code writes in place, or passes to a function that may."""
    found: set[str | None] = set()
    n: Any
    for n in tree.nodes(node, cst.Call, cst.AssignTarget, cst.AugAssign):
        if isinstance(n, cst.Call):
            name = n.func.attr.value if isinstance(n.func, cst.Attribute) else n.func.value if isinstance(n.func, cst.Name) else ""
            if is_inplace_name(name) or isinstance(context.value(n.func), Function):
                found |= {_root(part) for part in (n.func, *(a.value for a in n.args))}
        elif isinstance(n, cst.AugAssign) or isinstance(n.target, cst.Subscript) or isinstance(n.target, cst.Attribute) and n.target.attr.value == "data":
            found.add(_root(n.target))
    for n in reversed(list(tree.nodes(node, cst.Assign))):
        if any(name in found for target in n.targets for name in tree.target_names(target.target)):
            found.add(_root(n.value))  # w of `row = w[0]`, where row is written
    return {name for name in found if name is not None}


def _root(node: Any) -> str | None:
    """The name at the beginning of `w.data[0].view(3, 1)`."""
    while isinstance(node, (cst.Attribute, cst.Subscript, cst.Call)):
        node = node.func if isinstance(node, cst.Call) else node.value
    return node.value if isinstance(node, cst.Name) else None


def _unrolled(context: Context, node: Any) -> Any:
    """A loop over arrays that are written out, and that it writes: its turns one after the other."""
    if not isinstance(node.iter, (cst.Tuple, cst.List)) or not isinstance(node.target, cst.Name) or node.orelse is not None:
        return node
    name, parts = node.target.value, [e.value for e in node.iter.elements]
    body = tree.body_statements(node)
    if not parts or any(array_path(context, part) is None for part in parts) or name not in written_names(context, node.body):
        return node
    if tree.times_bound(node.body)[name] or any(tree.jumps(s) for s in body) or any(True for _ in tree.nodes(node.body, cst.FunctionDef, cst.Lambda)):
        return node
    turns = [tree.with_names(copied(context, s), partial(_in_place_of, context, name, part)) for part in parts for s in body]
    return cst.FlattenSentinel([tree.replace(turns[0], leading_lines=[*node.leading_lines, *turns[0].leading_lines]), *turns[1:]])


def _in_place_of(context: Context, name: str, part: Any, node: cst.Name) -> Any:
    return copied(context, part) if node.value == name else None


def copied(context: Context, node: Any) -> Any:
    """A copy of new nodes with the facts of the old."""

    def copy(old: Any) -> Any:
        new = tree.replace(old)
        context.facts.carry(old, new)
        return new

    return tree.rewrite(node, None, copy)
