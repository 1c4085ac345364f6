"""Plain lists of modules, and what registers the modules in them: `self.layers.append(m)` beside `self.add_module(f"m{i}", m)`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import libcst as cst

from . import tree
from .infer import Inference
from .project import ClassInfo, FunctionInfo
from .values import Mapping, Module, Sequence

SELF = ""  # the module itself registers them


def holders(facts: Inference, cls: ClassInfo, info: FunctionInfo) -> dict[str, str]:
    """The plain lists and dicts of modules that a method fills, each with the container that registers what is in it."""
    search = _Search(facts, cls, info.self_name or "")
    search.block(tree.body_statements(info.node), {})
    return search.found


class _Search:
    def __init__(self, facts: Inference, cls: ClassInfo, self_name: str) -> None:
        self.facts, self.cls, self.self_name = facts, cls, self_name
        self.found: dict[str, str] = {}

    def block(self, statements: list[Any], outer: dict[str, str]) -> None:
        """Go through a block; `outer` are the names for modules of a plain list, and for such lists, that hold in it."""
        smalls = [small for s in statements if isinstance(s, cst.SimpleStatementLine) for small in s.body]
        names = {**outer, **self._members(smalls)}
        for small in smalls:
            for container, value in self._registrations(small):
                self.found.update({listed: container for listed in self._lists(value, names) if listed != container})
        for statement in statements:
            inner = {**names, **self._targets(statement)} if isinstance(statement, cst.For) else names
            current = statement
            while current is not None and isinstance(current, (cst.For, cst.If, cst.With, cst.Else)):
                self.block(tree.body_statements(current), inner)
                current = getattr(current, "orelse", None)

    def _own(self, node: Any) -> str | None:
        """The name in `self.name`."""
        return node.attr.value if isinstance(node, cst.Attribute) and tree.dotted(node.value) == self.self_name else None

    def _listed(self, node: Any) -> str | None:
        """The name in `self.name` of a plain list or dict of modules."""
        name = self._own(node)
        held = self.facts.attribute(self.cls, name) if name is not None else None
        return name if isinstance(held, (Sequence, Mapping)) and isinstance(held.element, Module) else None

    def _lists(self, node: Any, names: dict[str, str]) -> set[str]:
        """The plain lists that an expression takes modules from."""
        found = {self._listed(n) for n in tree.nodes(node, cst.Attribute)} | {names.get(n.value) for n in tree.nodes(node, cst.Name)}
        return {name for name in found if name is not None}

    def _members(self, smalls: list[Any]) -> dict[str, str]:
        """The local names for what a plain list holds, or for the list; those that stand for several are left out."""
        found: dict[str, set[str]] = {}
        for small in smalls:
            for listed, value in self._filling(small):
                for name in tree.nodes(value, cst.Name):
                    found.setdefault(name.value, set()).add(listed)
        return {name: next(iter(lists)) for name, lists in found.items() if len(lists) == 1}

    def _filling(self, small: Any) -> Iterator[tuple[str, Any]]:
        """What a statement puts into plain lists: `self.list.append(m)`, `self.list += [m]`, `self.list = modules`."""
        call = small.value if isinstance(small, cst.Expr) else None
        if isinstance(call, cst.Call) and isinstance(call.func, cst.Attribute) and call.func.attr.value in ("append", "insert", "extend") and call.args:
            targets, value = [call.func.value], call.args[-1].value
        elif isinstance(small, cst.AugAssign):
            targets, value = [small.target], small.value
        elif isinstance(small, cst.Assign):
            targets, value = [t.target.value if isinstance(t.target, cst.Subscript) else t.target for t in small.targets], small.value
        else:
            return
        plain = isinstance(value, (cst.Name, cst.List))
        yield from ((listed, value) for t in targets if plain and (listed := self._listed(t)) is not None)

    def _registrations(self, small: Any) -> Iterator[tuple[str, Any]]:
        """Which container a statement registers what in."""
        call = small.value if isinstance(small, (cst.Expr, cst.Assign)) else None
        if not isinstance(call, cst.Call) or not call.args:
            return
        last = call.args[-1].value
        if isinstance(small, cst.Assign):
            name = self._own(small.targets[0].target)
            if name is not None and isinstance(self.facts.of(call), Module):
                yield name, call
        elif tree.dotted(call.func) == "setattr" and tree.dotted(call.args[0].value) == self.self_name:
            yield SELF, last
        elif isinstance(call.func, cst.Attribute) and call.func.attr.value in ("add_module", "register_module", "append", "insert", "extend"):
            if tree.dotted(call.func.value) == self.self_name:
                yield SELF, last
            elif (name := self._own(call.func.value)) is not None and isinstance(self.facts.attribute(self.cls, name), Module):
                yield name, last

    def _targets(self, node: cst.For) -> dict[str, str]:
        """The names that a loop over a plain list gives its modules."""
        listed = self._lists(node.iter, {})
        return dict.fromkeys(tree.target_names(node.target), next(iter(listed))) if len(listed) == 1 else {}
