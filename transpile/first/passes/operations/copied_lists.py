"""Copies of a module, which start equal in a list: `nn.ModuleList([copy.deepcopy(layer) for _ in range(n)])` is `nn.Copies(layer, n)`."""

from __future__ import annotations

from typing import Any

import libcst as cst

from ... import tree
from ...emit import call
from ...values import External, Module
from .walk import Walk


def made(walk: Walk, node: cst.Call, name: str) -> Any:
    """The list, where a call of torch's makes one of copies; None elsewhere.

    Copies of a submodule of self are left: `init` gives them what that submodule has by then.
    """
    listed = node.args[0].value if name == "torch.nn.ModuleList" and len(node.args) == 1 else None
    if not isinstance(listed, (cst.ListComp, cst.GeneratorExp)) or listed.for_in.ifs or listed.for_in.inner_for_in is not None:
        return None
    copied, over = _argument(walk, listed.elt, "copy.deepcopy"), _argument(walk, listed.for_in.iter, "builtins.range")
    if not isinstance(copied, cst.Name) or over is None or copied.value in tree.target_names(listed.for_in.target):
        return None
    copies = walk.context.rulebook.find("torch.nn.ModuleList[copies]")[0]
    return walk.done(node, call(walk.context.name(copies.name), [walk.convert(copied), walk.convert(over)]))


def told(walk: Walk, node: cst.Call) -> None:
    """Report another copy of a module that a constructor is given or makes: `self.target = copy.deepcopy(layer)`."""
    info, copied = walk.info, _argument(walk, node, "copy.deepcopy")
    if info is None or info.name != "__init__" or info.owner is None or not info.owner.is_module or not isinstance(copied, cst.Name):
        return
    if isinstance(walk.context.value(copied), Module):
        walk.context.report("taken-for-granted", node, f"first values may differ: this copy of {copied.value} draws its own in init, and torch's begins with those of {copied.value}")


def _argument(walk: Walk, node: Any, name: str) -> Any:
    """The only argument of a call of a function; None of other expressions."""
    plain = isinstance(node, cst.Call) and len(node.args) == 1 and not node.args[0].star
    return node.args[0].value if plain and walk.context.value(node.func) == External(name) else None
