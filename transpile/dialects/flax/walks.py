"""Walks over the parts of a module, in the order in which they were set: `self.modules()`."""

from __future__ import annotations

from ...facts.values.attribute_names import PARAMETERS
from ...facts.values.lattice import Module, Tensor
from ...model.effects import Walk, Write
from ...model.expressions import Attribute, Call, Name
from ...model.names import target_names
from ...model.node import Node
from ...model.statements import For
from ...source.lower_ast import expression
from ..walk_order import WALKS, adds_up_params
from .lowering import Lowering, whole


def walk(low: Lowering, node: Walk) -> None:
    low.edits.become(node, lambda n: For(n.target, n.iterable, n.body, n.orelse))


def walked(low: Lowering, node: Call) -> bool:
    """Whether a call gives the parts of a module; its form. What runs is given the arrays of
    Variables, since `lax` takes no Variable, but in a loop that writes them."""
    function = node.function
    if not isinstance(function, Attribute) or function.name not in WALKS:
        return False
    of_module = low.is_self(function.object) or isinstance(function.object.value, Module)
    unit = low.unit(node)
    own = low.plan.owner(unit)
    if low.in_library and isinstance(function.object, Name):
        of_module = True
    if not of_module or own is not None and low.plan.modules.find(own, function.name):
        return False
    runs = unit is not None and not low.in_library and low.plan.facts.stage(unit) == "traced"
    written = runs and _is_written(low, node)

    def edit(node: Call) -> None:
        inner = node.function
        assert isinstance(inner, Attribute)
        if adds_up_params(node):
            state = Call(expression("nnx.state"), [inner.object, expression("nnx.Param")])
            node.replace(Call(expression("jax.tree.leaves"), [state]))
            return
        made = Call(low.support(inner.name), [inner.object, *node.arguments])
        made.keywords = [None, *node.keywords]
        if runs and not written and inner.name in PARAMETERS:
            made = Call(low.support("arrays"), [made])
        node.replace(made)

    low.edits.change(node, edit)
    return True


def _is_written(low: Lowering, node: Call) -> bool:
    """Whether a loop over these params writes some: it reads each as `p[...]`."""
    loop = node.nearest(For)
    if loop is None or loop.body in node.ancestors():
        return False
    bound = set(target_names(loop.target))
    names = [n for n in loop.body.walk() if isinstance(n, Name) and n.id in bound]
    writes: set[Node] = {w.target for w in loop.body.walk() if isinstance(w, Write)}
    targets = [n for n in names if n in writes]
    if not targets:
        return False
    for name in names:
        if name not in targets and isinstance(name.value, Tensor) and name not in low.skipped:
            low.skipped.add(name)  # it is looked at for each of `zip(a.parameters(), …)`
            low.edits.wrap(name, whole)
    return True
