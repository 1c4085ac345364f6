"""A submodule that a constructor keeps under a name only to put it into a container belongs to the container: the name is local.

    self.bn1 = nn.BatchNorm2d(64)                            bn1 = nn.BatchNorm2d(64)
    self.conv1 = nn.Sequential(                     ->       self.conv1 = nn.Sequential(
        nn.Conv2d(6, 64, 1), self.bn1, nn.ReLU())                nn.Conv2d(6, 64, 1), bn1, nn.ReLU())

torch has one set of params, under both names; here each name would have its own, and only one of them would be trained.
"""

from __future__ import annotations

import collections
from collections.abc import Iterator
from typing import Any

import libcst as cst

from .. import tree
from ..context import Context
from ..effects import MODULE_CONTAINERS
from ..infer import Inference
from ..project import ClassInfo, FunctionInfo
from ..values import UNKNOWN, Module

_ADDING = frozenset({"append", "extend", "insert"})
_BY_NAME = frozenset({"getattr", "hasattr", "setattr", "delattr"})
_LISTING = frozenset({"children", "named_children", "_modules"})

Found = dict[FunctionInfo, frozenset[str]]  # by constructor: the attributes that are local names


def find(facts: Inference) -> Found:
    """The local names in the whole project."""
    modules = facts.project.modules.values()
    candidates = {cls: names for m in modules for cls in m.all_classes if (names := _names(facts, cls))}
    wanted = {name for names in candidates.values() for name in names}
    reads = collections.defaultdict[str, list[cst.Attribute]](list)
    for module in modules if wanted else ():
        for node in tree.nodes(module.tree, cst.Attribute):
            if node.attr.value in wanted:
                reads[node.attr.value].append(node)
    found = {cls.methods["__init__"]: frozenset(n for n in names if not _is_read(facts, cls, n, reads[n])) for cls, names in candidates.items()}
    return {init: names for init, names in found.items() if names}


def run(context: Context, module: cst.Module, found: Found) -> cst.Module:
    """Rewrite the constructors of one file."""

    def before(node: Any) -> Any:
        info = context.facts.by_node.get(id(node))
        return _with_locals(context, node, info.self_name or "self", found[info]) if info in found else None

    return tree.rewrite(module, before, only={cst.FunctionDef}) if found else module


def _with_locals(context: Context, node: cst.FunctionDef, self_name: str, names: frozenset[str]) -> cst.FunctionDef:
    def local(attribute: Any) -> Any:
        if attribute.attr.value not in names or tree.dotted(attribute.value) != self_name:
            return attribute
        made = cst.Name(attribute.attr.value)
        context.facts.carry(attribute, made)
        return made

    new: cst.FunctionDef = tree.rewrite(node, None, local, only={cst.Attribute})
    context.facts.carry(node, new)
    return new


def _names(facts: Inference, cls: ClassInfo) -> frozenset[str]:
    """The attributes of a class that its constructor sets, perhaps adds to, and then reads once, to fill a container."""
    init = cls.methods.get("__init__")
    if not cls.is_module or init is None or init.self_name is None or _by_listing(cls):
        return frozenset()
    set_by = {small.targets[0].target.attr.value: small for small in _own_assignments(init)}
    placed = {name for small in set_by.values() for name in _placed(facts, small.value, init.self_name)}
    if not placed & set_by.keys():
        return frozenset()
    own = [n for n in tree.nodes(init.node.body, cst.Attribute) if tree.dotted(n.value) == init.self_name]
    times = collections.Counter(n.attr.value for n in own) - _added_to(init)
    taken = set(tree.names_assigned(init.node.body)) | tree.parameter_names(init.node) | tree.names_read(init.node)
    return frozenset(name for name in placed & set_by.keys() - taken if times[name] == 2 and _is_module(facts, set_by[name].value))


def _added_to(init: FunctionInfo) -> collections.Counter[str]:
    """How often a constructor adds to what an attribute holds: `self.layers.append(nn.ReLU())`."""
    added: list[Any] = [c.func for c in tree.nodes(init.node.body, cst.Call) if isinstance(c.func, cst.Attribute) and c.func.attr.value in _ADDING]
    return collections.Counter(f.value.attr.value for f in added if isinstance(f.value, cst.Attribute) and tree.dotted(f.value.value) == init.self_name)


def _own_assignments(init: FunctionInfo) -> Iterator[Any]:
    """The statements `self.name = …` that run whatever is decided."""
    for statement in tree.body_statements(init.node):
        small = tree.only_small(statement)
        if isinstance(small, cst.Assign) and len(small.targets) == 1:
            target = small.targets[0].target
            if isinstance(target, cst.Attribute) and tree.dotted(target.value) == init.self_name:
                yield small


def _placed(facts: Inference, node: Any, self_name: str) -> Iterator[str]:
    """The attributes of self that a container is filled with: `nn.Sequential(self.a, nn.ReLU())`, `nn.Sequential(*self.layers)`."""
    if not isinstance(node, cst.Call) or not _is_container(facts, node):
        return
    todo: list[Any] = [a.value for a in node.args]
    while todo:
        part = todo.pop()
        if isinstance(part, cst.Attribute) and tree.dotted(part.value) == self_name:
            yield part.attr.value
        elif isinstance(part, cst.Call) and _is_container(facts, part):
            todo.extend(a.value for a in part.args)
        elif isinstance(part, (cst.List, cst.Tuple, cst.Dict)):
            todo.extend(e.value for e in part.elements)


def _is_container(facts: Inference, call: cst.Call) -> bool:
    value = facts.of(call)
    return isinstance(value, Module) and bool(value.classes) and value.classes <= MODULE_CONTAINERS


def _is_module(facts: Inference, node: Any) -> bool:
    """Whether an expression makes a module, and one that may have params."""
    value = facts.of(node)
    return isinstance(node, cst.Call) and isinstance(value, Module) and not value.none and facts.may_have_arrays(value)


def _by_listing(cls: ClassInfo) -> bool:
    """Whether a class goes through its submodules by what they are called, or asks for them by computed names."""
    for function in (f for c in cls.family() for f in c.methods.values()):
        for node in tree.nodes(function.node.body, cst.Attribute, cst.Call):
            if isinstance(node, cst.Attribute) and node.attr.value in _LISTING and tree.dotted(node.value) == function.self_name:
                return True
            if isinstance(node, cst.Call) and tree.dotted(node.func) in _BY_NAME and node.args and tree.dotted(node.args[0].value) == function.self_name:
                return True
    return False


def _is_read(facts: Inference, cls: ClassInfo, name: str, nodes: list[cst.Attribute]) -> bool:
    """Whether other code has the attribute: a method or class variable of the family, or who holds an instance."""
    family = set(cls.family())
    if any(name in c.methods or name in c.assigned for c in family):
        return True
    own = {id(n) for n in tree.nodes(cls.methods["__init__"].node.body, cst.Attribute)}
    owners = [facts.of(n.value) for n in nodes if id(n) not in own]
    return any(owner == UNKNOWN or isinstance(owner, Module) and (not owner.refs or bool(family & set(owner.refs))) for owner in owners)
