"""Submodules that a constructor puts in several places: torch trains one, and here each place has params of its own."""

from __future__ import annotations

from collections.abc import Iterator, Set
from typing import Any

import libcst as cst

from . import tree
from .arrays import Arrays
from .context import Context
from .effects import Effects
from .project import ClassInfo, FunctionInfo
from .values import Module

_ADDING = ("append", "add_module", "insert", "extend", "register_module")


def report(context: Context, cls: ClassInfo, running: Set[FunctionInfo], effects: Effects, arrays: Arrays) -> None:
    """Report each module with params that two attributes hold, below or beside each other, and that run through both."""
    init = cls.methods.get("__init__")
    if init is None or init.self_name is None:
        return
    places: dict[str, tuple[Any, set[str]]] = {}
    for attribute, node in _placed(context, init, effects):
        name = tree.dotted(node) or ""
        own = {name.split(".")[1]} if name.startswith(f"{init.self_name}.") else set()
        alias = arrays.alias(cls, attribute)  # a second name for what the first holds
        places.setdefault(name, (node, own))[1].add(attribute if alias is None else alias.source[0])
    if not any(len(attributes) > 1 for _, attributes in places.values()):
        return
    used = {n.attr.value for f in running if f.owner in cls.family() for n in tree.nodes(f.node, cst.Attribute) if tree.dotted(n.value) == f.self_name}
    for name, (node, attributes) in places.items():
        found = sorted(attributes & used)
        if len(found) > 1:
            message = f"{name} is one module in {' and '.join(found)}: each has params of its own here, so that training makes them differ; tie them, or add their gradients"
            context.report("shared-module", node, message)


def _placed(context: Context, init: FunctionInfo, effects: Effects) -> Iterator[tuple[str, Any]]:
    """An attribute of self, and what is put into it or below it."""
    once = tree.bound_once(init.node.body) | {p.name.value for p in init.parameters()} - set(tree.names_assigned(init.node.body))
    for node in tree.nodes(init.node.body, cst.Assign, cst.Call):
        if isinstance(node, cst.Assign):
            attribute = _own(node.targets[0].target, init)
            inside = node.value if isinstance(node.value, (cst.Call, cst.Name)) and isinstance(context.value(node.value), Module) else None
        else:
            assert isinstance(node, cst.Call)
            adds = isinstance(node.func, cst.Attribute) and node.func.attr.value in _ADDING
            attribute = _own(node.func.value, init) if adds else None  # type: ignore[attr-defined]
            inside = node
        if attribute is None or inside is None:
            continue
        for part in [inside] if isinstance(inside, cst.Name) else _given(inside):
            value = context.value(part)
            known = isinstance(part, cst.Name) and part.value in once or _own(part, init) is not None
            if known and isinstance(value, Module) and not value.is_self and value.classes and "params" in effects.module(value):
                yield attribute, part


def _given(call: cst.Call) -> Iterator[Any]:
    """The names and attributes that a call is given, in lists too; `body.width` gives no body."""
    todo: list[Any] = [a.value for a in call.args]
    while todo:
        node = todo.pop()
        if isinstance(node, (cst.Name, cst.Attribute)):
            yield node
        elif isinstance(node, cst.Call):
            todo.extend(a.value for a in node.args)
        else:
            todo.extend(tree.children(node))


def _own(node: Any, init: FunctionInfo) -> str | None:
    """The name in `self.name`."""
    if isinstance(node, cst.Attribute) and tree.dotted(node.value) == init.self_name:
        return node.attr.value
    return None
