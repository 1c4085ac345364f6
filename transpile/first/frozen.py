"""Params that torch does not train: `p.requires_grad = False`. Which are trained is the optimizer's affair here, and that is said once for a class."""

from __future__ import annotations

from typing import Any

import libcst as cst

from . import tree
from .arrays import PARAMETER, Array, Arrays, registered_value
from .context import Context
from .effects import PARAMETERS
from .values import Tensor

_WALKS = ("parameters", "named_parameters", "modules", "named_modules", "children", "named_children")


def report(context: Context, arrays: Arrays) -> None:
    """Report the first of each class, and of each function outside of classes, as the user wrote them."""
    for unit in context.module.tree.body:
        nodes = tree.nodes(unit, cst.Assign, cst.Call) if isinstance(unit, (cst.ClassDef, cst.FunctionDef)) else ()
        cls = context.facts.class_by_node.get(id(unit))
        written: dict[str, Any] = {tree.code(t.target).rpartition(".")[2]: n.value for n in tree.nodes(unit, cst.Assign) for t in n.targets} if cls is not None else {}
        state = {id(written.get(name)) for name, array in arrays.own[cls].arrays.items() if array.where != "params"} if cls in arrays.own else set()
        infos = [(f, context.facts.by_node.get(id(f))) for f in tree.nodes(unit, cst.FunctionDef)]
        functions = [f for f, info in infos if info in arrays.running]
        replaced = {target for _, info in infos if info is not None for target in info.superseded}
        running = {id(n) for f in functions for n in tree.nodes(f, cst.Assign, cst.Call)}  # what they set is no param
        walked = {n for loop in tree.nodes(unit, cst.For) if _walks_params(loop.iter) for n in tree.target_names(loop.target)} if nodes else set()
        returned = {id(n.value) for n in tree.nodes(unit, cst.Return)} if nodes else set()
        for node in nodes:
            what = _frozen(context, node, walked) if not {id(node), id(getattr(node, "value", node))} & state else None
            if what is None and cls in arrays.own and id(node) not in running and not (isinstance(node, cst.Assign) and id(node.targets[0].target) in replaced):
                what = _fixed(context, arrays.own[cls].arrays, node)
            if what is None and id(node) in returned - running and isinstance(node, cst.Call) and _without_gradient(context, node):
                what = tree.code(node.args[0].value) if node.args else "this parameter"
            if what is not None:
                context.report("frozen-param", node, f"{what} is not trained in torch: leave it out of what the optimizer updates")
                break


def _walks_params(node: Any) -> bool:
    """`net.parameters()` of any net: a helper takes several."""
    return isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and node.func.attr.value in PARAMETERS


def _frozen(context: Context, node: Any, walked: set[str]) -> str | None:
    """What a statement or call keeps from being trained; `walked` are the names that loops give params."""
    if isinstance(node, cst.Assign):
        flag = is_flag(node) and tree.code(node.value) != "True" and isinstance(node.value, cst.Name)
        target: Any = node.targets[0].target
        if isinstance(target, cst.Attribute) and any(_without_gradient(context, n) for n in tree.nodes(node.value, cst.Call)):
            return tree.code(target)
        return tree.code(target.value) if flag and (tree.code(target.value) in walked or _is_trained(context, target.value)) else None
    if not isinstance(node.func, cst.Attribute) or node.func.attr.value != "requires_grad_" or not _is_trained(context, node.func.value):
        return None
    given = [tree.code(a.value) for a in node.args]
    return tree.code(node.func.value) if given and given[0] != "True" else None


def _fixed(context: Context, arrays: dict[str, Array], node: Any) -> str | None:
    """What a class makes a parameter on some ways, and a buffer or a plain tensor here: `if learn: self.pe = nn.Parameter(pe)`, `else: self.pe = pe`."""
    if isinstance(node, cst.Call):
        target, given = node.func, registered_value(node)
        name = tree.literal(node.args[0].value) if node.args and isinstance(node.args[0].value, cst.SimpleString) else None
        registers = isinstance(target, cst.Attribute) and target.attr.value == "register_buffer"
        fixed = registers and given is not None and tree.code(given) != "None"
    else:
        target = node.targets[0].target
        name = target.attr.value if isinstance(target, cst.Attribute) else None
        fixed = _is_plain(context, node.value)
    own = isinstance(target, cst.Attribute) and getattr(context.value(target.value), "is_self", False)
    array = arrays.get(name or "")
    return f"self.{name}, where it is no parameter," if own and fixed and array is not None and array.where == "params" else None


def _is_plain(context: Context, node: Any) -> bool:
    """Whether an expression is a tensor that is no parameter, or may be one: `nn.Parameter(w) if learn else w`."""
    if isinstance(node, cst.IfExp):
        return _is_plain(context, node.body) or _is_plain(context, node.orelse)
    value = context.value(node)
    return isinstance(value, Tensor) and not value.param and not value.assumed and context.torch_name(node) not in PARAMETER


def _without_gradient(context: Context, call: cst.Call) -> bool:
    """`nn.Parameter(w, requires_grad=False)`, or `requires_grad=learned`"""
    return context.torch_name(call) in PARAMETER and any(a.keyword is not None and a.keyword.value == "requires_grad" and tree.code(a.value) != "True" for a in call.args)


def _is_trained(context: Context, node: Any) -> bool:
    value = context.value(node)
    return context.facts.is_module(node) or isinstance(value, Tensor) and value.param


def is_flag(small: Any) -> bool:
    """`p.requires_grad = False`"""
    target = small.targets[0].target if isinstance(small, cst.Assign) else None
    return isinstance(target, cst.Attribute) and target.attr.value == "requires_grad"


def only_flags(node: Any) -> bool:
    """Whether a loop, or a statement in one, does nothing but say which params are trained."""
    if isinstance(node, cst.SimpleStatementLine):
        return all(isinstance(small, cst.Pass) or is_flag(small) or _is_call(small) for small in node.body)
    if isinstance(node, cst.For):
        over: Any = node.iter
        walks = isinstance(over, cst.Call) and isinstance(over.func, cst.Attribute) and over.func.attr.value in _WALKS
        listed = not any(isinstance(n, (cst.Call, cst.NamedExpr)) for n in tree.walk(over))  # `for m in (self.stem, self.layer1): for p in m.parameters(): …`
        return (walks or listed) and node.orelse is None and all(map(only_flags, tree.body_statements(node))) and any(is_flag(n) or _is_call(n) for n in tree.walk(node))
    if not isinstance(node, cst.If) or any(isinstance(n, cst.NamedExpr) for n in tree.walk(node.test)):
        return False
    return all(map(only_flags, [*tree.body_statements(node), *tree.else_statements(node)]))


def _is_call(small: Any) -> bool:
    """`p.requires_grad_(False)`"""
    call = small.value if isinstance(small, cst.Expr) else None
    return isinstance(call, cst.Call) and isinstance(call.func, cst.Attribute) and call.func.attr.value == "requires_grad_"
