"""What torch code keeps on a parameter is kept beside it: arrays have no attributes of their own.

    self.weight.fast = None                        ->              self.weight_fast = None
    F.linear(x, self.weight.fast)                                  F.linear(x, self.weight_fast)

Elsewhere, in a loop over the parameters of a model, the module that has the parameter is not known: that is reported.
"""

from __future__ import annotations

from typing import Any

import libcst as cst

from .. import tree
from ..context import Context
from ..infer import PROPERTIES
from ..project import ClassInfo
from ..values import UNKNOWN, Module, Tensor


def run(context: Context, module: cst.Module) -> cst.Module:
    """Rewrite one file by the tags that constructors of the whole project give."""
    tags = {cls: _given(context, cls) for m in context.facts.project.modules.values() for cls in m.all_classes if cls.is_module}
    if not any(tags.values()):
        return module
    names = {tag for found in tags.values() for _, tag in found}

    def visit(node: Any) -> Any:
        if isinstance(node, cst.Attribute):
            return _beside(context, node, tags)
        target = node.body[0].targets[0].target if len(node.body) == 1 and isinstance(node.body[0], cst.Assign) else None
        if isinstance(target, cst.Attribute) and target.attr.value in names and _beside(context, target, tags) is None:
            if not isinstance(context.value(target.value), Module):
                made = context.unconverted("module-value", target, "what is kept on a parameter is kept on its module, which is not known here")
                return tree.replace(node, body=[cst.Expr(made)])
        return None

    return tree.rewrite(module, visit, only={cst.Attribute, cst.SimpleStatementLine})  # type: ignore[no-any-return]


def _given(context: Context, cls: ClassInfo) -> frozenset[tuple[str, str]]:
    """Each `("weight", "fast")` of a class: its constructor sets `self.weight.fast`, which torch's tensors have not."""
    info = cls.methods.get("__init__")
    found = set()
    for target in (n.target for n in tree.nodes(info.node.body, cst.AssignTarget)) if info is not None else ():
        parts = (tree.dotted(target) or "").split(".")
        if len(parts) == 3 and info is not None and parts[0] == info.self_name and isinstance(target, cst.Attribute):
            value, name = context.value(target.value), parts[2]
            known = name in PROPERTIES or context.rulebook.find(f"torch.Tensor.{name}")
            if isinstance(value, Tensor) and value.param and not known:
                found.add((parts[1], name))
    return frozenset(found)


def _beside(context: Context, node: cst.Attribute, tags: dict[ClassInfo, frozenset[tuple[str, str]]]) -> Any:
    """`self.weight_fast` for `self.weight.fast`; None where that is not a tag of its own."""
    holder = node.value
    owner = context.value(holder.value) if isinstance(holder, cst.Attribute) else None
    if not isinstance(holder, cst.Attribute) or not isinstance(owner, Module):
        return None
    classes = [c for ref in owner.refs if isinstance(ref, ClassInfo) for c in ref.family()]
    if not any((holder.attr.value, node.attr.value) in tags.get(c, ()) for c in classes):
        return None
    name = f"{holder.attr.value}_{node.attr.value}"
    while any(context.facts.attribute(c, name) is not None for c in classes):
        name += "_"
    new = tree.replace(node, value=holder.value, attr=cst.Name(name))
    context.facts.tell(new, UNKNOWN)
    return new
