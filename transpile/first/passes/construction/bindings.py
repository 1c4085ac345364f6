"""Which names and attributes the statements of a constructor bind, and how often."""

from __future__ import annotations

import collections
from typing import Any

import libcst as cst

from ... import tree
from ...context import KEY
from ...host_effects import GROWING
from .initial_values import registered_name


def assigned(node: cst.CSTNode) -> set[str]:
    """Local names that a piece of code assigns."""
    found: set[str] = set()
    n: Any
    for n in tree.nodes(node, cst.Assign, cst.For, cst.AugAssign, cst.AnnAssign, cst.CompFor, cst.FunctionDef):
        if isinstance(n, cst.FunctionDef):
            found.add(n.name.value)
            continue
        targets = [t.target for t in n.targets] if isinstance(n, cst.Assign) else [n.target]
        found.update(name for target in targets for name in tree.target_names(target))
    return found


def surely_assigned(statement: Any) -> set[str]:
    """Names that a statement binds whichever way its conditions go; loops are taken to make a turn."""
    if isinstance(statement, cst.If):
        ways = (tree.body_statements(statement), tree.else_statements(statement))
        return set.intersection(*({n for s in way for n in surely_assigned(s)} for way in ways))
    return set(tree.names_assigned(statement))


def unsteady(function: cst.FunctionDef, inside: bool = False) -> set[str]:
    """Names that a function gives more than one value: assigned twice or in a loop, or a parameter assigned again; with
    `inside`, for code that may stand in a comprehension, the names of comprehensions too."""
    parameters = {p.name.value for p in [*function.params.params, *function.params.kwonly_params]}
    counts: dict[str, int] = {}

    def note(target: Any, by: int) -> None:
        for name in tree.target_names(target):
            counts[name] = counts.get(name, int(name in parameters)) + by

    def visit(node: cst.CSTNode, in_loop: bool) -> None:
        by = 2 if in_loop else 1
        if isinstance(node, cst.Assign):
            for t in node.targets:
                note(t.target, by)
        elif isinstance(node, (cst.AugAssign, cst.AnnAssign)):
            note(node.target, by)
        elif isinstance(node, cst.For) or inside and isinstance(node, cst.CompFor):
            note(node.target, 2)
        for child in tree.children(node):
            if not isinstance(child, (cst.FunctionDef, cst.ClassDef)):
                visit(child, in_loop or isinstance(node, (cst.For, cst.While)))

    visit(function.body, False)
    return {n for n, c in counts.items() if c > 1}


def changed_attributes(node: cst.FunctionDef, self_name: str) -> set[str]:
    """Attributes of self that a constructor sets more than once, or stores into: `self.grid[:, 0] = …`."""
    counts: collections.Counter[str] = collections.Counter()
    n: Any
    for n in tree.nodes(node.body, cst.Assign, cst.AugAssign):
        targets: list[Any] = [t.target for t in n.targets] if isinstance(n, cst.Assign) else [n.target]
        while targets:
            target = targets.pop()
            if isinstance(target, (cst.Tuple, cst.List)):
                targets.extend(e.value for e in target.elements)
                continue
            times = 2 if isinstance(n, cst.AugAssign) else 1
            while isinstance(target, cst.Subscript):
                target, times = target.value, 2
            if isinstance(target, cst.Attribute) and tree.code(target.value) == self_name:
                counts[target.attr.value] += times
    buffers = [n for n in tree.nodes(node.body, cst.Call) if tree.dotted(n.func) == f"{self_name}.register_buffer"]
    counts.update(name for n in buffers if (name := registered_name(n)) is not None)
    return {name for name, times in counts.items() if times > 1}


def growing(function: cst.FunctionDef, value: cst.CSTNode) -> set[str]:
    """Names of lists and the like that a function changes after it has come to a value, or in the same loop."""
    nodes = list(tree.walk(function.body))
    here = next((i for i, n in enumerate(nodes) if n is value), 0)
    spans = [(i, i + sum(1 for _ in tree.walk(n))) for i, n in enumerate(nodes[:here]) if isinstance(n, (cst.For, cst.While))]
    after = min([here, *(start for start, end in spans if here < end)])
    found: set[str] = set()
    for node in nodes[after:]:
        holder: Any = node.target if isinstance(node, (cst.AssignTarget, cst.AugAssign)) else None
        if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and node.func.attr.value in GROWING:
            found.update([node.func.value.value] if isinstance(node.func.value, cst.Name) else [])
        elif isinstance(holder, cst.Subscript):
            while isinstance(holder, cst.Subscript):
                holder = holder.value
            found.update([holder.value] if isinstance(holder, cst.Name) else [])
    return found


def only_computes(statement: Any) -> bool:
    """Whether a branch or loop does nothing but bind local names."""
    for node in tree.walk(statement):
        if isinstance(node, (cst.Return, cst.Raise, cst.FunctionDef, cst.With, cst.Try)):
            return False
        if isinstance(node, cst.SimpleStatementLine) and not all(isinstance(small, (cst.Assign, cst.AugAssign, cst.Pass, cst.Break, cst.Continue)) for small in node.body):
            return False
        if isinstance(node, cst.AssignTarget) and not isinstance(node.target, (cst.Name, cst.Tuple)) or isinstance(node, cst.AugAssign) and not isinstance(node.target, cst.Name):
            return False
    return True


def has_key(node: cst.CSTNode) -> bool:
    """Whether a piece of code draws random numbers."""
    return any(n.value == KEY for n in tree.nodes(node, cst.Name))
