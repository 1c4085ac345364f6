"""A module that defines `__call__` in place of `forward` is run by it all the same: it becomes `forward` before facts are gathered."""

from __future__ import annotations

from typing import Any

import libcst as cst

from .. import tree
from ..project import ModuleInfo, Project


def run(project: Project) -> set[ModuleInfo]:
    """Rename them in the files of a linked project, which is to be linked again. Returns the files that are new."""
    found: set[ModuleInfo] = set()
    for module in list(project.modules.values()):
        classes = {id(c.node) for c in module.all_classes if "__call__" in c.methods and c.is_module and not any("forward" in m.methods for m in c.family())}
        if classes:
            found.add(project.add(module.path, tree.rewrite(module.tree, None, lambda n, classes=classes: _renamed(n) if id(n) in classes else n, only={cst.ClassDef})))
    return found


def _renamed(node: Any) -> Any:
    body = [tree.replace(s, name=cst.Name("forward")) if isinstance(s, cst.FunctionDef) and s.name.value == "__call__" else s for s in tree.body_statements(node)]
    return tree.with_body(node, body)
