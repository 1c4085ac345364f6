"""Draws from the generators of Python and NumPy: what a constructor makes of them is made once, and a checkpoint has its own."""

from __future__ import annotations

import functools
from typing import Any

import libcst as cst

from . import tree
from .callgraph import with_callers
from .infer import Inference
from .project import FunctionInfo
from .values import External, Function

_GENERATORS = ("random.", "numpy.random.", "secrets.", "os.urandom", "uuid.")


class HostDraws:
    """Which pieces of the user's code draw from a generator of the host."""

    def __init__(self, facts: Inference) -> None:
        self.facts = facts
        self._names: dict[FunctionInfo, set[str]] = {}

    @functools.cached_property
    def functions(self) -> set[FunctionInfo]:
        """The functions that draw, themselves or in what they call."""
        functions = [f for m in self.facts.project.modules.values() for f in m.all_functions]
        return with_callers(self.facts.calls, (f for f in functions if any(map(self.is_direct, tree.nodes(f.node.body, cst.Call)))), functions)

    def draws(self, node: cst.CSTNode) -> bool:
        """Whether a piece of code draws: `np.random.rand(3)`, or a call of a function that does."""
        return any(map(self.is_draw, tree.nodes(node, cst.Call)))

    def is_draw(self, call: cst.Call) -> bool:
        """Whether a call draws, itself or in what it calls."""
        return self.is_direct(call) or self._is_drawing_function(call)

    def names(self, function: FunctionInfo) -> set[str]:
        """The local names of a function, and attributes of its self as "self.name", that hold what was made of draws.

        The argument of a call that stands alone is one too: `random.shuffle(order)`.
        """
        if function not in self._names:
            self._names[function] = self._find(function)
        return self._names[function]

    def _find(self, function: FunctionInfo) -> set[str]:
        found: set[str] = set()
        assignments = [n for n in tree.nodes(function.node.body, cst.Assign, cst.AnnAssign, cst.AugAssign, cst.For) if getattr(n, "value", None) is not None or isinstance(n, cst.For)]
        calls = [n.value for n in tree.nodes(function.node.body, cst.Expr) if isinstance(n.value, cst.Call)]
        found |= {name for call in calls if self.draws(call) for a in call.args if (name := tree.dotted(a.value)) is not None}
        while more := {name for a in assignments if self.made(_source(a), found) for name in _targets(a)} - found:
            found |= more
        return found

    def made(self, node: cst.CSTNode, names: set[str]) -> bool:
        """Whether a value is made of draws, given the names that hold such values."""
        return self.draws(node) or any(tree.dotted(n) in names for n in tree.nodes(node, cst.Name, cst.Attribute))

    def is_direct(self, call: cst.Call) -> bool:
        """Whether a call is one of a generator: `np.random.rand(3)`."""
        function = self.facts.of(call.func)
        return isinstance(function, External) and function.name.startswith(_GENERATORS) and not function.name.endswith(".seed")

    def _is_drawing_function(self, call: cst.Call) -> bool:
        function = self.facts.of(call.func)
        return isinstance(function, Function) and function.info in self.functions


def _source(node: Any) -> cst.CSTNode:
    return node.iter if isinstance(node, cst.For) else node.value


def _targets(node: Any) -> list[str]:
    targets = [t.target for t in node.targets] if isinstance(node, cst.Assign) else [node.target]
    return [name for t in targets for n in (tree.walk(t) if isinstance(t, (cst.Tuple, cst.List)) else [t]) if (name := tree.dotted(n)) is not None]
