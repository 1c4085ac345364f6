"""Which names are read after each statement of a function."""

from __future__ import annotations

from typing import Any

import libcst as cst

from . import tree
from .dataflow import read_through

Live = frozenset[str]

# What a tensor is asked for whatever is written into it: `x.shape`, `x.size(0)`.
_WHATEVER_IS_WRITTEN = frozenset("shape size dim ndim ndimension numel dtype device layout is_cuda new_zeros new_ones new_empty new_full".split())


class Liveness:
    """Names live after each statement; `self.x` counts as a name."""

    def __init__(self, function: cst.FunctionDef, self_name: str | None, kept: Live = frozenset(), of_values: bool = False) -> None:
        """`kept` are those that outlive the call; `of_values`: only what a write would change is read, not `x.shape`."""
        self.self_name, self.kept, self.of_values = self_name, kept, of_values
        self.through = read_through(function)
        self.after: dict[int, Live] = {}
        self.inside: dict[int, Live] = {}  # of compound statements: what is read once their head is evaluated
        self.breaks: list[tuple[Live, Live]] = []
        self._block(tree.body_statements(function), kept)

    def reads(self, node: cst.CSTNode) -> set[str]:
        """Names read by a statement or expression, assignment targets left out."""
        found: set[str] = set()
        self._reads(node, found)
        return found

    def _reads(self, node: Any, found: set[str]) -> None:
        kind = node.__class__  # isinstance is slow to ask where the answer is mostly no
        if kind is cst.Name:
            found.add(node.value)
            found |= self.through.get(node.value, frozenset())
        elif kind is cst.Attribute and self.of_values and node.attr.value in _WHATEVER_IS_WRITTEN and node.value.__class__ is cst.Name and node.value.value != self.self_name:
            return
        elif kind is cst.Attribute:
            if node.value.__class__ is cst.Name and node.value.value == self.self_name:
                found.add(f"self.{node.attr.value}")
            self._reads(node.value, found)
        elif kind is cst.Arg:
            self._reads(node.value, found)
        elif kind is cst.AssignTarget:
            self._target(node.target, found)
        elif kind is cst.For or kind is cst.CompFor:
            self._target(node.target, found)
            for child in tree.children(node):
                if child is not node.target:
                    self._reads(child, found)
        else:
            for child in tree.children(node):
                self._reads(child, found)

    def _target(self, node: Any, found: set[str]) -> None:
        if isinstance(node, (cst.Tuple, cst.List)):
            for element in node.elements:
                self._target(element.value, found)
        elif isinstance(node, cst.Subscript):
            self._reads(node, found)
        elif isinstance(node, cst.Attribute):
            if not (isinstance(node.value, cst.Name) and node.value.value == self.self_name):
                self._reads(node.value, found)

    def writes(self, node: Any) -> set[str]:
        """Names that a simple statement rebinds."""
        found: set[str] = set()
        targets: list[Any] = []
        if isinstance(node, cst.SimpleStatementLine):
            for small in node.body:
                found |= self.writes(small)
        elif isinstance(node, cst.Assign):
            targets = [t.target for t in node.targets]
        elif isinstance(node, cst.AnnAssign) and node.value is not None:
            targets = [node.target]
        elif isinstance(node, cst.For):
            targets = [node.target]
        while targets:
            target = targets.pop()
            if isinstance(target, (cst.Tuple, cst.List)):
                targets.extend(e.value for e in target.elements)
            elif isinstance(target, cst.Name):
                found.add(target.value)
            elif isinstance(target, cst.Attribute) and isinstance(target.value, cst.Name) and target.value.value == self.self_name:
                found.add(f"self.{target.attr.value}")
        return found

    def _block(self, statements: list[Any], live: Live) -> Live:
        for statement in reversed(statements):
            live = self._statement(statement, live)
        return live

    def _suite(self, node: Any, live: Live) -> Live:
        return self._block(tree.body_statements(node), live)

    def _statement(self, node: Any, live: Live) -> Live:
        self.after[id(node)] = self.after.get(id(node), frozenset()) | live
        if isinstance(node, cst.SimpleStatementLine):
            for small in reversed(node.body):
                if isinstance(small, (cst.Return, cst.Raise)):
                    live = self.kept if isinstance(small, cst.Return) else frozenset()
                elif isinstance(small, cst.Break) and self.breaks:
                    live = self.breaks[-1][0]
                elif isinstance(small, cst.Continue) and self.breaks:
                    live = self.breaks[-1][1]
                live = (live - self.writes(small)) | self.reads(small)
            return live
        if isinstance(node, cst.If):
            then = self._suite(node, live)
            other = live if node.orelse is None else self._statement(node.orelse, live) if isinstance(node.orelse, cst.If) else self._suite(node.orelse, live)
            self.inside[id(node)] = then | other
            return then | other | self.reads(node.test)
        if isinstance(node, (cst.For, cst.While)):
            head = frozenset(self.reads(node.iter if isinstance(node, cst.For) else node.test))
            out = live if node.orelse is None else self._suite(node.orelse, live)
            loop = out | head
            for _ in range(2):
                self.breaks.append((live, loop))
                loop = out | head | (self._suite(node, loop) - (self.writes(node) if isinstance(node, cst.For) else set()))
                self.breaks.pop()
            self.inside[id(node)] = loop
            return loop
        if isinstance(node, cst.With):
            self.inside[id(node)] = self._suite(node, live)
            return self.inside[id(node)] | frozenset(self.reads_items(node))
        if isinstance(node, (cst.Try, cst.TryStar)):
            for part in (node.finalbody, node.orelse):
                if part is not None:
                    live = self._suite(part, live)
            inner = live
            for handler in node.handlers:
                inner = inner | self._suite(handler, live)
            return self._suite(node, inner) | inner
        return live | frozenset(self.reads(node))

    def reads_items(self, node: cst.With) -> set[str]:
        found: set[str] = set()
        for item in node.items:
            self._reads(item.item, found)
        return found
