"""Initialisers of modules other than self, run while models are built: their writes become `nn.reinitialise`, their walks functions of jax_nn.py."""

from __future__ import annotations

from typing import Any

import libcst as cst

from ... import tree
from ...arrays import Arrays, registered_value
from ...context import KEY, Context
from ...emit import call, walk
from ...infer import WALKS
from ...project import ClassInfo, FunctionInfo
from ...values import UNKNOWN, Function, Module, Static
from .absent_arrays import taken_away
from .attribute_names import AttributeNames
from .declarations import initializer
from .drawn_values import with_functions
from .given import initial, is_given
from .in_place import assignment, reinitialised
from .initial_values import registered_name
from .parameter_loops import over_parameters
from .present import changing
from .questions import (
    asked_by_name,
    asked_elsewhere,
    below_self,
    filled_modules,
    foreign_array,
    said_once,
    truth_asked,
    undetached,
)


def reinitialise(context: Context, node: cst.FunctionDef, info: FunctionInfo, arrays: Arrays, names: AttributeNames) -> cst.FunctionDef:
    """Writes to the params of modules other than self, while models are built, become `nn.reinitialise`."""
    own, filled = info.self_name, filled_modules(context, node, info.self_name)

    def before(n: cst.CSTNode) -> Any:
        if isinstance(n, cst.SimpleStatementLine):
            return _line(context, n, info, arrays, names) if len(n.body) == 1 else None
        if isinstance(n, cst.For):
            made = over_parameters(context, n, info, names)
            return tree.rewrite(made, lambda inner: None if inner is made else before(inner)) if isinstance(made, cst.For) else made
        if isinstance(n, (cst.If, cst.IfExp)):
            test = truth_asked(context, n.test, own)
            return tree.rewrite(tree.replace(n, test=test), lambda inner: before(inner) if inner is not test else test) if test is not None else None
        if isinstance(n, cst.Call) and (made := _call(context, n)) is not None:
            return made
        if isinstance(n, cst.Attribute) and _computed(context, n):
            return _filled(context, n)
        if isinstance(n, (cst.Comparison, cst.Attribute, cst.Call)) and (asked := asked_elsewhere(context, n, own, filled)) is not None:
            return asked
        return _applied(context, n) if isinstance(n, cst.Call) else None

    only = {cst.SimpleStatementLine, cst.For, cst.If, cst.IfExp, cst.Call, cst.Comparison, cst.Attribute, cst.BooleanOperation}
    return with_functions(context, names, tree.rewrite(node, before, said_once, only=only), info)


def _line(context: Context, line: cst.SimpleStatementLine, info: FunctionInfo, arrays: Arrays, names: AttributeNames) -> Any:
    """A line that holds one small statement."""
    small = line.body[0]
    if (registered := _registered_again(context, small, info, arrays)) is not None:
        return tree.replace(line, body=[registered])
    if (given := _passed_in(context, small, info, names)) is not None:
        return tree.replace(line, body=[given])
    if isinstance(small, cst.Expr) and isinstance(small.value, cst.Call) and tree.dotted(small.value.func) == "lax.stop_gradient":
        return cst.RemoveFromParent()  # `self.norm.bias.requires_grad_(False)`: which params are trained is the training step's affair
    if (absent := taken_away(context, line, info.self_name)) is not None:
        return absent
    small = assignment(small)
    target = small.targets[0].target if isinstance(small, cst.Assign) and len(small.targets) == 1 else None
    if not isinstance(small, cst.Assign) or not isinstance(target, cst.Attribute):
        return None
    if _computed(context, target) and _filled(context, target) is None:
        return cst.RemoveFromParent()  # torch computes the weight anew in each call: what is filled here is lost
    return reinitialised(context, arrays, names, line, small, target, info.self_name, info)


def _passed_in(context: Context, small: Any, info: FunctionInfo, names: AttributeNames) -> Any:
    """`init(conv.weight)` with an initialiser that is a parameter or a local, or `INITIALISERS[name](self.fc.weight)`."""
    made = small.value if isinstance(small, cst.Expr) else None
    if not isinstance(made, cst.Call) or not made.args or any(a.star for a in made.args) or not is_given(context, made.func, info):
        return None
    first = made.args[0].value
    array = foreign_array(context, undetached(first), info.self_name) or below_self(context, undetached(first), info.self_name)
    if array is None:
        return None
    made_of = initial(context, made, cst.Name(KEY))
    present = changing(context, names, info, made_of)
    function = initializer(info.node, made_of, (array.name,), lambda n: {id(first): cst.Name(array.name), KEY: cst.Name("key")}.get(n.value if isinstance(n, cst.Name) else id(n)), present)
    line = tree.expression(f'{context.name("reinitialise")}({array.holder}, "{array.name}", 0)')
    return cst.Expr(tree.replace(line, args=[*line.args[:2], cst.Arg(function)]))


def _registered_again(context: Context, small: Any, info: FunctionInfo, arrays: Arrays) -> Any:
    """`self.register_buffer("mask", mask)` in a method that a constructor calls, of a buffer that is a constant: `self.mask = mask`."""
    made = small.value if isinstance(small, cst.Expr) else None
    if not isinstance(made, cst.Call) or info.owner is None or info.name == "__init__" or tree.dotted(made.func) != f"{info.self_name}.register_buffer" or not made.args:
        return None
    name, value = context.value(made.args[0].value), registered_value(made)  # the name may be known without being written out
    if not isinstance(name, Static) or not isinstance(name.const, str) or value is None:
        return None
    array = arrays.find(info.owner, name.const)
    if array is None or array.where != "constant" or not _registers(info.owner, name.const):
        return None
    return cst.Assign([cst.AssignTarget(tree.expression(f"{info.self_name}.{name.const}"))], value)


def _registers(cls: ClassInfo, name: str) -> bool:
    """Whether the constructor has a buffer of this name already."""
    calls = [n for c in cls.ancestors() if "__init__" in c.methods for n in tree.nodes(c.methods["__init__"].node.body, cst.Call)]
    return any(isinstance(n.func, cst.Attribute) and n.func.attr.value == "register_buffer" and registered_name(n) == name for n in calls)


def _call(context: Context, node: cst.Call) -> Any:
    """Calls of other modules' methods that give or walk over params."""
    if (reset := _reset(context, node)) is not None:
        return reset
    if tree.dotted(node.func) == "list" and len(node.args) == 1 and isinstance(node.args[0].value, cst.Call):  # `list(net.children())`
        listed = _call(context, node.args[0].value)
        return listed if isinstance(listed, cst.ListComp) else None
    return _walked(context, node, node.func) if isinstance(node.func, cst.Attribute) and not node.args else None


def _reset(context: Context, node: cst.Call) -> Any:
    """`m.reset_parameters()` of a layer of torch's, or of any module, and `hasattr(m, "reset_parameters")`."""
    asked = asked_by_name(node, "hasattr")
    if asked is not None and asked[1] == "reset_parameters":
        return call(context.name("resets"), [asked[0]]) if _is_other_module(context, asked[0]) else None
    if not isinstance(node.func, cst.Attribute) or node.func.attr.value != "reset_parameters" or node.args:
        return None
    known = _is_other_module(context, node.func.value) and not isinstance(context.value(node.func), Function)
    return call(context.name("reset_parameters"), [node.func.value]) if known else None


def _is_other_module(context: Context, node: Any) -> bool:
    value = context.value(node)
    return isinstance(value, Module) and not value.is_self


def _walked(context: Context, node: cst.Call, func: cst.Attribute) -> Any:
    """`m.modules()`, `m.children()` and their named forms, while models are built."""
    name = func.attr.value
    known = context.value(func.value)
    if not isinstance(known, Module) and not (known == UNKNOWN and name in WALKS):
        return None
    if name in WALKS:
        return walk(context.name, func.value, name)
    if name in ("parameters", "named_parameters"):
        return call(context.name(name), [func.value])
    if name in ("state_dict", "buffers", "named_buffers"):
        return context.unconverted("module-value", node, f"a module has no arrays of its own here, so that {name}() has nothing to give while it is built")
    return None


def _applied(context: Context, node: cst.Call) -> Any:
    """`m.apply(f)`"""
    if not isinstance(node.func, cst.Attribute) or node.func.attr.value != "apply" or len(node.args) != 1:
        return None
    return call(context.name("apply"), [node.func.value, node.args[0].value]) if isinstance(context.value(node.func.value), Module) else None


# ------------------------------------------------------------------ weights that a layer computes from other params


def _computed(context: Context, node: cst.Attribute) -> bool:
    """`self.conv.weight` of a layer that computes it from other params: `self.conv = spectral_norm(nn.Conv2d(3, 3, 1))`."""
    layers = _layers(context, node)
    return bool(layers) and all(context.rulebook.computed(layer, node.attr.value) for layer in layers)


def _filled(context: Context, node: cst.Attribute) -> Any:
    """The param that is the same memory while the model is built, so that initialisers fill it; None where there is none."""
    names = {context.rulebook.filled(layer, node.attr.value) for layer in _layers(context, node)}
    name = names.pop() if len(names) == 1 else None
    if name is None:
        return None
    made = tree.replace(node, attr=cst.Name(name))
    context.facts.carry(node, made)
    return made


def _layers(context: Context, node: cst.Attribute) -> list[str]:
    """The definitions of torch's layers that an attribute may be an array of; none where it may be something else's."""
    base = context.value(node.value)
    layers = [context.rulebook.layer(ref) if isinstance(ref, str) else None for ref in base.refs] if isinstance(base, Module) and not base.open else []
    return [layer.name for layer in layers if layer is not None] if all(layers) else []
