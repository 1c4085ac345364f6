"""The setter of a property, where the module's own methods write by it, is a method: `self.scale = v` is `self.set_scale(v)`.

The analysis takes what a method assigns for an attribute of that name, which a property with a setter is not.
"""

from __future__ import annotations

from typing import Any

import libcst as cst

from . import tree
from .emit import fresh_name, unaugmented


def with_setters_called(node: cst.ClassDef) -> Any:
    """A class of modules with its setters as methods."""
    methods = [s for s in tree.body_statements(node) if isinstance(s, cst.FunctionDef)]
    setters = {m.name.value: m for m in methods if any(tree.code(d.decorator) == f"{m.name.value}.setter" for d in m.decorators)}
    if not any(m.name.value == "forward" for m in methods):
        return node
    targets: list[Any] = [t for m in methods for t in tree.nodes(m.body, cst.AssignTarget, cst.AugAssign)]
    written = {tree.dotted(t.target) for t in targets}
    used = {m.name.value for m in methods}
    names = {f"self.{name}": fresh_name(used, f"set_{name}") for name in setters if f"self.{name}" in written}
    if not names:
        return node

    def statement(line: Any) -> Any:
        small = tree.only_small(line)
        if isinstance(small, cst.AugAssign) and tree.dotted(small.target) in names:
            small = cst.Assign([cst.AssignTarget(small.target)], unaugmented(small))
        target = tree.dotted(small.targets[0].target) if isinstance(small, cst.Assign) and len(small.targets) == 1 else None
        if target not in names:
            return line
        call = cst.Call(tree.expression(f"self.{names[target]}"), [cst.Arg(small.value)])
        return tree.replace(line, body=[cst.Expr(call)])

    def method(m: Any) -> Any:
        if not isinstance(m, cst.FunctionDef):
            return m
        new = tree.rewrite(m, None, statement, only={cst.SimpleStatementLine})
        if m is setters.get(m.name.value) and f"self.{m.name.value}" in names:
            new = tree.replace(new, name=cst.Name(names[f"self.{m.name.value}"]), decorators=[])
        return new

    return tree.with_body(node, [method(s) for s in tree.body_statements(node)])
