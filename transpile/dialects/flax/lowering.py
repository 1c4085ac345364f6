"""The way of one project through the dialect: every node of "JAX with self" has a handler, which
collects edits; those of a file are committed together."""

from __future__ import annotations

from ...model.diagnostics import Diagnostic
from ...model.edits import Edits
from ...model.expressions import Attribute, Call, Constant, Name, Subscript
from ...model.node import Expression, Node
from ...model.program import Class, File, Function, Scope
from .plan import Plan


class Lowering:
    """The edits of one file, and what is known around a node."""

    def __init__(self, plan: Plan, file: File) -> None:
        self.plan, self.file = plan, file
        self.edits = Edits(file)
        self.diagnostics: list[Diagnostic] = []
        self.skipped: set[Node] = set()  # what an edit around it has taken care of
        self.taken: dict[Node, set[str]] = {}  # names of functions, with those that were made
        self.streams: set[Scope] = set()  # the functions and files that make a stream of their own

    # --- where a node stands ----------------------------------------------------------------------

    def unit(self, node: Node) -> Function | None:
        return self.plan.unit(node)

    def cls(self, node: Node) -> Class | None:
        """The module class in whose method a node stands."""
        return self.plan.owner(self.unit(node))

    def is_self(self, node: Node) -> bool:
        unit = self.unit(node)
        if not isinstance(node, Name) or unit is None or self.plan.owner(unit) is None:
            return False
        return node.id == self.plan.self_name(unit)

    def self_name(self, node: Node) -> str:
        unit = self.unit(node)
        return self.plan.self_name(unit) if unit is not None else "self"

    # --- words ------------------------------------------------------------------------------------

    @property
    def in_library(self) -> bool:
        return self.plan.is_library(self.file)

    def support(self, name: str) -> Expression:
        """A definition of the support file, as this file says it."""
        return Name(name) if self.in_library else Attribute(Name("nn"), name)

    # --- randomness -------------------------------------------------------------------------------

    def stream(self, node: Node) -> Expression | None:
        """The stream that draws come from where a node stands; None where a key is given."""
        unit = self.unit(node)
        taken = self.plan.takes.get(unit) if unit is not None else None
        cls = self.plan.owner(unit)
        if taken == "rngs":
            return Attribute(Name("rngs"), "params") if cls is not None else Name("rngs")
        if taken == "key":
            return None
        if cls is not None and unit is not None:
            return Attribute(Name(self.plan.self_name(unit)), self.plan.noise_name(cls))
        self.streams.add(unit if unit is not None else self.file)
        return Name("rngs")

    def key(self, node: Node) -> Expression:
        """A new key where a node stands."""
        stream = self.stream(node)
        return Name("key") if stream is None else Call(stream)

    def rngs(self, node: Node) -> Expression:
        """What constructors below are given where a node stands."""
        unit = self.unit(node)
        taken = self.plan.takes.get(unit) if unit is not None else None
        if taken == "rngs":
            return Name("rngs")
        cls = self.plan.owner(unit)
        if cls is not None:
            found = self.stream(node)
            assert found is not None
            return found
        self.streams.add(unit if unit is not None else self.file)
        return Name("rngs")


def nnx(word: str) -> Expression:
    return Attribute(Name("nnx"), word)


def whole(node: Expression) -> Expression:
    """`variable[...]`: the array of a Variable."""
    return Subscript(node, Constant(...))
