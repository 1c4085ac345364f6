"""Checkpointing as guided-diffusion has it, and what grew from that: `checkpoint(self._forward, (x, emb), self.parameters(), flag)`.

The function of the project's own saves the params by hand, for torch.autograd.grad. What it computes is `self._forward(x, emb)`,
checkpointed where the flag is set, and so it is written.
"""

from __future__ import annotations

from typing import Any

import libcst as cst

from . import tree


def written_plainly(module: cst.Module) -> cst.Module:
    """A file with torch's own checkpoint in these calls; one that does not import torch stays as it is."""
    torch = next((a.asname.name if a.asname is not None else a.name for i in tree.nodes(module, cst.Import) for a in i.names if tree.code(a.name) == "torch"), None)
    if torch is None:
        return module

    def after(call: Any) -> Any:
        if not _is_own_checkpoint(call):
            return call
        function, inputs, _, flag = (a.value for a in call.args)
        args = [cst.Arg(e.value) for e in inputs.elements]
        saved = cst.Call(tree.expression(f"{tree.code(torch)}.utils.checkpoint.checkpoint"), [cst.Arg(function), *args])
        if tree.code(flag) == "True":
            return saved
        plain = cst.Call(function.deep_clone(), [cst.Arg(a.value.deep_clone()) for a in args])
        return cst.IfExp(flag, saved, plain, lpar=[cst.LeftParen()], rpar=[cst.RightParen()])

    return tree.rewrite(module, None, after, only={cst.Call})  # type: ignore[no-any-return]


def _is_own_checkpoint(call: cst.Call) -> bool:
    """By its form: a method, a tuple of what it is called with, the params of self, and a flag."""
    if len(call.args) != 4 or any(a.star or a.keyword is not None for a in call.args) or (tree.dotted(call.func) or "").rpartition(".")[2] != "checkpoint":
        return False
    function, inputs, params, flag = (a.value for a in call.args)
    plain = isinstance(inputs, cst.Tuple) and all(isinstance(e, cst.Element) and isinstance(e.value, (cst.Name, cst.Attribute)) for e in inputs.elements)
    return plain and (tree.dotted(function) or "").startswith("self.") and tree.code(params) == "self.parameters()" and isinstance(flag, (cst.Name, cst.Attribute))
