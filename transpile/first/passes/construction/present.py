"""What an initialiser reads that has other values by the time that `init` calls it: it keeps the present ones as defaults.

    nn.init.constant_(line.weight, self.c)    ->    nn.reinitialise(line, "weight", lambda weight, key, c=self.c: …)
    self.c = 7.0
"""

from __future__ import annotations

import libcst as cst

from ... import tree
from ...context import Context
from ...project import FunctionInfo
from ...values import Module, Tensor
from .attribute_names import AttributeNames


def changing(context: Context, names: AttributeNames, info: FunctionInfo, value: cst.CSTNode) -> dict[str, str]:
    """The attributes in a piece of code of a function that have several values while a model is built, and how to keep each."""
    called = {id(n.func) for n in tree.nodes(value, cst.Call)}
    found: dict[str, str] = {}
    for node in tree.nodes(value, cst.Attribute):
        code, held = tree.dotted(node), context.value(node)
        if code is None or id(node) in called or isinstance(held, Module) or isinstance(held, Tensor) and held.param:
            continue
        base, owner = context.value(node.value), info.owner
        if isinstance(base, Module) and base.is_self and owner is not None:
            if names.changes(owner, node.attr.value):
                found[code] = names.keeping(owner, code)
        elif code in _set(info.node):
            found[code] = code
    return found


def _set(function: cst.FunctionDef) -> set[str]:
    """The attributes of other objects that a function sets: `config.std = 2.0`."""
    targets = [t.target for n in tree.nodes(function.body, cst.Assign) for t in n.targets] + [n.target for n in tree.nodes(function.body, cst.AugAssign)]
    return {tree.dotted(t) or "" for t in targets if isinstance(t, cst.Attribute)}
