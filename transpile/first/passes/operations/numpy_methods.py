"""Methods that NumPy and torch call alike but compute otherwise, of what may be an array of either."""

from __future__ import annotations

from typing import Any

import libcst as cst

from ... import tree
from ...infer import ORDINARY, SHARED, may_be_numpy
from ...project import ClassInfo, FunctionInfo
from ...values import Method, Tensor, is_anything
from .walk import Walk

_PAIRS = "gives the values alone, torch's the values and the indices"
_OTHERWISE = {
    "std": "divides by n, torch's by n - 1",
    "var": "divides by n, torch's by n - 1",
    "max": _PAIRS,
    "min": _PAIRS,
    "sort": "sorts in place and gives None, torch's gives the values and the indices",
    "repeat": "repeats each element, torch's the whole",
    "nonzero": "gives a tuple of arrays, torch's one array",
}
_QUESTIONS = frozenset({"torch.is_tensor", "torch.from_numpy", "torch.Tensor"})  # which tell of arrays of both kinds
_OF_TORCH = frozenset({"dim", "keepdim", "unbiased", "correction", "descending", "stable", "as_tuple"})


def told(walk: Walk, node: cst.Call, func: cst.Attribute, method: Method) -> None:
    """Report a method of what is taken for a tensor, outside of forward passes, where NumPy's would compute something else."""
    name = method.name
    if name not in _OTHERWISE or any(a.keyword is not None and a.keyword.value in _OF_TORCH for a in node.args):
        return
    if _OTHERWISE[name] is _PAIRS and (not node.args or _is_unpacked(walk, node)):
        return
    if _may_be_given_numpy(walk, walk.info, node) and _is_open(walk, walk.info, func.value, method):
        walk.context.report("taken-for-granted", node, f"{tree.code(func.value)} is taken for a tensor: NumPy's {name} {_OTHERWISE[name]}")


def _is_unpacked(walk: Walk, node: cst.Call) -> bool:
    """`_, predicted = outputs.max(1)`"""
    return any(a.value is node and isinstance(a.targets[0].target, (cst.Tuple, cst.List)) for a in tree.nodes(walk.body, cst.Assign))


def _may_be_given_numpy(walk: Walk, info: FunctionInfo | None, node: cst.Call) -> bool:
    """Whether code is run by no forward pass, and knows arrays of NumPy's; what a module has may be, but for what trains it."""
    facts = walk.context.facts
    if facts.in_forward(info):
        return False
    host = facts.on_host(info)
    owner = info.outermost.owner if info is not None else None
    if owner is not None and (owner.is_module or owner.is_autograd_function) and not host:
        return False
    told = {"numpy", "pandas"} & {n.partition(".")[0] for n in walk.context.module.imports.values()}
    return bool(told) or any(a.keyword is not None and a.keyword.value == "axis" for a in node.args) or owner is not None and _is_of_any_library(walk, owner)


def _is_of_any_library(walk: Walk, owner: ClassInfo) -> bool:
    """Whether a class asks nothing that only torch has: a scaler that fits what it is given."""
    if owner.is_module or owner.is_autograd_function:
        return False
    find, resolve = walk.context.rulebook.find, walk.context.facts.project.resolve
    for node in tree.nodes(owner.node, cst.Name, cst.Attribute):
        name = resolve(owner.module, tree.dotted(node) or "?")
        if isinstance(name, str) and name.startswith("torch.") and name not in _QUESTIONS:
            return False
        if isinstance(node, cst.Attribute) and node.attr.value not in SHARED | ORDINARY and find(f"torch.Tensor.{node.attr.value}"):
            return False
    return True


def _is_open(walk: Walk, info: FunctionInfo | None, subject: Any, method: Method) -> bool:
    """Whether nothing says that a receiver is a tensor: of a parameter, its shape may be asked for."""
    receiver = method.receiver
    if is_anything(receiver) or isinstance(receiver, Method):
        return True
    if info is None or not isinstance(receiver, Tensor) or not isinstance(subject, cst.Name) or subject.value not in tree.parameter_names(info.node):
        return False
    facts = walk.context.facts
    return facts.known_parameters(info).get(subject.value) is None and may_be_numpy(facts, info, subject.value)
