"""Initial values as functions of a key, and the declarations that hold them where they stand: `nn.Parameter(lambda key: …)`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import libcst as cst

from ... import tree
from ...arrays import Array, registered_value, returns_parameter
from ...computed_names import pattern
from ...context import Context
from ...dataflow import reads
from ...infer import REGISTERS
from ...project import FunctionInfo
from ...values import Module, Static
from .attribute_names import AttributeNames
from .bindings import growing, has_key, unsteady
from .constructors import Original
from .initial_values import holds_parameter, initial_value, is_none, parameter_call, registered_name
from .present import changing

_NOT_MADE = "a loop of a constructor cannot read arrays, which init makes; give this one its value in one statement"


def initializer(function: cst.FunctionDef, value: Any, given: tuple[str, ...] = (), swap: tree.Rewriter | None = None, attributes: Mapping[str, str] = MappingProxyType({})) -> Any:
    """`lambda weight, key: value`, made in a function; `given` are the names that come before the key, which `swap` puts in.

    It is called later: names that the function assigns more than once or in a loop keep the present value as defaults, `n=n`;
    so do its own names that are the lambda's too, under another name: `key_=key`, the `attributes` that have other values then, each by what keeps it, and
    copies of the lists that grow later.
    """
    taken = {*given, "key"}
    read = tree.names_read(value)
    own = {name: next(f"{name}{'_' * n}" for n in range(1, 9) if f"{name}{'_' * n}" not in read | taken) for name in sorted(taken & set(reads(value)))}
    body = tree.with_names(value, lambda n: cst.Name(own[n.value]) if n.value in own else None) if own else value
    body = body if swap is None else tree.rewrite(body, swap)
    (body,), present = present_values([body], attributes)
    kept = own | {name: name for name in set(reads(body)) & unsteady(function, inside=True) - taken}
    present |= {kept[name]: name for name in kept} | {name: f"{name}.copy()" for name in set(reads(body)) & growing(function, value) - taken}
    defaults = "".join(f", {name}={present[name]}" for name in sorted(present))
    return tree.replace(tree.expression(f"lambda {', '.join((*given, 'key'))}{defaults}: 0"), body=body)


def present_values(body: list[Any], attributes: Mapping[str, str]) -> tuple[list[Any], dict[str, str]]:
    """Code that reads attributes by names, and what these stand for."""
    if not attributes:
        return body, {}
    read = {name for part in body for name in tree.names_read(part)}
    names = {code: next(f"{stem}{'_' * n}" for n in range(9) if f"{stem}{'_' * n}" not in read | {"key"}) for code in attributes for stem in [code.rpartition(".")[2]]}
    body = [tree.rewrite(part, lambda n: cst.Name(names[tree.code(n)]) if isinstance(n, cst.Attribute) and tree.code(n) in names else None) for part in body]
    now = {name for part in body for name in tree.names_read(part)}
    return body, {name: attributes[code] for code, name in names.items() if name in now}


def declaration(context: Context, names: AttributeNames, kind: str, value: Any, info: FunctionInfo, function: cst.FunctionDef, lost: Sequence[str] = ()) -> Any:
    """`nn.Parameter(lambda key: value)`"""
    kept = {code: names.keeping(info.owner, code) for code in lost} | changing(context, names, info, value)
    return tree.replace(tree.expression(f"{context.name(kind)}()"), args=[cst.Arg(initializer(function, value, attributes=kept))])


def declare_parameters(context: Context, names: AttributeNames, node: Any, info: FunctionInfo, function: cst.FunctionDef) -> Any:
    """Every `nn.Parameter(value)` below becomes a declaration."""

    def before(n: cst.CSTNode) -> Any:
        if isinstance(n, cst.Expr) and isinstance(n.value, cst.Call):
            return _put_into_bare(context, n.value, lambda value: declaration(context, names, "Buffer", value, info, function), before)
        inner = parameter_call(n)
        if inner is not None and not isinstance(inner, cst.Lambda):
            return declaration(context, names, "Parameter", inner, info, function)
        return None

    return tree.rewrite(node, before, only={cst.Call, cst.Expr})


def _put_into_bare(context: Context, call: cst.Call, buffer: Callable[[Any], Any], parameter: tree.Rewriter) -> Any:
    """`setattr(self.noises, f"noise_{i}", nn.Buffer(lambda key: value))` of `self.noises.register_buffer(f"noise_{i}", value)`; None of other calls."""
    func, value = call.func, registered_value(call)
    if not isinstance(func, cst.Attribute) or func.attr.value not in REGISTERS or value is None:
        return None
    holder = context.value(func.value)
    if not isinstance(holder, Module) or not holder.is_bare:
        return None
    made = value if is_none(value) else buffer(value) if func.attr.value == "register_buffer" else tree.rewrite(value, parameter)
    if (name := registered_name(call)) is not None and name.isidentifier():
        return cst.Assign([cst.AssignTarget(tree.replace(func, attr=cst.Name(name)))], made)
    place = next(a.value for a in call.args if a.keyword is None or a.keyword.value == "name")
    return cst.Expr(cst.Call(cst.Name("setattr"), [cst.Arg(func.value), cst.Arg(place), cst.Arg(made)]))


def makes_array(original: Original, line: Any) -> bool:
    """Whether a line makes an array of self, and does not write to one that is there."""
    small = line.body[0]
    target: Any = small.targets[0].target if isinstance(small, cst.Assign) else getattr(small, "target", None)
    value = registered_value(small.value) if isinstance(small, cst.Expr) and isinstance(small.value, cst.Call) else getattr(small, "value", None)
    if target is not None and original.attribute(target) is None or value is None:
        return False
    return not any(original.array(n) is not None for n in tree.nodes(value, cst.Attribute))


def declared(original: Original, line: Any, lost: Sequence[str] = ()) -> list[Any]:
    """A line that makes an array which cannot move, as a declaration; `lost` is what it reads and has other values later."""
    new = _declared(original, line.body[0], [code for code in lost if "." in code])
    return [tree.replace(line, body=[new])] if new is not None else []


def declared_below(original: Original, statement: Any) -> Any:
    """Turn every array made below into a declaration; for loops and the like."""

    def before(node: cst.CSTNode) -> Any:
        if isinstance(node, (cst.Assign, cst.Expr)):
            new = _declared(original, node)
            return new if new is not None else node
        return None

    return tree.rewrite(statement, before)


def _declared(original: Original, small: Any, lost: Sequence[str] = ()) -> Any:
    if isinstance(small, cst.AnnAssign) and small.value is not None:
        small = cst.Assign([cst.AssignTarget(small.target)], small.value)  # `self.w: Tensor = nn.Parameter(…)` is of another type here
    if isinstance(small, cst.Assign) and len(small.targets) == 1:
        name = original.attribute(small.targets[0].target)
        array = original.own.get(name) if name is not None else None
        if array is not None and array.where in ("params", "state") and not is_none(small.value):
            return _assigned(original, small, array, lost)
    if isinstance(small, cst.Expr) and isinstance(small.value, cst.Call) and small.value.args:
        function = original.attribute(small.value.func)
        if function in REGISTERS:
            return _registered(original, small.value, "Buffer" if function == "register_buffer" else "Parameter", lost)
    return tree.replace(small, value=_inside(original, small.value)) if isinstance(small, (cst.Assign, cst.Expr)) else small


def _assigned(original: Original, small: cst.Assign, array: Array, lost: Sequence[str]) -> Any:
    """`self.weight = …`"""
    if array.where == "params" and (parameter_call(small.value) is None and holds_parameter(small.value) or returns_parameter(original.context.facts, small.value)):
        return tree.replace(small, value=_inside(original, small.value))
    if array.where == "state" and isinstance(original.context.value(small.value), Static):
        return None
    if any(original.array(n) is not None for n in tree.nodes(small.value, cst.Attribute)):
        return tree.replace(small, value=original.context.unconverted("module-value", small.value, _NOT_MADE))
    kind = "Parameter" if array.where == "params" else "Buffer"
    return tree.replace(small, value=declaration(original.context, original.names, kind, initial_value(small.value), original.info, original.node, lost))


_DRAWN = "a buffer of random numbers under a computed name: give each a name that is written out"


def _registered(original: Original, call: cst.Call, kind: str, lost: Sequence[str]) -> Any:
    """`self.register_buffer("mask", mask)`, also under a computed name."""
    initial = registered_value(call)
    if initial is None:
        return None
    made_there = returns_parameter(original.context.facts, initial)
    value = initial if is_none(initial) or made_there else declaration(original.context, original.names, kind, initial_value(initial), original.info, original.node, lost)
    name = registered_name(call)
    if name is None:
        array = original.arrays.computed(original.cls, pattern(call.args[0].value))
        if kind == "Buffer" and not is_none(initial) and (array is None or array.where == "constant"):
            # read as an attribute: a constant, which the weights of another model cannot change
            value = original.context.unconverted("dynamic-attribute", call, _DRAWN) if has_key(initial) else initial
        made = tree.expression(f"setattr({original.self_name}, {tree.code(call.args[0].value)}, 0)")
        return cst.Expr(tree.replace(made, args=[*made.args[:2], cst.Arg(value)]))
    array = original.own.get(name)
    if array is not None and array.where == "constant" and not is_none(initial):
        if has_key(initial):
            array.where = "state"
        else:
            value = initial
    return original.setting(name, value)


def _inside(original: Original, node: Any) -> Any:
    return declare_parameters(original.context, original.names, node, original.info, original.node)
