"""Properties that need params, read while a module is built: a method stands for each of them, and there are no params yet."""

from __future__ import annotations

import libcst as cst

from . import tree
from .context import Context
from .effects import Effects
from .project import FunctionInfo
from .values import Module


def report(context: Context, info: FunctionInfo, node: cst.FunctionDef, effects: Effects) -> None:
    """Report each property in a constructor that is a method of the output: `nn.Linear(self.tokens.n_tokens, 2)`."""
    for read in tree.nodes(node.body, cst.Attribute):
        base = context.value(read.value)
        found = context.facts.by_property(base, read.attr.value) if isinstance(base, Module) else None
        if found is not None and effects.functions.get(found.info, frozenset()) & {"params", "state"}:  # type: ignore[attr-defined]
            message = f"{read.attr.value} reads params, which {info.name} has none of: keep what it asks for on the module, as a number"
            context.report("module-value", read, message)
