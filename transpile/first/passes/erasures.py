"""What torch needs and JAX does not: gradient and compiler decorators and blocks, and the mode that modules keep.

Here the mode is an argument of each call: what sets that of a part while the model runs is left out, and reported.
"""

from __future__ import annotations

import re
from typing import Any

import libcst as cst

from .. import module_casts, tree
from ..context import Context
from ..frozen import is_flag, only_flags
from ..rulebook import CHECKS, DECORATORS, is_block
from ..values import UNKNOWN, Function, Method, Module, Tensor

MODULE_STATEMENTS = ("eval", "train", "requires_grad_", "zero_grad", "flatten_parameters")
_ONLY_OF_MODULES = ("eval", "half", "bfloat16", "double", "zero_grad", "flatten_parameters")  # `trainer.train()` may be of anything
_WRITTEN = ("data", "grad", "real", "imag")  # attributes that torch sees to when they are set
_KINDS = {cst.FunctionDef, cst.ClassDef, cst.With, cst.For, cst.SimpleStatementLine, cst.Call}


def run(context: Context, module: cst.Module) -> cst.Module:
    """Drop them; what is computed without gradient inside a function becomes constant by `stop_gradient` elsewhere."""
    return tree.rewrite(module, lambda node: _visit(context, node), only=_KINDS)  # type: ignore[no-any-return]


def _visit(context: Context, node: Any, constructs: bool = False) -> Any:
    kind = node.__class__
    if kind is cst.FunctionDef and _sets_mode(context, node):
        return cst.RemoveFromParent()
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
    if kind is cst.For and only_flags(node):
        return cst.RemoveFromParent()
    if kind is cst.With:
        for item in node.items:
            _report_autocast(context, item.item)
    if kind is cst.With and all(_block(context, item) for item in node.items):
        return cst.FlattenSentinel(_unwrapped(context, node, constructs))
    if kind is cst.With and any(_block(context, item) for item in node.items):
        kept = [item for item in node.items if not _block(context, item)]
        kept[-1] = tree.replace(kept[-1], comma=cst.MaybeSentinel.DEFAULT)
        body = tree.rewrite(node.body, lambda n: _visit(context, n, constructs))
        return tree.replace(node, items=kept, body=body)
    if kind is cst.SimpleStatementLine and len(node.body) == 1:
        small = node.body[0]
        if isinstance(small, cst.Expr) and module_casts.is_cast(context, small.value):
            made = module_casts.refused(context, small.value)  # type: ignore[arg-type]
            return cst.RemoveFromParent() if made is None else tree.replace(node, body=[tree.replace(small, value=made)])
        _report_unknown(context, small, constructs)
        if _requires_grad(context, small) or _sets_backend(context, small) or _freezes(context, small, constructs) or _marks(context, small):
            return cst.RemoveFromParent()
        if _logs(context, small):
            return cst.RemoveFromParent()
        if _sets_own_mode(context, small, constructs):
            return tree.replace(node, body=[cst.Expr(context.unconverted("module-mode", small.value, _MODE))])
        if _assigns_mode(context, small):
            return tree.replace(node, body=[cst.Expr(context.unconverted("module-mode", small.targets[0].target, _MODE))]) if not constructs else _unset_mode(context, small)
        checked = _assertion(context, small)
        if checked is not None:
            return tree.replace(node, body=[checked])
    if kind is cst.Call and _asks_for_gradients(context, node):
        return tree.rewrite(node.func.value, lambda n: _visit(context, n, constructs), only=_KINDS)  # `nn.Parameter(w).requires_grad_(False)`
    if kind is cst.Call and _gives_module(context, node):
        if not constructs:
            context.report("module-mode", node, f"{tree.code(node.func)}() is left out: {_MODE}")
        return tree.rewrite(node.func.value, lambda n: _visit(context, n, constructs), only=_KINDS)
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


_AUTOCAST = "autocast is left out: what torch computes in half precision here is computed in the dtype of its arrays; cast them where the speed is wanted"


def _report_autocast(context: Context, node: Any) -> None:
    """Report `with torch.autocast("cuda", dtype=torch.bfloat16)`, but not where it is written out that it is off."""
    if not isinstance(node, cst.Call) or (context.torch_name(node) or "").rpartition(".")[2] != "autocast":
        return
    if not any(tree.code(a.value) == "False" and (a.keyword is None or a.keyword.value == "enabled") for a in node.args):
        context.report("taken-for-granted", node, _AUTOCAST)


def _erased(context: Context, decorator: cst.Decorator) -> bool:
    name = context.torch_name(decorator.decorator)
    _report_autocast(context, decorator.decorator)
    return name is not None and name.rpartition(".")[2] in DECORATORS


def _block(context: Context, item: cst.WithItem) -> bool:
    name = context.torch_name(item.item)
    return name is not None and is_block(name) and item.asname is None


def _requires_grad(context: Context, small: Any) -> bool:
    """`p.requires_grad = False`: which params are trained is the training step's affair."""
    return is_flag(small) or isinstance(small, cst.Expr) and _asks_for_gradients(context, small.value)


def _sets_backend(context: Context, small: Any) -> bool:
    """`torch.backends.cudnn.benchmark = True`: how kernels are chosen that are not used here."""
    target = small.targets[0].target if isinstance(small, cst.Assign) and len(small.targets) == 1 else None
    return isinstance(target, cst.Attribute) and (context.torch_name(target.value) or "").startswith("torch.backends.")


def _marks(context: Context, small: Any) -> bool:
    """`pe.require_grad = False`, a slip that torch keeps as any attribute of a tensor's: nothing asks for it."""
    target = small.targets[0].target if isinstance(small, cst.Assign) and len(small.targets) == 1 else None
    if not isinstance(target, cst.Attribute) or not isinstance(context.value(target.value), Tensor) or target.attr.value in _WRITTEN:
        return False
    plain = isinstance(small.value, cst.Name) and small.value.value in ("True", "False", "None") or isinstance(small.value, (cst.Integer, cst.Float, cst.SimpleString))
    asked = re.compile(rf"\b{target.attr.value}\b(?!\s*=[^=])")
    return plain and not any(asked.search(m.source.code) for m in context.facts.project.modules.values())


def _asks_for_gradients(context: Context, call: Any) -> bool:
    """`p.requires_grad_(False)` of a parameter."""
    if not isinstance(call, cst.Call) or not isinstance(call.func, cst.Attribute) or call.func.attr.value != "requires_grad_":
        return False
    value = context.value(call.func.value)
    return isinstance(value, Tensor) and value.param


def _gives_module(context: Context, node: Any) -> bool:
    """`net.eval()` in `self.net = net.eval()`, which is the module itself."""
    if not isinstance(node.func, cst.Attribute) or node.func.attr.value not in ("eval", "train") or isinstance(context.value(node.func), Function):
        return False
    return context.facts.is_module(node.func.value) and not getattr(context.value(node.func.value), "is_self", False)


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
        own, known = isinstance(receiver, Module) and receiver.is_self, context.facts.is_module(call.func.value)
        if own and (isinstance(context.value(call.func), Function) or name in ("eval", "train") and not constructs):
            return False  # a method of the user's, or the mode for what comes after
        if known and name in ("eval", "train") and not constructs:
            context.report("module-mode", call, f"{tree.code(call.func)}() is left out: {_MODE}")
        return known and name in MODULE_STATEMENTS
    return False


def _logs(context: Context, small: Any) -> bool:
    """`self.log("loss", loss)` of Lightning, in a class that has no such method."""
    call: Any = small.value if isinstance(small, cst.Expr) else None
    method = context.value(call.func) if isinstance(call, cst.Call) else UNKNOWN
    if not isinstance(method, Method) or method.name not in ("log", "log_dict") or not isinstance(method.receiver, Module) or not method.receiver.is_self:
        return False
    context.report("taken-for-granted", call, f"{tree.code(call.func)}() is left out: return what is to be logged")
    return True


def _report_unknown(context: Context, small: Any, constructs: bool) -> None:
    """Report `vgg.eval()` in a constructor, of what may be a module by all that is known: none has such a method here."""
    call: Any = small.value if isinstance(small, cst.Expr) else None
    if not constructs or not isinstance(call, cst.Call) or not isinstance(call.func, cst.Attribute) or call.func.attr.value not in _ONLY_OF_MODULES:
        return
    asked = context.value(call.func.value)
    if asked == UNKNOWN and not context.facts.is_module(call.func.value) and all(isinstance(a.value, cst.Name) and a.value.value in ("True", "False") for a in call.args):
        context.report("left-over", call, f"{tree.code(call.func)}() is left as it is: where this is a module it has no such method here")


def _sets_own_mode(context: Context, small: Any, constructs: bool) -> bool:
    """`self.eval()` in a method that runs: the mode of what it calls next, and of the module from then on."""
    call = small.value if isinstance(small, cst.Expr) else None
    if constructs or not isinstance(call, cst.Call) or not isinstance(call.func, cst.Attribute) or call.func.attr.value not in ("eval", "train"):
        return False
    receiver = context.value(call.func.value)
    return isinstance(receiver, Module) and receiver.is_self and not isinstance(context.value(call.func), Function)


_MODE = "the mode of a module is the argument training of its calls"


def _assigns_mode(context: Context, small: Any) -> bool:
    """`self.bn.training = False`"""
    target = small.targets[0].target if isinstance(small, cst.Assign) and len(small.targets) == 1 else None
    return isinstance(target, cst.Attribute) and target.attr.value == "training" and isinstance(context.value(target.value), Module)


def _unset_mode(context: Context, small: Any) -> Any:
    context.report("module-mode", small, f"{tree.code(small.targets[0].target)} is not set: {_MODE}")
    return cst.RemoveFromParent()


def _sets_mode(context: Context, node: cst.FunctionDef) -> bool:
    """`def train(self, mode=True)` of a module that overrides torch's: nothing calls it here. What it does beside is reported."""
    info = context.facts.by_node.get(id(node))
    if node.name.value not in ("train", "eval") or info is None or info.owner is None or not info.owner.is_module:
        return False
    statements = [s for s in tree.body_statements(node) if not tree.is_docstring(s)]
    above = [s for s in statements if any(isinstance(n.func, cst.Attribute) and n.func.attr.value in ("train", "eval") and _is_above(n.func.value) for n in tree.nodes(s, cst.Call))]
    if not above:
        return False
    rest = [s for s in statements if s not in above and tree.code(s).strip() not in ("return self", "pass", "return")]
    if rest:
        context.report("module-mode", node, f"{node.name.value}() is left out with what it does beside: {_MODE}")
    return True


def _is_above(node: Any) -> bool:
    """`super()`, `super(M, self)`, `nn.Module`"""
    return isinstance(node, cst.Call) and tree.dotted(node.func) == "super" or isinstance(node, cst.Attribute) and node.attr.value == "Module"
