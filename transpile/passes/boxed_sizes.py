"""Sizes that are handed on in a tensor, as TorchScript once asked for, are handed on in a list; on
syntax, before facts are gathered.

    def fused(a, b, n_channels):                          acts = fused(x, g, [self.channels])
        n = n_channels[0]                           →
        return torch.tanh(a[:, :n]) * b[:, n:]
    …
    acts = fused(x, g, torch.IntTensor([self.channels]))

An element of a tensor is no size under jax.jit, whatever it was made of.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from ..facts.memory.indices import number
from ..model.expressions import Call, Display, Name, Slice, Starred, Subscript
from ..model.names import bound_once, dotted, everywhere, is_target
from ..model.node import Expression, Node
from ..model.program import Function, Scope
from ..model.project import Project
from ..model.statements import Assign
from .pass_ import Changes, Pass

_TENSORS = frozenset({"torch.IntTensor", "torch.LongTensor", "torch.tensor"})
_Taking = dict[Function, frozenset[str]]  # the parameters that hold sizes


def run(project: Project, facts: Any = None) -> list[Changes]:
    """The lists of a project."""
    taking: _Taking = {}
    for function in project.functions():
        if project.owner(function) is None:
            named = (p.name for p in project.parameters(function))
            held = frozenset(name for name in named if _holds_sizes(function, name))
            if held:
                taking[function] = held
    if not taking:
        return []
    return [_in_scope(project, scope, taking) for f in project.ordered for scope in f.scopes()]


def _holds_sizes(function: Function, name: str) -> bool:
    """Whether a function takes nothing but elements of a parameter, and those only to slice by."""
    subscripts = [s for s in everywhere(function, Subscript) if dotted(s.object) == name]
    elements = [s for s in subscripts if (at := number(s.index)) is not None and at >= 0]
    reads = [n for n in everywhere(function, Name) if n.id == name]
    if not elements or len(reads) != len(elements):
        return False
    named = {}
    for assign in everywhere(function, Assign):
        target = assign.targets[0]
        if assign.expression in elements and isinstance(target, Name):
            named[target.id] = assign
    bounds = {part for s in everywhere(function, Slice) for part in s.walk()}
    uses = [n for n in everywhere(function, Name) if n.id in named and not is_target(n)]
    kept = {assign.expression for assign in named.values()}
    sliced = all(n in bounds for n in uses) and all(e in bounds or e in kept for e in elements)
    return sliced and named.keys() <= bound_once(function) and (bool(uses) or not named)


def _in_scope(project: Project, scope: Scope, taking: _Taking) -> Changes:
    """Lists in the place of the tensors of sizes that a scope hands on."""
    changes = Changes(scope)
    handed: Counter[str] = Counter()  # how often a local is handed on as sizes
    for call in scope.nodes(Call):
        for value in _handed(project, scope, call, taking):
            if isinstance(value, Name):
                handed[value.id] += 1
            elif _is_list(project, scope, value):
                changes.replace(value, _list)
    for name, count in handed.items():
        found = [a for a in scope.nodes(Assign) if [dotted(t) for t in a.targets] == [name]]
        reads = [n for n in everywhere(scope, Name) if n.id == name]
        made = found[0].expression if len(found) == 1 else None
        if made is not None and len(reads) == count + 1 and _is_list(project, scope, made):
            changes.replace(made, _list)
    return changes


def _handed(project: Project, scope: Scope, call: Call, taking: _Taking) -> list[Expression]:
    """What a call gives for parameters that hold sizes."""
    file = scope.file or call.file
    target = project.resolve(file, dotted(call.function) or "?") if file is not None else None
    if not isinstance(target, Function) or target not in taking:
        return []
    if any(isinstance(a, Starred) for a in call.arguments):
        return []
    names = iter([p.name for p in project.parameters(target) if p.kind != "="])
    pairs = [(w or next(names, ""), a) for w, a in zip(call.keywords, call.arguments)]
    return [argument for name, argument in pairs if name in taking[target]]


def _is_list(project: Project, scope: Scope, node: Expression) -> bool:
    """Whether it makes a tensor of a list: `torch.IntTensor([n])`."""
    file = scope.file or node.file
    if file is None or not isinstance(node, Call) or node.keywords != [None]:
        return False
    made = node.arguments[0]
    listed = isinstance(made, Display) and made.kind == "list"
    return listed and project.resolve(file, dotted(node.function) or "?") in _TENSORS


def _list(node: Node) -> Node:
    assert isinstance(node, Call)
    return node.arguments[0]


PASS = Pass("boxed_sizes", (), run, of_project=True)
