"""A module that defines `__call__` in place of `forward` is run by it all the same: it becomes `forward` before facts are gathered."""

from __future__ import annotations

from typing import Any

import libcst as cst

from .. import tree
from ..project import ModuleInfo, Project


def run(project: Project) -> bool:
    """Rename them in the files of a linked project. Returns whether there were any: the project is then to be linked again."""
    found = [(module, classes) for module in project.modules.values() if (classes := _called(module))]
    for module, classes in found:
        project.add(module.path, _with_forward(module.tree, classes))
    return bool(found)


def _called(module: ModuleInfo) -> set[int]:
    """The ids of the class nodes."""
    return {id(c.node) for c in module.all_classes if "__call__" in c.methods and c.is_module and not any("forward" in m.methods for m in c.family())}


def _with_forward(module: cst.Module, classes: set[int]) -> Any:
    return tree.rewrite(module, None, lambda n: _renamed(n) if id(n) in classes else n, only={cst.ClassDef})


def _renamed(node: Any) -> Any:
    body = [tree.replace(s, name=cst.Name("forward")) if isinstance(s, cst.FunctionDef) and s.name.value == "__call__" else s for s in tree.body_statements(node)]
    return tree.with_body(node, body)
