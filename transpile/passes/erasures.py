"""What torch needs and JAX does not: gradient and compiler decorators and blocks, hooks of the mode."""

from __future__ import annotations

from typing import Any

import libcst as cst

from .. import tree
from ..context import Context
from ..rulebook import BLOCKS, CHECKS, DECORATORS
from ..values import Function, Module, Tensor
from . import module_casts

MODULE_STATEMENTS = ("eval", "train", "requires_grad_", "zero_grad", "flatten_parameters")
_KINDS = {cst.FunctionDef, cst.ClassDef, cst.With, cst.SimpleStatementLine, cst.Call}


def run(context: Context, module: cst.Module) -> cst.Module:
    """Drop them; what is computed without gradient inside a function becomes constant by `stop_gradient` elsewhere."""
    return tree.rewrite(module, lambda node: _visit(context, node), only=_KINDS)  # type: ignore[no-any-return]


def _visit(context: Context, node: Any, constructs: bool = False) -> Any:
    kind = node.__class__
    if kind is cst.FunctionDef and node.name.value == "__init__" and not constructs:
        return tree.rewrite(node, lambda n: _visit(context, n, True), only=_KINDS)
    if kind is cst.FunctionDef and node.decorators:
        kept = [d for d in node.decorators if not _erased(context, d)]
        if len(kept) != len(node.decorators):
            new: Any = tree.replace(node, decorators=kept)
            context.facts.carry(node, new)
            return tree.rewrite(new, lambda n: None if n is new else _visit(context, n, constructs))
    if kind is cst.ClassDef and node.decorators:
        kept = [d for d in node.decorators if not _erased(context, d)]
        if len(kept) != len(node.decorators):
            new = tree.replace(node, decorators=kept)
            context.facts.carry(node, new)
            return tree.rewrite(new, lambda n: None if n is new else _visit(context, n, constructs))
    if kind is cst.With and all(_block(context, item) for item in node.items):
        return cst.FlattenSentinel(_unwrapped(context, node, constructs))
    if kind is cst.SimpleStatementLine and len(node.body) == 1:
        small = node.body[0]
        if isinstance(small, cst.Expr) and module_casts.is_cast(context, small.value):
            made = module_casts.refused(context, small.value)  # type: ignore[arg-type]
            return cst.RemoveFromParent() if made is None else tree.replace(node, body=[tree.replace(small, value=made)])
        if _requires_grad(context, small) or _freezes(context, small, constructs):
            return cst.RemoveFromParent()
        checked = _assertion(context, small)
        if checked is not None:
            return tree.replace(node, body=[checked])
    if kind is cst.Call and _asks_for_gradients(context, node):
        return tree.rewrite(node.func.value, lambda n: _visit(context, n, constructs), only=_KINDS)  # `nn.Parameter(w).requires_grad_(False)`
    if kind is cst.Call and module_casts.is_cast(context, node):
        made = module_casts.refused(context, node)
        return tree.rewrite(node.func.value, lambda n: _visit(context, n, constructs), only=_KINDS) if made is None else made
    return None


def _unwrapped(context: Context, node: cst.With, constructs: bool) -> list[Any]:
    body = [tree.rewrite(s, lambda n: _visit(context, n, constructs)) for s in tree.body_statements(node)]
    flat: list[Any] = []
    for s in body:
        if isinstance(s, cst.FlattenSentinel):
            flat.extend(s)
        elif not isinstance(s, cst.RemovalSentinel):
            flat.append(s)
    if flat and node.leading_lines:
        flat[0] = tree.replace(flat[0], leading_lines=[*node.leading_lines, *getattr(flat[0], "leading_lines", [])])
    return flat or [tree.statement("pass")]


def _erased(context: Context, decorator: cst.Decorator) -> bool:
    name = context.torch_name(decorator.decorator)
    return name is not None and name.rpartition(".")[2] in DECORATORS


def _block(context: Context, item: cst.WithItem) -> bool:
    name = context.torch_name(item.item)
    return name is not None and name.rpartition(".")[2] in BLOCKS and item.asname is None


def _requires_grad(context: Context, small: Any) -> bool:
    """`p.requires_grad = False`: which params are trained is the training step's affair."""
    if isinstance(small, cst.Assign) and isinstance(small.targets[0].target, cst.Attribute):
        return small.targets[0].target.attr.value == "requires_grad"
    return isinstance(small, cst.Expr) and _asks_for_gradients(context, small.value)


def _asks_for_gradients(context: Context, call: Any) -> bool:
    """`p.requires_grad_(False)` of a parameter."""
    if not isinstance(call, cst.Call) or not isinstance(call.func, cst.Attribute) or call.func.attr.value != "requires_grad_":
        return False
    value = context.value(call.func.value)
    return isinstance(value, Tensor) and value.param


def _assertion(context: Context, small: Any) -> cst.Assert | None:
    """`torch._assert(test, message)` and `torch._check(test, lambda: message)` are spelt so for torch's tracer."""
    if not isinstance(small, cst.Expr) or not isinstance(small.value, cst.Call):
        return None
    arguments = [a.value for a in small.value.args]
    name = context.torch_name(small.value)
    if name not in CHECKS or len(arguments) not in (1, 2) or any(a.keyword or a.star for a in small.value.args):
        return None
    message = arguments[1] if len(arguments) == 2 else None
    if isinstance(message, cst.Lambda):
        message = message.body
    made = tree.statement("assert x, y").body[0]
    return tree.replace(made, test=arguments[0], msg=message, comma=made.comma if message is not None else cst.MaybeSentinel.DEFAULT)  # type: ignore[no-any-return]


def _freezes(context: Context, small: Any, constructs: bool) -> bool:
    """`self.backbone.eval()` as a statement, and `self.eval()` where a constructor ends with it."""
    if isinstance(small, cst.Expr) and isinstance(small.value, cst.Call) and isinstance(small.value.func, cst.Attribute):
        call: Any = small.value
        receiver, name = context.value(call.func.value), call.func.attr.value
        if name == "_check_input_dim":  # of torch's batch norms: the shapes are checked anyhow
            return isinstance(receiver, Module) and not isinstance(context.value(call.func), Function)
        own = isinstance(receiver, Module) and receiver.is_self
        if own and (isinstance(context.value(call.func), Function) or name in ("eval", "train") and not constructs):
            return False  # a method of the user's, or the mode for what comes after
        return isinstance(receiver, Module) and name in MODULE_STATEMENTS
    return False
