"""What the passes over one file share: the facts, the diagnostics, the generated names."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import libcst as cst

from ..model.diagnostics import Diagnostic
from ..source.positions import Positions
from . import tree
from .emit import keyword
from .host_draws import HostDraws
from .host_state import HostState
from .infer import Inference
from .project import ModuleInfo
from .rulebook import Rulebook
from .values import Torch, Value

KEY = "__key__"  # stands for a PRNG key until the keys of a function are counted


@dataclass
class Context:
    """One file on its way through the passes."""

    module: ModuleInfo
    facts: Inference
    rulebook: Rulebook
    host: HostDraws
    moving: HostState
    diagnostics: list[Diagnostic] = field(default_factory=list)
    support: set[str] = field(default_factory=set)  # names of rule definitions that the output calls
    unset: set[str] = field(default_factory=set)  # names of the current function that start as None, and are set before they are read
    absent: set[str] = field(default_factory=set)  # state of the current class that is None until a call sets it
    _positions: Positions | None = None
    _original: Any = None

    def value(self, node: cst.CSTNode) -> Value:
        return self.facts.of(node)

    def torch_name(self, node: cst.BaseExpression) -> str | None:
        """The torch name that an expression, or the function of a call, refers to."""
        target = node.func if isinstance(node, cst.Call) else node
        value = self.value(target)
        if isinstance(value, Torch):
            return value.name
        dotted = tree.dotted(target)
        resolved = self.facts.project.resolve(self.module, dotted) if dotted else None
        return resolved if isinstance(resolved, str) and resolved.startswith("torch.") else None

    def report(self, id: str, node: cst.CSTNode, message: str) -> None:
        """Add a diagnostic at the place where the node stood in the source. A copy of a statement has none: it says what the first one said."""
        place = self.place(node)
        if place is None and any((d.id, d.message) == (id, message) for d in self.diagnostics):
            return
        found = Diagnostic(str(self.module.path), *(place or (1, 1)), id, message)
        if found not in self.diagnostics:
            self.diagnostics.append(found)

    def place(self, node: cst.CSTNode) -> tuple[int, int] | None:
        """Line and column of the first part of a node that stood in the source."""
        places = map(self._places.get, self._candidates(node))
        return next((place for place in places if place is not None), None)

    @property
    def source(self) -> str:
        """The text of the file."""
        return self._places.text

    @property
    def _places(self) -> Positions:
        if self._positions is None:
            self._positions = Positions(self.module.source)
        return self._positions

    def _candidates(self, node: cst.CSTNode) -> Iterable[cst.CSTNode]:
        for inner in tree.walk(node):
            yield self.facts.origin.get(id(inner), inner)

    def is_original(self, node: cst.CSTNode) -> bool:
        """Whether a name stood in the source, rather than being made by a pass."""
        if self._original is None:
            self._original = set(map(id_, tree.nodes(self.module.tree, cst.Name, cst.Attribute)))
        return id_(node) in self._original or id_(node) in self.facts.origin

    def unconverted(self, id: str, node: cst.BaseExpression, message: str) -> Any:
        """Report, and the expression that takes the place of what could not be converted."""
        self.report(id, node, message)
        self.support.add("unconverted")
        original = self.facts.origin.get(id_(node), node)
        text = " ".join(tree.code(original).split())
        call = tree.expression(f"nn.unconverted({_quoted(id)}, {_quoted(text)})")
        self.facts.carry(node, call)
        return call

    def unconverted_at_import(self, id: str, node: cst.BaseExpression, message: str) -> Any:
        """The same where code runs when the file is imported: an object that raises when it is used."""
        call = self.unconverted(id, node, message)
        self.support.add("Unconverted")
        made = tree.replace(call, func=tree.expression("nn.Unconverted"))
        self.facts.carry(node, made)
        return made

    def name(self, function: str) -> str:
        """How the output refers to a definition of jax_nn.py."""
        self.support.add(function)
        return f"nn.{function}"


def id_(node: object) -> int:
    return id(node)


def _quoted(text: str) -> str:
    text = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{text}"'


def key_site() -> cst.Name:
    """A fresh placeholder for a key; each use is counted by the pass that hands out keys."""
    return cst.Name(KEY)


def asking_for_key(node: cst.Call) -> cst.Call:
    """A call that asks for a key: `noise(n, key=…)`."""
    args = [tree.replace(a, comma=cst.MaybeSentinel.DEFAULT) for a in node.args]
    return tree.replace(node, args=[*args, keyword("key", key_site())])
