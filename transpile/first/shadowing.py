"""Attributes that would hide the methods that a module has here: `self.init = "ortho"` is `self.init_ = "ortho"`."""

from __future__ import annotations

from typing import Any

import libcst as cst

from . import tree

_METHODS = frozenset({"init", "init_state"})


def without_shadowing(module: cst.Module) -> cst.Module:
    """A file whose classes with a `forward` keep such values under other names, as those that extend them do."""
    classes = [c for c in module.body if isinstance(c, cst.ClassDef)]
    hidden = {c.name.value: names for c in classes if (names := _hidden(c))}
    for c in classes:  # a base stands before its heirs
        for base in c.bases:
            hidden[c.name.value] = hidden.get(c.name.value, set()) | hidden.get(tree.code(base.value), set())
    if not any(hidden.values()):
        return module
    body = [_renamed(c, hidden.get(c.name.value, set())) if isinstance(c, cst.ClassDef) else c for c in module.body]
    return tree.replace(module, body=body)


def _hidden(cls: cst.ClassDef) -> set[str]:
    """The names that a module's class assigns, and has no method of."""
    methods = {s.name.value for s in tree.body_statements(cls) if isinstance(s, cst.FunctionDef)}
    nodes: list[Any] = list(tree.nodes(cls, cst.AssignTarget, cst.AnnAssign)) if "forward" in methods else []
    registered = {_registered(n) for n in tree.nodes(cls, cst.Call)} if "forward" in methods else set()
    assigned = {n.target.attr.value for n in nodes if _is_own(n.target)}
    return {name for name in assigned | registered if name in _METHODS - methods}


def _renamed(cls: cst.ClassDef, names: set[str]) -> Any:
    def after(node: Any) -> Any:
        if isinstance(node, cst.Call):
            name = node.args[0] if _registered(node) in names else None
            return node if name is None else tree.replace(node, args=[tree.replace(name, value=cst.SimpleString(f'"{_registered(node)}_"')), *node.args[1:]])
        return tree.replace(node, attr=cst.Name(f"{node.attr.value}_")) if _is_own(node) and node.attr.value in names else node

    return tree.rewrite(cls, None, after, only={cst.Attribute, cst.Call}) if names else cls


def _registered(call: Any) -> str | None:
    """The name in `self.register_buffer("init", x)`."""
    registers = isinstance(call.func, cst.Attribute) and _is_own(call.func) and call.func.attr.value in ("register_buffer", "register_parameter", "add_module", "register_module")
    name = call.args[0].value if registers and call.args else None
    return str(name.evaluated_value) if isinstance(name, cst.SimpleString) else None


def _is_own(node: Any) -> bool:
    """`self.name`"""
    return isinstance(node, cst.Attribute) and isinstance(node.value, cst.Name) and node.value.value == "self"
