"""Sizes that are handed on in a tensor, as TorchScript once asked for, are handed on in a list, before facts are gathered.

    def fused(a, b, n_channels):                          acts = fused(x, g, [self.channels])
        n = n_channels[0]                           ->
        return torch.tanh(a[:, :n]) * b[:, n:]
    …
    acts = fused(x, g, torch.IntTensor([self.channels]))

An element of a tensor is no size under jax.jit, whatever it was made of.
"""

from __future__ import annotations

from typing import Any

import libcst as cst

from . import tree
from .project import FunctionInfo, ModuleInfo, Project

_TENSORS = frozenset({"torch.IntTensor", "torch.LongTensor", "torch.tensor"})


def run(project: Project) -> bool:
    """Hand them on in lists in the files of a linked project. Returns whether there were any: the project is then to be linked again."""
    functions = [f for m in project.modules.values() for f in m.all_functions]
    taking = {f: names for f in functions if f.owner is None and (names := frozenset(p.name.value for p in f.parameters() if _holds_sizes(f, p.name.value)))}
    if not taking:
        return False
    lists: dict[int, Any] = {}  # id of a call that makes a tensor -> the list that it is made of
    for module in project.modules.values():
        lists |= _given(project, module, taking)
    if not lists:
        return False
    for module in list(project.modules.values()):
        new = tree.rewrite(module.tree, lambda n: lists.get(id(n)), only={cst.Call})
        if new is not module.tree:
            project.add(module.path, new, module.source)
    return True


def _holds_sizes(function: FunctionInfo, name: str) -> bool:
    """Whether a function takes nothing but elements of a parameter, and those only to slice by."""
    body = function.node.body
    elements = {id(n.value): n for n in tree.nodes(body, cst.Subscript) if tree.dotted(n.value) == name and tree.code(n.slice[0].slice).isdecimal()}
    reads = [n for n in tree.nodes(body, cst.Name) if n.value == name]
    if not elements or len(reads) != len(elements) or any(id(n) not in elements for n in reads):
        return False
    named = {a.targets[0].target.value: a.value for a in tree.nodes(body, cst.Assign) if a.value in elements.values() and isinstance(a.targets[0].target, cst.Name)}
    targets = {id(a.targets[0].target) for a in tree.nodes(body, cst.Assign)}
    bounds = {id(part) for s in tree.nodes(body, cst.Slice) for part in tree.walk(s)}
    uses = [n for n in tree.nodes(body, cst.Name) if n.value in named and id(n) not in targets]
    sliced = all(id(n) in bounds for n in uses) and all(id(e) in bounds or e in named.values() for e in elements.values())
    return sliced and named.keys() <= tree.bound_once(body) and (bool(uses) or not named)


def _given(project: Project, module: ModuleInfo, taking: dict[FunctionInfo, frozenset[str]]) -> dict[int, Any]:
    """The tensors of sizes that the functions of a file hand on, with the lists that they are made of."""
    found: dict[int, Any] = {}
    for function in module.all_functions:
        handed: dict[str, int] = {}  # how often a local is handed on as sizes
        for call in tree.nodes(function.node.body, cst.Call):
            target = project.resolve(module, tree.dotted(call.func) or "")
            if not isinstance(target, FunctionInfo) or target not in taking or any(a.star for a in call.args):
                continue
            for name, value in target.given(call).items():
                if name in taking[target] and isinstance(value, cst.Name):
                    handed[value.value] = handed.get(value.value, 0) + 1
                elif name in taking[target] and (made := _list(project, module, value)) is not None:
                    found[id(value)] = made
        for name, count in handed.items():
            assigned = [a for a in tree.nodes(function.node.body, cst.Assign) if [tree.dotted(t.target) for t in a.targets] == [name]]
            reads = sum(n.value == name for n in tree.nodes(function.node.body, cst.Name))
            if len(assigned) == 1 and reads == count + 1 and (made := _list(project, module, assigned[0].value)) is not None:
                found[id(assigned[0].value)] = made
    return found


def _list(project: Project, module: ModuleInfo, node: Any) -> Any:
    """The list that a tensor is made of, `[n]` of `torch.IntTensor([n])`; None of anything else."""
    if not isinstance(node, cst.Call) or project.resolve(module, tree.dotted(node.func) or "") not in _TENSORS or len(node.args) != 1:
        return None
    return node.args[0].value if isinstance(node.args[0].value, cst.List) else None
