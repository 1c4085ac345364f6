"""What code that builds a model, or runs beside it, reads of arrays that are yet to be made: of their shapes `init` is asked, all else raises.

    height = self.conv.weight.shape[0]          ->    height = nn.shape(self.conv, "weight")[0]
    mask = torch.ones_like(self.weight)         ->    mask = jnp.ones(nn.shape(super(), "weight"))
    kernel = self.icnr(self.conv.weight)        ->    kernel = self.icnr(nn.unconverted(…))
"""

from __future__ import annotations

from typing import Any

import libcst as cst

from ... import tree
from ...arrays import Arrays
from ...context import Context
from ...project import ClassInfo, FunctionInfo
from ...values import Module, Tensor
from .questions import NO_ARRAYS, Asked, Find, by_path, fact, made_like, presence

_SEEN = {cst.AssignTarget, cst.AnnAssign, cst.AugAssign, cst.Attribute, cst.Call, cst.Comparison, cst.Del, cst.FunctionDef, cst.Lambda}


def asked_or_refused(context: Context, node: cst.FunctionDef, info: FunctionInfo, arrays: Arrays) -> cst.FunctionDef:
    """A function that is given no params, without reads of arrays that modules have in torch."""

    def find(n: Any) -> Asked | None:
        if not isinstance(n, cst.Attribute) or not _is_unmade(context, arrays, info, n):
            return None
        base = context.value(n.value)
        inherited = isinstance(base, Module) and base.is_self and info.owner is not None and arrays.find(info.owner, n.attr.value) is None
        return Asked("super()", n.attr.value) if inherited else by_path(n)  # of the layer that the class extends

    def before(n: Any) -> Any:
        if isinstance(n, (cst.AssignTarget, cst.Del, cst.FunctionDef, cst.Lambda)):  # what is called later may have them
            return n
        if isinstance(n, (cst.AnnAssign, cst.AugAssign)):
            return n if n.value is None else tree.replace(n, value=tree.rewrite(n.value, before, only=_SEEN))
        if isinstance(n, (cst.Call, cst.Comparison)):
            return presence(context, n, find) or made_like(context, n, find)
        if (known := fact(context, n, find)) is not None:
            return known
        return context.unconverted("module-value", n, NO_ARRAYS) if find(n) is not None else None

    body = tree.rewrite(_named_there(node, find), before, only=_SEEN)
    return node if body is node.body else tree.replace(node, body=body)


def _named_there(node: cst.FunctionDef, find: Find) -> Any:
    """A body in which `w = self.conv.weight` is left out, and w written out."""
    once, kept = tree.bound_once(node.body), {cst.SimpleStatementLine, cst.FunctionDef, cst.Lambda}
    named: dict[str, Any] = {}

    def without(n: Any) -> Any:
        small = tree.only_small(n)
        target: Any = small.targets[0].target if isinstance(small, cst.Assign) and len(small.targets) == 1 else None
        if not isinstance(target, cst.Name) or target.value not in once or find(small.value) is None:
            return n
        named[target.value] = small.value
        return cst.RemoveFromParent()

    body = tree.rewrite(node.body, without, only=kept)
    return tree.with_names(body, lambda n: named.get(n.value)) if named else node.body


def _is_unmade(context: Context, arrays: Arrays, info: FunctionInfo, node: cst.Attribute) -> bool:
    """Whether an attribute is an array that `init` or `init_state` makes, of whatever class the module is."""
    base, value = context.value(node.value), context.value(node)
    if not isinstance(base, Module) or base.open or base.is_self and info.name == "__init__" or not isinstance(value, Tensor):
        return False
    return bool(base.refs) and all(_makes(context, arrays, ref, node.attr.value) for ref in base.refs)


def _makes(context: Context, arrays: Arrays, ref: Any, name: str) -> bool:
    """Whether a class has an array of this name in its params or state, always."""
    if isinstance(ref, ClassInfo):
        array = arrays.find(ref, name)
        if array is not None:
            return array.where in ("params", "state") and not array.plain and not array.optional
        layer = context.facts.layer_of(ref)
        return layer is not None and context.rulebook.array(layer.name, name) is not None
    definition = context.rulebook.layer(ref)
    return definition is not None and context.rulebook.array(definition.name, name) is not None
