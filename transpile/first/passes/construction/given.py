"""Initialisers that a constructor is given, or picks: `init(conv.weight)`, `INITIALISERS[name](self.fc.weight)`."""

from __future__ import annotations

from typing import Any

import libcst as cst

from ... import tree
from ...context import Context
from ...emit import keyword
from ...project import FunctionInfo
from ...values import UNKNOWN, Class, Function, Method, Module, Tensor


def is_given(context: Context, func: Any, info: FunctionInfo) -> bool:
    """Whether a function is one that a piece of code is given, or picks: by name in a parameter or local, by index, or as a method of an object."""
    if isinstance(func, cst.Attribute):
        return _of_object(context, func, info)
    name = func.value if isinstance(func, cst.Subscript) else func
    if not isinstance(name, cst.Name) or isinstance(context.value(func), (Function, Module, Tensor, Class)):
        return False
    return isinstance(func, cst.Subscript) or name.value in tree.parameter_names(info.node) or name.value in tree.times_bound(info.node.body)


def _of_object(context: Context, func: cst.Attribute, info: FunctionInfo) -> bool:
    """`scheme.apply` where `scheme = Scheme("normal")` is an object of a plain class of the user's."""
    value = context.value(func)
    if value != UNKNOWN and not (isinstance(value, Method) and value.receiver == UNKNOWN):
        return False
    holder: Any = func.value.func if isinstance(func.value, cst.Call) else func.value
    local = isinstance(holder, cst.Name) and (isinstance(func.value, cst.Call) or holder.value in tree.times_bound(info.node.body) or holder.value in tree.parameter_names(info.node))
    owners = context.facts.owners.get(func.attr.value, [])
    return local and bool(owners) and not any(c.is_module for c in owners)


def initial(context: Context, made: cst.Call, key: cst.Name) -> cst.Call:
    """What such an initialiser makes of an array: `nn.initial(init, conv.weight, key=key)`."""
    return cst.Call(tree.expression(context.name("initial")), [cst.Arg(made.func), *made.args, keyword("key", key)])
