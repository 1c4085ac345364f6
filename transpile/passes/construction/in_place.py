"""Writes to params that are made where they stand, since a walk over modules comes after them: `nn.reinitialise(module, name, function)`."""

from __future__ import annotations

from typing import Any

import libcst as cst

from ... import tree
from ...context import Context
from ...project import FunctionInfo
from ...values import Module, Tensor
from .declarations import initializer
from .initial_values import initial_value, is_none, parameter_call
from .questions import Asked, by_path, by_shape, fact, may_be_module, presence, undetached

_READ = "arrays cannot be read where the module is still built; make this value in a method that no walk over modules follows"


def in_place(context: Context, info: FunctionInfo, below: list[Any], own: list[Any]) -> cst.FunctionDef:
    """A constructor, or a method that it calls, with writes to params made where they stand: in some statements those to
    params of submodules, in some those to its own."""
    kinds = [set(map(id, below)), set(map(id, own))]
    statements = tree.body_statements(info.node)
    body = []
    for statement in statements:
        depths = [depth for depth, chosen in zip((False, True), kinds) if id(statement) in chosen]
        body.append(_made(context, info, statement, depths) if depths else statement)
    return info.node if all(a is b for a, b in zip(body, statements)) else tree.with_body(info.node, body)


def _made(context: Context, info: FunctionInfo, statement: Any, depths: list[bool]) -> Any:
    holder, whole = info.self_name or "self", info.name != "__init__"

    def find(node: Any) -> Asked | None:
        return by_path(node) if _own_param(context, node, holder) is not None else None

    def before(n: cst.CSTNode) -> Any:
        if isinstance(n, cst.AssignTarget):
            return n
        small = tree.only_small(n)
        target: Any = small.targets[0].target if isinstance(small, cst.Assign) and len(small.targets) == 1 else None
        if target is not None and _own_param(context, target, holder) in depths and parameter_call(small.value) is None:
            arrays = {tree.code(a) for a in tree.nodes(small.value, cst.Attribute) if find(a) is not None}
            return reinitialised(context, n, small, target, None, info.node) if whole or arrays <= {tree.code(target)} else None
        return _answered(context, n, find) if whole else None

    return tree.rewrite(statement, before, only={cst.SimpleStatementLine, cst.AssignTarget, cst.Attribute, cst.Call, cst.Comparison})


def _answered(context: Context, node: Any, find: Any) -> Any:
    """What a method asks of params that are not made yet, asked of `init`."""
    if isinstance(node, cst.Comparison):
        return presence(context, node, find)
    if isinstance(node, cst.Call):
        return by_shape(context, node, find)
    if isinstance(node, cst.Attribute):
        if (known := fact(context, node, lambda n: find(undetached(n)))) is not None:
            return known
        if find(node) is not None:
            return context.unconverted("module-value", node, _READ)
    return None


def _own_param(context: Context, node: Any, holder: str) -> bool | None:
    """True for `self.weight`, False for `self.fc.weight`, None for what is no param by a path from self."""
    dotted = tree.dotted(node) if isinstance(node, cst.Attribute) else None
    if dotted is None or not dotted.startswith(f"{holder}."):
        return None
    value = context.value(node)
    return dotted.count(".") == 1 if isinstance(context.value(node.value), Module) and isinstance(value, Tensor) and value.param else None


def reinitialised(context: Context, line: Any, small: cst.Assign, target: cst.Attribute, own: str | None, function: cst.FunctionDef) -> Any:
    """A line that gives a param another value, as `nn.reinitialise(module, name, function)`; None where it is another line."""
    value = initial_value(small.value)
    if not _is_written(context, target, own, function) or is_none(value):
        return None
    name, path = target.attr.value, tree.code(target)

    def swap(n: cst.CSTNode) -> Any:
        if isinstance(n, cst.Attribute) and tree.code(n) in (path, f"{path}.data"):
            return cst.Name(name)
        if isinstance(n, cst.Call) and tree.dotted(n.func) == "lax.stop_gradient" and tree.code(n.args[0].value) == path:
            return cst.Name(name)  # nobody differentiates an initial value
        return None

    made = tree.expression(f'{context.name("reinitialise")}({tree.code(target.value)}, "{name}", 0)')
    args = [*made.args[:2], cst.Arg(initializer(function, value, (name,), swap))]
    return tree.replace(line, body=[cst.Expr(tree.replace(made, args=args))])


def _is_written(context: Context, target: cst.Attribute, own: str | None, function: cst.FunctionDef) -> bool:
    """Whether a target is a param of a module other than self, or of one that is made here; `own` is self, or None where its params count too."""
    base, value, name = context.value(target.value), context.value(target), target.attr.value
    named = name in context.rulebook.array_names
    dotted = tree.dotted(target.value)
    unknown = may_be_module(base)
    made_here = function.name.value != "__init__" and dotted in _submodules_made(context, function)
    if (dotted.split(".")[0] if dotted else "") == own and not made_here and not (unknown and dotted != own):
        return False
    if isinstance(base, Module):
        return named or isinstance(value, Tensor) and value.param
    return unknown and named


def _submodules_made(context: Context, function: cst.FunctionDef) -> set[str]:
    """The paths of submodules that a method makes: it runs in the constructor, and gives their params values there."""
    assigned = [(tree.dotted(t.target), n.value) for n in tree.nodes(function.body, cst.Assign) for t in n.targets]
    return {path for path, value in assigned if path is not None and path.count(".") == 1 and isinstance(context.value(value), Module)}
