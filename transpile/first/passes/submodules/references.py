"""Methods and functions as values: `checkpoint(self.block, x)`, `f = self.up if flag else self.down`. What they need is bound to them."""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Any

import libcst as cst

from ... import tree
from ...context import Context
from ...effects import Effects
from ...paths import SELF, Path
from ...project import ClassInfo
from ...values import Function, Module
from .arguments import is_super, keyword_arguments, keywords
from .scope import Scope
from .ties import tied


def reference(scope: Scope, node: Any, once: bool = False) -> Any:
    """A function with its params, key and mode bound; `once`: it is called once, so that one key is enough. None where it needs nothing."""
    value = scope.facts.of(node)
    if not isinstance(value, Function) or value.info.is_property or scope.storing or scope.holds_bound(node):
        return None
    needs: Set[str] = scope.needs_of(value)
    if value.info.outer is not None:
        needs = scope.effects.functions.get(value.info, frozenset()) & {"key"}  # the rest is that of the function around it
    if not needs:
        return None
    path = _path(scope, node, value)
    why = _obstacle(value, needs, path, once)
    if why is not None:
        return scope.context.unconverted("module-value", node, f"{value.info.name} is passed on as a value, and {why}")
    params = [cst.Arg(tree.expression(tied(scope, path)))] if path is not None and "params" in needs else []
    bound = keyword_arguments(keywords(frozenset(needs)))
    return tree.replace(tree.expression("functools.partial()"), args=[cst.Arg(scope.callee(node)), *params, *bound])


def _path(scope: Scope, node: Any, value: Function) -> Path | None:
    """Where the params of the method's module are."""
    if not isinstance(node, cst.Attribute) or is_super(node.value):
        return SELF if value.info.owner is not None and not value.info.is_static else None
    return scope.path(node.value)


def _obstacle(value: Function, needs: Set[str], path: Path | None, once: bool) -> str | None:
    """Why a function cannot be bound to what it needs."""
    if "state" in needs:
        return "it has state"
    if "params" in needs and path is None:
        return "its params could not be followed to here"
    if "key" in needs and not once:
        return "it draws random numbers: each call needs a key of its own"
    return None


def checkpointed(scope: Scope, node: cst.Call) -> Any:
    """`jax.checkpoint(self.block)(x)` calls what it is given once. None for any other call."""
    if tree.dotted(node.func) != "jax.checkpoint" or not node.args:
        return None
    made = reference(scope, node.args[0].value, once=True)
    return made and tree.replace(node, args=[tree.replace(node.args[0], value=made), *node.args[1:]])


def report_kept(context: Context, cls: ClassInfo, effects: Effects, constructor: Sequence[Any]) -> None:
    """Report the methods with effects that a constructor keeps: `self.act = {"up": self.up}`. `self.f = self.up` is called as one."""
    for statement in constructor:
        small = tree.only_small(statement)
        target = small.targets[0].target if isinstance(small, cst.Assign) else None
        if isinstance(target, cst.Attribute) and isinstance(context.facts.attribute(cls, target.attr.value), Function):
            continue
        callees = {id(call.func) for call in tree.nodes(statement, cst.Call)}
        for node in tree.nodes(statement, cst.Attribute):
            value = context.value(node)
            if not isinstance(value, Function) or value.info.is_property or id(node) in callees or value.info not in effects.running:
                continue
            if effects.functions.get(value.info) and isinstance(context.value(node.value), Module):
                message = f"{value.info.name} is kept as a value, without the params, state, key or mode that it needs: call it as a method"
                context.report("module-value", node, message)
