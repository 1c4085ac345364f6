"""Copies of submodules, `self.target = copy.deepcopy(self.online)`: they start with the arrays that the other has by then."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import libcst as cst

from ... import tree
from ...paths import below
from ...sharing import is_copy
from ...values import Module
from .constructors import Original


@dataclass(frozen=True)
class Copied:
    """A copy, what it is of, and the statements of the constructor that come after it."""

    original: Original
    name: str
    source: str
    later: list[Any]

    @staticmethod
    def of(original: Original, small: Any) -> Copied | None:
        """The copy that a statement makes of a submodule that may have arrays; None where it does something else."""
        if not isinstance(small, cst.Assign) or len(small.targets) != 1 or not is_copy(small.value):
            return None
        given: Any = small.value
        source: Any = given.args[0].value
        name, of = original.attribute(small.targets[0].target), original.attribute(source)
        known, facts = original.context.value(source), original.context.facts
        if name is None or of is None or not (isinstance(known, Module) and facts.may_have_arrays(known) or _is_called(original, of)):
            return None
        place = next((i for i, s in enumerate(original.statements) if any(n is small for n in tree.walk(s))), -1)
        return Copied(original, name, of, original.statements[place + 1 :])

    def params(self) -> list[Any]:
        """`params["target"] = params["online"]`: as a tree of its own where one of the two gets other values later."""
        source = below([self.source])
        return [tree.statement(f"{below([self.name])} = {_own(source) if any(map(self._gives, self.later)) else source}\n")]

    def state(self, before: list[Any]) -> list[Any]:
        """The same for buffers, where they were given other values before."""
        given = any(self._writes(n, [self.source]) for s in before for n in tree.nodes(s, cst.AssignTarget))
        source = f'state["{self.source}"]'
        return [tree.statement(f'state["{self.name}"] = {_own(source)}\n')] if given else []

    def reached_by(self, statement: Any) -> bool:
        """Whether a statement that walks over modules may come to the copy or its source."""
        self_name = self.original.self_name
        whole = any(tree.dotted(a.value) == self_name for n in tree.nodes(statement, cst.Call) for a in n.args)
        called = any(self.original.arrays.method_called(n, self_name) is not None for n in tree.nodes(statement, cst.Call))
        return whole or called or any(self.original.attribute(n) in (self.name, self.source) for n in tree.nodes(statement, cst.Attribute))

    def _gives(self, statement: Any) -> bool:
        """Whether a statement may give the copy or its source other values: itself, or by a method."""
        if any(self._writes(n, [self.name, self.source]) for n in tree.nodes(statement, cst.AssignTarget, cst.AugAssign)):
            return True
        return any(self.original.arrays.method_called(n, self.original.self_name) is not None for n in tree.nodes(statement, cst.Call))

    def _writes(self, target: Any, names: list[str]) -> bool:
        dotted = tree.dotted(target.target) or ""
        return any(dotted.startswith(f"{self.original.self_name}.{name}.") for name in names)


def _is_called(original: Original, name: str) -> bool:
    """Whether an attribute of unknown make is called as a module."""
    return any((cls, name) in original.context.facts.wrapped for cls in original.cls.family())


def _own(source: str) -> str:
    """The same arrays in a tree of their own."""
    return f"jax.tree.map(lambda leaf: leaf, {source})"
