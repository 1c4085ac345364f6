"""Modules that are run while a model is built, for the shapes that they give.

    n = self.conv(torch.zeros(1, *shape)).flatten(1).shape[1]
→   n = nn.dry_run(self.conv, jnp.zeros((1, *shape))).reshape(1, -1).shape[1]

`nn.dry_run` traces a module with params that are never made, and gives zeros: nothing but a shape
may be asked of them.
"""

from __future__ import annotations

from ....facts.values.lattice import Module
from ....model.effects import Apply, Detached
from ....model.expressions import Attribute, Call, Display, Name, Subscript
from ....model.names import target_names
from ....model.node import Expression, Node
from ....model.program import Function
from ....model.statements import Assign, ExpressionStatement, For

SHAPES = frozenset(("shape", "ndim", "size", "dtype"))


def gives_shapes(node: Expression, function: Function, seen: frozenset[str] = frozenset()) -> bool:
    """Whether only the shape of what an expression gives is asked."""
    around = node.parent
    if isinstance(around, Attribute) and around.object is node:
        if around.name in SHAPES:
            return True
        call = around.parent
        return (
            isinstance(call, Call)
            and call.function is around
            and gives_shapes(call, function, seen)
        )
    if isinstance(around, (Subscript, Detached, Display)):
        return gives_shapes(around, function, seen)
    if isinstance(around, Call):
        return _is_handed(around, node, function, seen)
    if isinstance(around, ExpressionStatement):
        return True
    if isinstance(around, Assign):
        names = [n for target in around.targets for n in target_names(target)]
        known = seen | set(names)
        return bool(names) and all(
            gives_shapes(use, function, known)
            for name in set(names) - seen
            for use in _uses(name, function, around)
        )
    if isinstance(around, For):
        names = target_names(around.target)
        known = seen | set(names)
        uses = [u for n in set(names) - seen for u in _uses(n, function, around)]
        return all(gives_shapes(use, function, known) for use in uses)
    return False


def _is_handed(call: Call, node: Expression, function: Function, seen: frozenset[str]) -> bool:
    """Whether a call that is given an array gives another one of which only the shape is asked."""
    if call.function is node:
        return True
    word = call.function.id if isinstance(call.function, Name) else ""
    if word == "len":
        return True
    runs = isinstance(call, Apply) and isinstance(call.function.value, Module)
    of_jax = isinstance(call.function, Attribute) and _root(call.function) in ("jnp", "jax", "lax")
    return (runs or of_jax) and gives_shapes(call, function, seen)


def _root(node: Expression) -> str:
    while isinstance(node, Attribute):
        node = node.object
    return node.id if isinstance(node, Name) else ""


def _uses(name: str, function: Function, binding: Node) -> list[Name]:
    targets = {
        n
        for t in getattr(binding, "targets", [getattr(binding, "target", None)])
        if t
        for n in t.walk()
    }
    found = [n for n in function.body.walk() if isinstance(n, Name) and n.id == name]
    return [n for n in found if n not in targets and not _is_target(n)]


def _is_target(name: Name) -> bool:
    around: Node | None = name
    while isinstance(around, (Name, Display)):
        inner, around = around, around.parent
        if isinstance(around, Assign):
            return inner in around.targets
        if isinstance(around, For):
            return inner is around.target
    return False
