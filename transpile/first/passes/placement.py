"""Where and how torch keeps the params of a layer, passed through constructors: JAX decides that elsewhere.

    dd = {"device": device, "dtype": dtype}
    self.norm = norm_layer(dim, **dd)              ->              self.norm = norm_layer(dim)
    self.conv = nn.Conv2d(dim, dim, 1, **kwargs)                   self.conv = nn.Conv2d(dim, dim, 1, **nn.unplaced(kwargs))

The last where a caller puts them into kwargs. The user's own classes and functions keep the arguments that they ask for.
"""

from __future__ import annotations

from typing import Any

import libcst as cst

from ...rule import PLACEMENT
from .. import tree
from ..context import Context
from ..emit import call
from ..project import ClassInfo
from ..values import PLACED, Class, External, Function, Mapping, Method, Module, Tensor, Torch, Value

WORDS = PLACEMENT | {"dtype"}


def run(context: Context, module: cst.Module) -> cst.Module:
    """Rewrite the functions of one file."""

    def after(node: Any) -> Any:
        held = {name: words for name, words in _held(node).items() if _only_spread(node, name)}
        new = _Calls(context, held).function(node)
        if new is not node:
            context.facts.carry(node, new)
        return new

    return tree.rewrite(module, None, after, only={cst.FunctionDef})  # type: ignore[no-any-return]


def _held(node: cst.FunctionDef) -> dict[str, dict[str, Any]]:
    """The local dicts of nothing but placement, with their items."""
    found = {}
    for small in tree.scope_nodes(node.body, cst.Assign):
        name, items = _single_target(small), _items(small.value)
        if name and items and set(items) <= WORDS and not any(_does(n) for v in items.values() for n in tree.walk(v)):
            found[name] = items
    if not found:
        return found
    once = tree.bound_once(node.body) - tree.parameter_names(node)
    return {name: items for name, items in found.items() if name in once}


def _does(node: cst.CSTNode) -> bool:
    """A call that may do something; `kwargs.get("device", None)` only looks."""
    return isinstance(node, cst.Call) and not (isinstance(node.func, cst.Attribute) and node.func.attr.value == "get")


def _single_target(small: Any) -> str:
    if isinstance(small, cst.Assign) and len(small.targets) == 1 and isinstance(small.targets[0].target, cst.Name):
        return small.targets[0].target.value
    return ""


def _items(value: Any) -> dict[str, Any] | None:
    """`{"device": device}` or `dict(device=device)`, by key."""
    if isinstance(value, cst.Dict) and all(isinstance(e, cst.DictElement) and isinstance(e.key, cst.SimpleString) for e in value.elements):
        return {str(e.key.evaluated_value): e.value for e in value.elements}  # type: ignore[attr-defined]
    if isinstance(value, cst.Call) and tree.dotted(value.func) == "dict" and all(a.keyword is not None for a in value.args):
        return {a.keyword.value: a.value for a in value.args if a.keyword is not None}
    return None


def _only_spread(node: cst.FunctionDef, name: str) -> bool:
    """Whether every use of a name is `**name` in a call."""
    spread = sum(a.star == "**" and isinstance(a.value, cst.Name) and a.value.value == name for a in tree.nodes(node.body, cst.Arg))
    return spread == sum(n.value == name for n in tree.nodes(node.body, cst.Name)) - 1


class _Calls:
    """The calls of one function that get such dicts, or such arguments where the class is a variable."""

    def __init__(self, context: Context, held: dict[str, dict[str, Any]]) -> None:
        self.context, self.held = context, held
        self.kept: set[str] = set()
        self.local: set[str] = set()

    def function(self, node: cst.FunctionDef) -> cst.FunctionDef:
        self.local = {*tree.times_bound(node.body), *(p.name.value for p in tree.walk(node.params) if isinstance(p, cst.Param))}
        body = tree.rewrite(node.body, None, self._call, only={cst.Call})
        gone = set(self.held) - self.kept
        if gone:
            body = tree.rewrite(body, lambda line: cst.RemoveFromParent() if self._only_binds(line, gone) else None, only={cst.SimpleStatementLine})
        return node if body is node.body else tree.replace(node, body=body)

    @staticmethod
    def _only_binds(line: Any, names: set[str]) -> bool:
        return len(line.body) == 1 and _single_target(line.body[0]) in names

    def _call(self, node: Any) -> Any:
        if not any(self._is_placement(a) or self._may_place(a) for a in node.args):
            return node
        target = self.context.value(node.func)
        if isinstance(target, External) and target.name.endswith("partial") and node.args:
            target = self.context.value(node.args[0].value)
        variable = isinstance(node.func, cst.Name) and node.func.value in self.local
        if isinstance(target, Class) and isinstance(target.ref, ClassInfo) and target.ref.find("__init__") is None and target.ref.torch_base() is not None:
            target = Torch(target.ref.torch_base() or "")  # its constructor is that of the layer which it extends
        computes = self._computes(target, node)
        if isinstance(target, (Function, External)) or isinstance(target, Class) and isinstance(target.ref, ClassInfo) and not variable:
            self.kept |= {a.value.value for a in node.args if self._spreads(a)}
            return node
        rules = self.context.rulebook.find(target.name.removesuffix(".__init__")) if isinstance(target, Torch) else ()
        constructs = not computes and (not isinstance(target, Torch) or bool(rules) and rules[0].is_class)
        if not constructs:
            args = [b for a in node.args for b in (self._spelt(a) if self._spreads(a) else [a])]
        elif isinstance(target, Torch):
            args = [a for a in node.args if not self._spreads(a)]  # what is spelt out is the rule's affair
        else:
            args = [a for a in node.args if not self._is_placement(a)]
        if constructs:
            args = [tree.replace(a, value=call(self.context.name("unplaced"), [a.value])) if self._may_place(a) else a for a in args]
        if len(args) == len(node.args) and all(a is b for a, b in zip(args, node.args)):
            return node
        if args and len(args) != len(node.args):
            args[-1] = tree.replace(args[-1], comma=cst.MaybeSentinel.DEFAULT)
        new = tree.replace(node, args=args)
        self.context.facts.carry(node, new)
        return new

    def _computes(self, target: Value, node: cst.Call) -> bool:
        """Whether a call goes by the dtype: `x.to(dtype=dtype)`, `op(x, dtype=dtype)` of a tensor; what is no layer's constructor."""
        if isinstance(target, Method) and not isinstance(target.receiver, Module) and self.context.rulebook.find(f"torch.Tensor.{target.name}"):
            return True
        return not isinstance(target, (Class, Torch)) and any(isinstance(self.context.value(a.value), Tensor) for a in node.args)

    def _spreads(self, argument: cst.Arg) -> bool:
        return argument.star == "**" and isinstance(argument.value, cst.Name) and argument.value.value in self.held

    def _may_place(self, argument: cst.Arg) -> bool:
        """`**kwargs`, into which a caller may have put placement."""
        value = self.context.value(argument.value)
        return argument.star == "**" and isinstance(value, Mapping) and value.placed and not self._spreads(argument)

    def _is_placement(self, argument: cst.Arg) -> bool:
        """`**dd`, or `device=device` passed on as it came."""
        if self._spreads(argument):
            return True
        return argument.keyword is not None and argument.keyword.value in PLACED and tree.code(argument.value) in PLACED

    def _spelt(self, argument: Any) -> list[cst.Arg]:
        """`dtype=dtype` of `**dd`: a function of torch's that makes a tensor goes by it."""
        made = []
        for name, value in self.held[argument.value.value].items():
            if name == "dtype":
                spelt = tree.expression("f(x=y)").args[0]
                made.append(tree.replace(spelt, keyword=cst.Name(name), value=value))
        return made
