"""Writes to params that are made where they stand, since a walk over modules comes after them: `nn.reinitialise(module, name, function)`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import libcst as cst

from ... import tree
from ...arrays import Arrays
from ...context import Context
from ...emit import unaugmented
from ...project import FunctionInfo
from ...sharing import is_copy
from ...values import Module, Tensor
from .attribute_names import AttributeNames
from .constructors import Original
from .declarations import initializer
from .initial_values import initial_value, is_none, parameter_call
from .present import changing
from .questions import Asked, ask, asked_by_name, by_path, by_shape, fact, may_be_module, presence, undetached

_ORDER = "a loop or branch that cannot move to init gives this array a value: give it all its values outside of that"
_READ = "arrays cannot be read where the module is still built; make this value in a method that no walk over modules follows"


def in_place(context: Context, info: FunctionInfo, arrays: Arrays, names: AttributeNames, below: list[Any], own: list[Any]) -> cst.FunctionDef:
    """A constructor, or a method that it calls, with writes to params made where they stand: in some statements those to
    params of submodules, in some those to its own."""
    kinds = [set(map(id, below)), set(map(id, own))]
    statements = tree.body_statements(info.node)
    body = []
    for i, statement in enumerate(statements):
        depths = [depth for depth, chosen in zip((False, True), kinds) if id(statement) in chosen]
        body.append(_made(context, info, arrays, names, statement, depths, statements[i + 1 :]) if depths else statement)
    return info.node if all(a is b for a, b in zip(body, statements)) else tree.with_body(info.node, body)


def _made(context: Context, info: FunctionInfo, arrays: Arrays, names: AttributeNames, statement: Any, depths: list[bool], later: list[Any]) -> Any:
    holder, whole = info.self_name or "self", info.name != "__init__"

    def find(node: Any) -> Asked | None:
        return by_path(node) if _own_param(context, node, holder) is not None else None

    def before(n: cst.CSTNode) -> Any:
        if isinstance(n, cst.AssignTarget):
            return n
        small = assignment(tree.only_small(n))
        target: Any = small.targets[0].target if isinstance(small, cst.Assign) and len(small.targets) == 1 else None
        depth = _own_array(context, arrays, target, info) if target is not None else None
        if depth in depths and parameter_call(small.value) is None:
            read = {tree.code(a) for a in tree.nodes(small.value, cst.Attribute) if find(a) is not None}
            if whole or read <= {tree.code(target)}:
                return reinitialised(context, arrays, names, n, small, target, None, info)
            if any(tree.code(target).startswith(f"{path}.") for path in _copied(later)):
                context.report("module-value", n, "init gives this array its value, which copies of the module that are made before do not get")
            return None
        return (_there(context, arrays, n, info) or _answered(context, n, find)) if whole else None

    return tree.rewrite(statement, before, only={cst.SimpleStatementLine, cst.AssignTarget, cst.Attribute, cst.Call, cst.Comparison})


def _copied(statements: list[Any]) -> list[str]:
    """The paths of what statements copy: `[copy.deepcopy(self.layer) for _ in range(n)]`."""
    calls = [n for s in statements for n in tree.nodes(s, cst.Call) if is_copy(n) and getattr(tree.only_small(s), "value", None) is not n]
    return [tree.code(n.args[0].value) for n in calls]


def staying(original: Original, statement: Any) -> Any:
    """A loop or branch that cannot move to `init`, with the values that it gives arrays of submodules given in place."""
    context, arrays, init = original.context, original.arrays, original.cls.methods["__init__"]

    def below(node: Any) -> list[str]:
        """The arrays of submodules that a piece of code writes."""
        targets: list[Any] = [n.target for n in tree.nodes(node, cst.AssignTarget, cst.AugAssign)]  # type: ignore[attr-defined]
        return [tree.code(t) for t in targets if isinstance(t, cst.Attribute) and original.attribute(t) is None and arrays.held(t) in ("params", "state")]

    elsewhere = {path for s in original.statements for path in _outside(s, statement, below)} if below(statement) else set()

    def before(line: Any) -> Any:
        small = assignment(tree.only_small(line))
        if not isinstance(small, cst.Assign) or not below(small) or len(small.targets) != 1:
            return None
        target: Any = small.targets[0].target
        read = {tree.code(n) for n in tree.nodes(small.value, cst.Attribute) if arrays.held(n) in ("params", "state") or original.array(n) is not None}
        if not read <= {tree.code(target)} or tree.code(target) in elsewhere:
            small = tree.replace(small, value=context.unconverted("module-value", small.value, _ORDER))
        return reinitialised(context, arrays, original.names, line, small, target, None, init)

    return tree.rewrite(statement, before, only={cst.SimpleStatementLine})


def _outside(statement: Any, part: Any, find: Callable[[Any], list[str]]) -> list[str]:
    """What is found in a statement outside a part of it."""
    if statement is part:
        return []
    if not any(n is part for n in tree.walk(statement)):
        return find(statement)
    return [path for child in tree.children(statement) for path in _outside(child, part, find)]


def _answered(context: Context, node: Any, find: Any) -> Any:
    """What a method asks of params that are not made yet, asked of `init`."""
    if isinstance(node, cst.Comparison):
        return presence(context, node, find)
    if isinstance(node, cst.Call):
        there = presence(context, node, find)
        return there if there is not None else by_shape(context, node, find)
    if isinstance(node, cst.Attribute):
        if (known := fact(context, node, lambda n: find(undetached(n)))) is not None:
            return known
        if find(node) is not None:
            return context.unconverted("module-value", node, _READ)
    return None


def _there(context: Context, arrays: Arrays, node: Any, info: FunctionInfo) -> Any:
    """`nn.has(self, "w")` of `hasattr(self, "w")`, of an array of the class itself."""
    found = asked_by_name(node, "hasattr")
    if found is None or info.owner is None or tree.dotted(found[0]) != info.self_name:
        return None
    array = arrays.find(info.owner, found[1])
    return ask(context, "has", Asked(tree.code(found[0]), found[1])) if array is not None and array.where in ("params", "state") else None


def _own_param(context: Context, node: Any, holder: str) -> bool | None:
    """True for `self.weight`, False for `self.fc.weight`, None for what is no param by a path from self."""
    dotted = tree.dotted(node) if isinstance(node, cst.Attribute) else None
    if dotted is None or not dotted.startswith(f"{holder}."):
        return None
    value = context.value(node)
    return dotted.count(".") == 1 if isinstance(context.value(node.value), Module) and isinstance(value, Tensor) and value.param else None


def _own_array(context: Context, arrays: Arrays, node: Any, info: FunctionInfo) -> bool | None:
    """The same with the buffers of submodules."""
    depth = _own_param(context, node, info.self_name or "self")
    below = isinstance(node, cst.Attribute) and (tree.dotted(node.value) or "").startswith(f"{info.self_name}.")
    return False if depth is None and below and arrays.held(node) == "state" else depth


def assignment(small: Any) -> Any:
    """`self.fc.bias += 2`, which here gives no memory another value, as `self.fc.bias = self.fc.bias + 2`; other statements as they are."""
    augmented = isinstance(small, cst.AugAssign) and isinstance(small.target, cst.Attribute)
    return cst.Assign([cst.AssignTarget(small.target)], unaugmented(small)) if augmented else small


def reinitialised(context: Context, arrays: Arrays, names: AttributeNames, line: Any, small: cst.Assign, target: cst.Attribute, own: str | None, info: FunctionInfo) -> Any:
    """A line that gives a param another value, as `nn.reinitialise(module, name, function)`; None where it is another line."""
    value = initial_value(small.value)
    if target.attr.value == "data" and isinstance(target.value, cst.Attribute):
        target = target.value  # `m.scale.data = …` of a module whose class is not known
    if not _is_written(context, arrays, target, small.value, own, info.node) or is_none(value):
        return None
    name, path = target.attr.value, tree.code(target)

    def swap(n: cst.CSTNode) -> Any:
        if isinstance(n, cst.Attribute) and tree.code(n) in (path, f"{path}.data"):
            return cst.Name(name)
        if isinstance(n, cst.Call) and tree.dotted(n.func) == "lax.stop_gradient" and tree.code(n.args[0].value) == path:
            return cst.Name(name)  # nobody differentiates an initial value
        return None

    made = tree.expression(f'{context.name("reinitialise")}({tree.code(target.value)}, "{name}", 0)')
    args = [*made.args[:2], cst.Arg(initializer(info.node, value, (name,), swap, changing(context, names, info, value)))]
    return tree.replace(line, body=[cst.Expr(tree.replace(made, args=args))])


def _is_written(context: Context, arrays: Arrays, target: cst.Attribute, given: Any, own: str | None, function: cst.FunctionDef) -> bool:
    """Whether a target is a param or buffer of a module other than self, or of one that is made here; `own` is self, or None where its params count too."""
    base, value, name = context.value(target.value), context.value(target), target.attr.value
    named = name in context.rulebook.array_names or arrays.is_array_name(name) and isinstance(context.value(given), Tensor)
    dotted = tree.dotted(target.value)
    unknown = may_be_module(base)
    made_here = function.name.value != "__init__" and dotted in _submodules_made(context, function)
    if (dotted.split(".")[0] if dotted else "") == own and not made_here and not (unknown and dotted != own):
        return False
    if isinstance(base, Module):
        return named or isinstance(value, Tensor) and value.param or arrays.held(target) == "state"
    return unknown and named


def _submodules_made(context: Context, function: cst.FunctionDef) -> set[str]:
    """The paths of submodules that a method makes: it runs in the constructor, and gives their params values there."""
    assigned = [(tree.dotted(t.target), n.value) for n in tree.nodes(function.body, cst.Assign) for t in n.targets]
    return {path for path, value in assigned if path is not None and path.count(".") == 1 and isinstance(context.value(value), Module)}
