"""Which of the user's functions an expression may stand for, where its name alone does not tell: `f if flag else g`, `table[k]`, `lambda t: t`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import libcst as cst

from . import tree
from .context import Context
from .project import FunctionInfo
from .values import External, Function, Method, Tensor, Torch


@dataclass(frozen=True)
class Callee:
    """One of the functions that a call may run."""

    function: FunctionInfo | cst.Lambda
    scope: FunctionInfo | None = None  # where a lambda stands
    bound: bool = False  # some of its arguments are given already: `partial(f, 2)`


def callees(context: Context, info: FunctionInfo, node: Any) -> list[Callee]:
    """The functions that an expression in a function may be, as far as can be said."""
    return list(dict.fromkeys(_Look(context).found(node, info)))


class _Look:
    def __init__(self, context: Context) -> None:
        self.context = context
        self.seen: set[int] = set()  # a name may be bound by way of itself

    def found(self, node: Any, scope: FunctionInfo | None) -> Iterator[Callee]:
        if id(node) in self.seen:
            return
        self.seen.add(id(node))
        value = self.context.value(node)
        if isinstance(value, Function):
            yield from map(Callee, _overrides(value))
        elif isinstance(value, (Torch, Method)) or isinstance(value, Tensor) and not value.assumed:
            return
        elif isinstance(node, cst.Lambda):
            yield Callee(node, scope)
        elif isinstance(node, cst.Name):
            yield from self._named(node.value, scope)
        elif isinstance(node, cst.Attribute):
            yield from self._of_self(node, scope)
        elif isinstance(node, cst.Call):
            yield from self._given(node, scope)
        else:
            for part in _parts(node):
                yield from self.found(part, scope)

    def _named(self, name: str, scope: FunctionInfo | None) -> Iterator[Callee]:
        """What a name is bound to: in the function, the functions around it, or the file."""
        function = scope
        while function is not None:
            bound, defined = list(_bound(function, name)), [n for n in tree.definitions(function.node.body) if n.name.value == name]
            for node in bound:
                yield from self.found(node, function)
            for info in filter(None, (self.context.facts.by_node.get(id(n)) for n in defined if isinstance(n, cst.FunctionDef))):
                yield Callee(info)
            if bound or defined or name in tree.parameter_names(function.node):
                return
            function = function.outer
        found = self.context.facts.project.definition(scope.module if scope is not None else self.context.module, name)
        if isinstance(found, FunctionInfo):
            yield Callee(found)
        elif isinstance(found, cst.BaseExpression):
            yield from self.found(found, None)

    def _of_self(self, node: cst.Attribute, scope: FunctionInfo | None) -> Iterator[Callee]:
        """What the methods of a class, or its body, give an attribute."""
        if scope is None or scope.owner is None or tree.dotted(node.value) != scope.self_name:
            return
        for cls in scope.owner.family():
            if node.attr.value in cls.assigned:
                yield from self.found(cls.assigned[node.attr.value], None)
            for method in cls.methods.values():
                for assign in tree.nodes(method.node.body, cst.Assign):
                    if any(tree.dotted(t.target) == f"{method.self_name}.{node.attr.value}" for t in assign.targets):
                        yield from self.found(assign.value, method)

    def _given(self, node: cst.Call, scope: FunctionInfo | None) -> Iterator[Callee]:
        """What a call gives back: `partial(f, 2)`, `table.get(k, f)`, `getattr(self, name)`, `activation(name)`."""
        value = self.context.value(node.func)
        if isinstance(value, External) and value.name in ("functools.partial", "partial") and node.args:
            yield from (Callee(c.function, c.scope, True) for c in self.found(node.args[0].value, scope))
        elif isinstance(value, External) and value.name == "builtins.getattr" and node.args and scope is not None and tree.dotted(node.args[0].value) == scope.self_name:
            assert scope.owner is not None
            yield from (Callee(m) for m in scope.owner.methods.values() if m.name != "forward" and not m.name.startswith("__") and m is not scope)
        elif isinstance(value, External):
            for argument in node.args:
                yield from self.found(argument.value, scope)
        elif isinstance(node.func, cst.Attribute) and node.func.attr.value in ("get", "pop"):
            for part in (node.func.value, *(a.value for a in node.args[1:])):
                yield from self.found(part, scope)
        if isinstance(value, Function):
            for given in tree.scope_nodes(value.info.node.body, cst.Return):
                if given.value is not None:
                    yield from self.found(given.value, value.info)


def _overrides(value: Function) -> list[FunctionInfo]:
    """The function, and the methods of subclasses that a call on self may mean."""
    info, owner = value.info, value.owner
    if value.base or owner is None or info.owner is None or info.is_static:
        return [info]
    return [info, *(d.methods[info.name] for d in owner.descendants() if info.name in d.methods and d.methods[info.name] is not info)]


def _bound(function: FunctionInfo, name: str) -> Iterator[Any]:
    """The expressions that a function takes a name from: in assignments, loops, and its default."""
    node: Any
    for node in tree.scope_nodes(function.node.body, cst.Assign, cst.AnnAssign, cst.NamedExpr, cst.For):
        targets = [t.target for t in node.targets] if isinstance(node, cst.Assign) else [node.target]
        given = node.iter if isinstance(node, cst.For) else node.value
        if given is not None and any(name in tree.target_names(t) for t in targets):
            yield given
    for parameter in function.parameters():
        if parameter.name.value == name and parameter.default is not None:
            yield parameter.default


def _parts(node: Any) -> list[Any]:
    """The expressions that a choice, a display, or an entry of one gives."""
    if isinstance(node, cst.IfExp):
        return [node.body, node.orelse]
    if isinstance(node, cst.BooleanOperation):
        return [node.left, node.right]
    if isinstance(node, (cst.NamedExpr, cst.Subscript)):
        return [node.value]
    if isinstance(node, (cst.Tuple, cst.List, cst.Set, cst.Dict)):
        return [e.value for e in node.elements]
    return []
