"""Writes to attributes of modules, while the model runs, that go around their names: no state can follow them.

    setattr(self, f"mean{i}", mean)    self.__dict__["t"] = t    vars(self)["t"] = t    self._buffers["t"] = t    getattr(self, name).data = t

Reads by a computed name of what may be a param or a submodule: which of them needs params is not known then:

    getattr(self, name)

And arrays that are kept beyond the call where no state is, which under jit are tracers, of that call alone:

    CACHE[n] = torch.hann_window(n)    grid.kept = torch.arange(n)    global LAST; LAST = x    self.seen.append(x)
    def trace(x, seen=[]): seen.append(x)

And what counts calls where no state is, which under jit counts the traces:

    global STEP; STEP += 1    Net.calls += 1
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from typing import Any

import libcst as cst

from . import tree
from .arrays import Arrays
from .computed_names import HOLE, may_be, pattern
from .context import Context
from .effects import is_set_by_name
from .project import ClassInfo
from .values import UNKNOWN, Class, Function, Mapping, Module, Sequence, Tensor, is_traced

_TABLES = ("__dict__", "_buffers", "_parameters")
_KEPT = "{} is kept beyond the call: an array that is made under jax.jit is of that call alone; make it each time, or before"
_MOVED = "{} moves on only where this is traced: under jax.jit every call has the same; give it as an argument, or keep it in an attribute of the module"
_GROWING = frozenset({"append", "extend", "insert"})
_MIXED = "which attribute this is is not known here, and it may be {}: write the name, or keep what is looked up in a ModuleDict or ParameterDict"
_HIDDEN = "an attribute is set by way of {}, which becomes no state here: what is read later is the value from before"


def report(context: Context, node: cst.FunctionDef, arrays: Arrays) -> None:
    """Report those of a function that runs in a forward pass, but for `setattr` of what is known to be an array."""
    statements = {id(n.value) for n in tree.nodes(node.body, cst.Expr)}
    for n in tree.nodes(node.body, cst.Call):
        if id(n) in statements and is_set_by_name(context.facts, n) and (array := arrays.asked(n)) is not None and array.where != "constant":
            continue
        name = tree.dotted(n.func) or ""
        if name == "getattr" and (held := _mixed(context, n, arrays)):
            context.report("dynamic-attribute", n, _MIXED.format(" or ".join(held)))
        if name.rpartition(".")[2] in ("setattr", "__setattr__"):
            holder: Any = n.args[0].value if len(n.args) == 3 else n.func.value if isinstance(n.func, cst.Attribute) else None
            if context.facts.is_module(holder):
                context.report("dynamic-attribute", n, _HIDDEN.format(name))
        elif isinstance(n.func, cst.Attribute) and n.func.attr.value == "update" and (table := _table(context, n.func.value)) is not None:
            context.report("dynamic-attribute", n, _HIDDEN.format(table))
    for target in _stored(node):
        if isinstance(target, cst.Subscript) and (table := _table(context, target.value)) is not None:
            context.report("dynamic-attribute", target, _HIDDEN.format(table))
        elif isinstance(target, cst.Attribute) and isinstance(made := target.value, cst.Call) and tree.dotted(made.func) == "getattr" and context.facts.is_module(made.args[0].value):
            context.report("dynamic-attribute", target, _HIDDEN.format("getattr"))


def _mixed(context: Context, call: cst.Call, arrays: Arrays) -> list[str]:
    """A param, or a module with some, and what else a name that is computed may stand for: no path is that of both."""
    owner = context.value(call.args[0].value) if len(call.args) in (2, 3) else None
    if not isinstance(owner, Module) or context.value(call) != UNKNOWN or HOLE not in (asked := pattern(call.args[1].value)):
        return []
    family = [c for ref in owner.refs if isinstance(ref, ClassInfo) for c in ref.family()]
    named = {name: value for c in family for name, value in context.facts.attribute_values(c).items() if may_be(name, asked)}
    found = {isinstance(value, Module): name for name, value in sorted(named.items(), reverse=True) if isinstance(value, (Module, Tensor)) and (isinstance(value, Module) or value.param)}
    return [found[kind] for kind in sorted(found)] if found else []


def _stored(node: cst.FunctionDef) -> Iterator[Any]:
    return (n.target for n in tree.nodes(node.body, cst.AssignTarget, cst.AugAssign))  # type: ignore[attr-defined]


def _table(context: Context, node: Any) -> str | None:
    """`self.__dict__`, `vars(self)`, `self._buffers`"""
    if isinstance(node, cst.Attribute) and node.attr.value in _TABLES:
        return node.attr.value if isinstance(context.value(node.value), Module) else None
    if isinstance(node, cst.Call) and tree.dotted(node.func) == "vars" and len(node.args) == 1:
        return "vars" if isinstance(context.value(node.args[0].value), Module) else None
    return None


def report_kept(context: Context, node: cst.FunctionDef, self_name: str | None, grown: Set[str], arrays: Arrays) -> None:
    """Report what is put where the next call finds it, and is no state: arrays, and numbers that move on; `grown` are the lists of self that are none."""
    shared = {item.name.value for n in tree.nodes(node.body, cst.Global) for item in n.names}
    shared_defaults = _shared_defaults(node)
    own = set(tree.names_assigned(node.body)) | tree.parameter_names(node)
    for n in tree.nodes(node.body, cst.Assign):
        if not is_traced(context.value(n.value)):
            continue
        for target in (t.target for t in n.targets):
            of_default = isinstance(target, cst.Subscript) and tree.dotted(target.value) in shared_defaults
            if of_default or _outlives(context, target, shared, own - shared, self_name) or _stays_on_module(context, target, arrays):
                context.report("taken-for-granted", target, _KEPT.format(tree.code(target)))
    for moved in tree.nodes(node.body, cst.AugAssign):
        if not is_traced(context.value(moved.target)) and _outlives(context, moved.target, shared, own - shared, self_name):
            context.report("taken-for-granted", moved.target, _MOVED.format(tree.code(moved.target)))
    for line in tree.nodes(node.body, cst.Expr):
        call: Any = line.value
        holder = call.func.value if isinstance(call, cst.Call) and isinstance(call.func, cst.Attribute) and call.func.attr.value in _GROWING else None
        if holder is not None and tree.dotted(holder) in grown | shared_defaults and any(isinstance(context.value(a.value), Tensor) for a in call.args):
            context.report("taken-for-granted", call, _KEPT.format(f"what {tree.dotted(holder)} gets"))


def _stays_on_module(context: Context, target: Any, arrays: Arrays) -> bool:
    """Whether an array is set on a module whose state is not at hand: `for m in self.modules(): m.mask = mask`."""
    holder = context.value(target.value) if isinstance(target, cst.Attribute) else None
    return isinstance(holder, Module) and not holder.is_self and not holder.is_bare and arrays.held(target) is None


def _shared_defaults(node: cst.FunctionDef) -> set[str]:
    """The parameters whose default is a list or dict, of which there is one for all calls; not where the function gives them another."""
    given = [p for p in tree.nodes(node.params, cst.Param) if isinstance(p.default, (cst.List, cst.Dict)) or isinstance(p.default, cst.Call) and tree.dotted(p.default.func) in ("list", "dict")]
    return {p.name.value for p in given} - set(tree.names_assigned(node.body))


def _outlives(context: Context, target: Any, shared: set[str], own: set[str], self_name: str | None) -> bool:
    if isinstance(target, cst.Name):
        return target.value in shared
    if isinstance(target, cst.Subscript) and isinstance(target.value, cst.Name):
        name = target.value.value
        return name not in own and name in context.module.assigned and isinstance(context.value(target.value), (Mapping, Sequence))
    if not isinstance(target, cst.Attribute) or not isinstance(target.value, cst.Name):
        return False
    holder = context.value(target.value)
    given = isinstance(holder, Module) and self_name is None and target.value.value == "self"  # of a method that is static
    return given or isinstance(holder, (Function, Class))
