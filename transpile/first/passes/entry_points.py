"""What runs a module is made its `forward`, before facts are gathered: a `__call__` in its place, or one around it.

    def __call__(self, x):                                def forward(self, x):
        return super().__call__(x) + 1         ->             return self._forward(x) + 1

    def forward(self, x):                                 def _forward(self, x):
        return self.fc(x)                                     return self.fc(x)
"""

from __future__ import annotations

from collections.abc import Set
from typing import Any

import libcst as cst

from .. import tree
from ..context import Context
from ..project import ClassInfo, ModuleInfo, Project

_INNER = "_forward"


def run(project: Project) -> bool:
    """Rename them in the files of a linked project. Returns whether there were any: the project is then to be linked again."""
    classes = [c for module in project.modules.values() for c in module.all_classes]
    around = {c for c in classes if _goes_around(c)}
    if around and any(map(_asks_another, project.modules.values())):
        around = set()
    renamed = {id(c.node) for root in around for c in root.family()}
    called = {id(c.node) for c in around} | {id(c.node) for c in classes if _stands_for_forward(c)}
    found = [m for m in project.modules.values() if any(id(c.node) in called | renamed for c in m.all_classes)]
    for module in found:
        project.add(module.path, tree.rewrite(module.tree, None, lambda n: _with_forward(n, called, renamed), only={cst.ClassDef}))
    return bool(found)


# parts of the forward of torch's layers, which a class that extends one may override
_PARTS = frozenset({"_sa_block", "_mha_block", "_ff_block", "_conv_forward", "_output_padding", "_get_full_log_prob", "merge_masks"})


def report(context: Context, module: ModuleInfo) -> None:
    """Tell of those that are left, and of methods that torch's forward calls where the layer here computes by itself."""
    for cls in module.all_classes:
        layer = cls.torch_base() if cls.is_module else None
        definition = context.rulebook.layer(layer) if layer is not None else None
        for name in sorted(_PARTS & set(cls.methods)):
            if definition is not None and context.rulebook.method(definition.name, name) is None:
                context.report("unsupported", cls.methods[name].node, f"the forward of torch's {definition.name} calls {name}, the one here does not: override forward instead")
        if cls.is_module and "__call__" in cls.methods:
            context.report("unsupported", cls.methods["__call__"].node, "a __call__ beside a forward that other classes share, or that is called by name: give it a name of its own, and call that")


def _stands_for_forward(cls: ClassInfo) -> bool:
    return "__call__" in cls.methods and cls.is_module and not any("forward" in c.methods for c in cls.family())


def _goes_around(cls: ClassInfo) -> bool:
    """Whether a class, the first of its family, has a `__call__` that calls its own forward, or that of an heir, by way of nn.Module's."""
    if not cls.is_module or not {"__call__", "forward"} <= set(cls.methods) or len(list(cls.ancestors())) > 1 or cls.torch_base() is not None:
        return False
    family = cls.family()
    alone = all(len([a for a in c.ancestors() if a not in family]) == 0 and (c is cls or "__call__" not in c.methods) and _INNER not in c.methods for c in family)
    return alone and not cls.node.decorators


def _asks_another(module: ModuleInfo) -> bool:
    """`model.forward(x)`: whose forward that is, no class tells."""
    return any(n.attr.value == "forward" and not _is_own(n.value) for n in tree.nodes(module.tree, cst.Attribute))


def _is_own(node: Any) -> bool:
    """`self`, or `super()` in either of its forms."""
    return tree.code(node) == "self" or isinstance(node, cst.Call) and tree.code(node.func) == "super"


def _with_forward(node: Any, called: Set[int], renamed: Set[int]) -> Any:
    if id(node) not in called | renamed:
        return node
    inner = id(node) in renamed

    def before(n: Any) -> Any:
        if isinstance(n, cst.Call) and inner and isinstance(n.func, cst.Attribute) and n.func.attr.value == "__call__" and _is_own(n.func.value):
            return tree.replace(n, func=tree.expression(f"self.{_INNER}"))
        if isinstance(n, cst.Attribute) and inner and n.attr.value == "forward" and _is_own(n.value):
            return tree.replace(n, attr=cst.Name(_INNER))
        return None

    names = {"__call__": "forward", **({"forward": _INNER} if inner else {})} if id(node) in called else {"forward": _INNER}
    body = [tree.replace(s, name=cst.Name(names[s.name.value])) if isinstance(s, cst.FunctionDef) and s.name.value in names else s for s in tree.body_statements(node)]
    return tree.with_body(node, [tree.rewrite(s, before) for s in body])
