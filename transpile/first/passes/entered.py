"""Blocks of a kind that is chosen before: what changes no value goes, and a choice whether gradients flow is a flag.

    context = torch.no_grad if frozen else nullcontext      ->      with torch.set_grad_enabled(not frozen):
    with context():                                                     …

Kernels are chosen by names too, kept on self (`self.sdp = partial(sdpa_kernel, backends)`) or in the file (`autocast = torch.cuda.amp.autocast`).
"""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Any

import libcst as cst

from .. import tree
from ..context import Context
from ..project import ClassInfo
from ..rulebook import is_block
from ..truth import asks_for_none
from ..values import Function, Torch

_OFF, _ON, _NEUTRAL = "off", "on", "neutral"
_SWITCHES = {"no_grad": _OFF, "inference_mode": _OFF, "enable_grad": _ON}


def run(context: Context, module: cst.Module) -> cst.Module:
    """Rewrite the blocks of one file."""
    return _Contexts(context, module).file()


class _Contexts:
    def __init__(self, context: Context, module: cst.Module) -> None:
        self.context, self.module = context, module
        self.named: frozenset[str] = frozenset()
        self.named = self._named()

    def file(self) -> cst.Module:
        kept = {id(s) for s in self._definitions() if self._only_entered(self.module, self._defined(s))}
        attributes = {c: self._attributes(c) for c in self.context.module.all_classes}
        if not kept and not any(attributes.values()) and not any(True for _ in tree.nodes(self.module, cst.With)):
            return self.module

        def before(node: cst.CSTNode) -> Any:
            if id(node) in kept:
                return cst.RemoveFromParent()
            info = self.context.facts.by_node.get(id(node)) if isinstance(node, cst.FunctionDef) else None
            if info is None:
                return None
            method = info.method
            held = attributes.get(method.owner, set()) if method is not None and method.owner is not None else set()
            return _Blocks(self, node, held, method.self_name if method is not None else None).function()

        return tree.rewrite(self.module, before, only={cst.FunctionDef, cst.Try, cst.SimpleStatementLine})  # type: ignore[no-any-return]

    # ------------------------------------------------------------------ what a context manager does

    def kind(self, node: Any) -> str | None:
        """What a context manager, or a call that makes one, does; None where that is not known."""
        made = node.func if isinstance(node, cst.Call) else node
        if isinstance(made, cst.Name) and made.value in self.named:
            return _NEUTRAL
        dotted = tree.dotted(made)
        name = self.context.torch_name(made) or (self.context.facts.project.resolve(self.context.module, dotted) if dotted else None)
        if not isinstance(name, str):
            return None
        if name == "contextlib.nullcontext":
            return _NEUTRAL
        if name == "functools.partial" and isinstance(node, cst.Call) and node.args:
            return _NEUTRAL if self.is_neutral(node.args[0].value) else None
        switch = _SWITCHES.get(name.rpartition(".")[2])
        if switch is not None:
            return None if isinstance(node, cst.Call) and node.args else switch
        return _NEUTRAL if is_block(name) and not name.endswith("set_grad_enabled") else None

    def is_neutral(self, value: Any) -> bool:
        """Whether an expression makes nothing but context managers that change no value."""
        if isinstance(value, cst.IfExp):
            return self.is_neutral(value.body) and self.is_neutral(value.orelse)
        return self.kind(value) == _NEUTRAL

    # ------------------------------------------------------------------ names of the file

    def _named(self) -> frozenset[str]:
        """The names of the file for context managers that change no value: `autocast = torch.cuda.amp.autocast`, with a dummy where that fails."""
        definitions, times = self._definitions(), tree.times_bound(self.module)
        here = sum((tree.times_bound(s) for s in definitions), collections.Counter[str]())
        return frozenset(name for name in map(self._defined, definitions) if times[name] == here[name])

    def _definitions(self) -> list[Any]:
        return [s for s in self.module.body if self._defined(s)]

    def _defined(self, statement: Any) -> str:
        """The name that a statement defines as such a context manager, "" for any other."""
        if isinstance(statement, cst.Try):
            parts = [*tree.body_statements(statement), *(s for h in statement.handlers for s in tree.body_statements(h))]
            names = {self._defined(s) if not isinstance(s, cst.ClassDef) else s.name.value if _is_dummy(s) else "" for s in parts}
            return names.pop() if len(names) == 1 and statement.orelse is None and statement.finalbody is None else ""
        small = tree.only_small(statement)
        if not isinstance(small, cst.Assign) or len(small.targets) != 1 or not isinstance(small.targets[0].target, cst.Name):
            return ""
        return small.targets[0].target.value if self.is_neutral(small.value) else ""

    def _only_entered(self, where: cst.CSTNode, name: str) -> bool:
        """Whether a name is only used to enter blocks and to decorate."""
        entered = {id(n) for item in tree.nodes(where, cst.WithItem) for n in tree.nodes(_made(item.item), cst.Name)}
        if any(path.endswith(f".{name}") for m in self.context.facts.project.modules.values() if m is not self.context.module for path in m.imports.values()):
            return False
        other = {id(t.target) for t in tree.nodes(where, cst.AssignTarget)} | {id(c.name) for c in tree.nodes(where, cst.ClassDef)}
        other |= {id(a.attr) for a in tree.nodes(where, cst.Attribute)} | {id(a.keyword) for a in tree.nodes(where, cst.Arg)}
        return all(id(n) in entered | other for n in tree.nodes(where, cst.Name) if n.value == name)

    # ------------------------------------------------------------------ attributes

    def _attributes(self, cls: ClassInfo) -> set[str]:
        """The attributes of a class that hold such context managers, and are read to enter blocks alone."""
        family = [m.node for c in cls.family() for m in c.methods.values()]
        assigned: dict[str, bool] = {}
        for node in (n for m in family for n in tree.nodes(m.body, cst.Assign)):
            for target in (t.target for t in node.targets):
                if isinstance(target, cst.Attribute):
                    name = target.attr.value
                    assigned[name] = assigned.get(name, True) and len(node.targets) == 1 and self.is_neutral(node.value)
        found = {name for name, neutral in assigned.items() if neutral}
        if not found:
            return found
        entered = {id(_made(item.item)) for m in family for item in tree.nodes(m.body, cst.WithItem)}
        targets = {id(t.target) for m in family for t in tree.nodes(m.body, cst.AssignTarget)}
        return found - {n.attr.value for m in family for n in tree.nodes(m.body, cst.Attribute) if id(n) not in entered | targets}


class _Blocks:
    """The blocks of one function."""

    def __init__(self, file: _Contexts, node: Any, attributes: set[str], self_name: str | None) -> None:
        self.file, self.node, self.attributes, self.self_name = file, node, attributes, self_name
        self.resolved: set[int] = set()  # the names, by node, that stand in blocks no longer

    def function(self) -> Any:
        if not self.attributes and not any(True for _ in tree.nodes(self.node.body, cst.With)):
            return self.node
        new = self._without(self.node, lambda line: self._keeps(line))
        new = tree.rewrite(new, self._visit, only={cst.FunctionDef, cst.With})
        spare = {n.value for n in tree.nodes(self.node.body, cst.Name) if id(n) in self.resolved}
        spare -= {n.value for n in tree.nodes(self.node.body, cst.Name) if n.value in spare and id(n) not in self.resolved and not self._is_target(n)}
        if spare:
            new = self._without(new, lambda line: self._assigns(line, spare))
        if new is not self.node:
            self.file.context.facts.carry(self.node, new)
        return new

    def _without(self, function: Any, goes: Callable[[Any], bool]) -> Any:
        """A function without some of its lines, whose comments stand before the next."""

        def before(block: Any) -> Any:
            if not any(goes(s) for s in block.body):
                return None
            body = [tree.rewrite(s, before, only={cst.IndentedBlock}) for s in tree.without(block.body, goes)]
            return tree.replace(block, body=body or [tree.statement("pass")])

        return tree.rewrite(function, before, only={cst.IndentedBlock})

    def _is_target(self, name: cst.Name) -> bool:
        return any(t.target is name for t in tree.nodes(self.node.body, cst.AssignTarget))

    def _keeps(self, line: Any) -> bool:
        """`self.sdp = partial(sdpa_kernel, backends)`"""
        small = tree.only_small(line)
        return isinstance(small, cst.Assign) and self._is_kept(small.targets[0].target)

    def _assigns(self, line: Any, names: set[str]) -> bool:
        small = tree.only_small(line)
        return isinstance(small, cst.Assign) and all(isinstance(t.target, cst.Name) and t.target.value in names for t in small.targets)

    def _visit(self, node: Any) -> Any:
        if not isinstance(node, cst.With):
            return None
        items = [made for item in node.items if (made := self._item(item)) is not None]
        body = tree.replace(node, body=tree.rewrite(node.body, self._visit, only={cst.FunctionDef, cst.With}))
        if tree.same(items, node.items):
            return body
        if not items:
            neutral = tree.expression("torch.autograd.profiler.record_function()")  # goes with the blocks that torch's own names say are spare
            self.file.context.facts.tell(neutral.func, Torch("torch.autograd.profiler.record_function"))
            items = [cst.WithItem(neutral)]
        items[-1] = tree.replace(items[-1], comma=cst.MaybeSentinel.DEFAULT)
        new = tree.replace(body, items=items)
        self.file.context.facts.carry(node, new)
        return new

    def _is_kept(self, target: Any) -> bool:
        """`self.sdp`, of a context manager that changes no value"""
        return isinstance(target, cst.Attribute) and target.attr.value in self.attributes and tree.dotted(target.value) == self.self_name

    def _item(self, item: cst.WithItem) -> cst.WithItem | None:
        """An item as it is to be; None where it changes no value."""
        if item.asname is not None:
            return item
        made = _made(item.item)
        if self._is_kept(made):
            return None
        chosen = self._chosen(item.item)
        if chosen is None:
            return None if isinstance(made, cst.Name) and made.value in self.file.named else item
        value, new = chosen, item
        if isinstance(value, cst.IfExp):
            kinds = [self.file.kind(side) for side in (value.body, value.orelse)]
            if kinds == [_NEUTRAL, _NEUTRAL]:
                pass
            elif kinds in ([_OFF, _NEUTRAL], [_OFF, _ON]):
                new = tree.replace(item, item=self._enabled(value.test, negated=True))
            elif kinds in ([_NEUTRAL, _OFF], [_ON, _OFF]):
                new = tree.replace(item, item=self._enabled(value.test, negated=False))
            else:
                return item
        elif (kind := self.file.kind(value)) is None:
            return item
        elif kind != _NEUTRAL:
            new = tree.replace(item, item=value if isinstance(value, cst.Call) else tree.replace(item.item, func=value))
        self.resolved |= {id(made)} if isinstance(made, cst.Name) else set()
        return None if new is item else new

    def _enabled(self, test: Any, negated: bool) -> Any:
        """`torch.set_grad_enabled(not frozen)`"""
        made = tree.expression("torch.set_grad_enabled()")
        self.file.context.facts.tell(made.func, Torch("torch.set_grad_enabled"))
        if negated and isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
            test, negated = test.expression, False
        if negated:
            opposite = cst.UnaryOperation(cst.Not(), test)
            test = tree.replace(opposite, expression=tree.fit(opposite, "expression", test))
        return tree.replace(made, args=[cst.Arg(test)])

    def _chosen(self, item: Any) -> Any:
        """What is entered: `torch.no_grad() if frozen else nullcontext()` itself, or what a name stands for here; None where that is not known."""
        if isinstance(item, cst.IfExp):
            return item if self.file.is_neutral(item) or self._is_plain(item.test) else None
        name = _made(item)
        if not isinstance(name, cst.Name) or isinstance(item, cst.Call) and item.args or tree.times_bound(self.node.body)[name.value] != 1:
            return None
        if name.value in tree.parameter_names(self.node):
            return None
        for block in tree.nodes(self.node, cst.IndentedBlock):
            for i, statement in enumerate(block.body):
                small = tree.only_small(statement)
                if isinstance(small, cst.Assign) and len(small.targets) == 1 and tree.dotted(small.targets[0].target) == name.value:
                    return self._value(small.value, isinstance(item, cst.Call), block.body[i + 1 :], item)
        return None

    def _value(self, value: Any, called: bool, after: Any, item: Any) -> Any:
        """The value of a name that is entered in one of the statements after, where nothing in it changes until then."""
        if not any(n is item for s in after for n in tree.walk(s)):
            return None
        sides = [value.body, value.orelse] if isinstance(value, cst.IfExp) else [value]
        if any(isinstance(side, cst.Call) == called and not _is_partial(side) for side in sides):
            return None
        if not isinstance(value, cst.IfExp) or self.file.is_neutral(value):
            return value
        read = {tree.dotted(n) for n in tree.nodes(value.test, cst.Name, cst.Attribute)}
        bound = {tree.dotted(t.target) for s in after for t in tree.nodes(s, cst.AssignTarget, cst.AugAssign, cst.AnnAssign, cst.For)}  # type: ignore[attr-defined]
        names = {name for s in after for name in tree.times_bound(s)}
        return value if self._is_plain(value.test) and not read & (bound | names) else None

    def _is_plain(self, test: Any) -> bool:
        """Whether a condition can be asked later, and more than once."""
        values = [self.file.context.value(call.func) for call in tree.nodes(test, cst.Call, cst.NamedExpr) if isinstance(call, cst.Call)]
        return all(isinstance(v, Function) and asks_for_none(v.info) for v in values) and not any(True for _ in tree.nodes(test, cst.NamedExpr))


def _made(item: Any) -> Any:
    """What is called to make a context manager, or is one."""
    return item.func if isinstance(item, cst.Call) else item


def _is_partial(value: Any) -> bool:
    return isinstance(value, cst.Call) and (tree.dotted(value.func) or "").rpartition(".")[2] == "partial"


def _is_dummy(cls: cst.ClassDef) -> bool:
    """A class whose methods do nothing: it stands for a context manager where torch has none."""
    if cls.bases:
        return False
    for method in tree.body_statements(cls):
        if not isinstance(method, cst.FunctionDef) or any(not tree.is_docstring(s) and tree.code(s).strip() not in ("pass", "return", "return self") for s in tree.body_statements(method)):
            return False
    return True
