"""The way of one project through the dialect: every node of "JAX with self" has a handler, which
collects edits; those of a file are committed together."""

from ...model.diagnostics import Diagnostic
from ...model.edits import Edits
from ...model.effects import Support
from ...model.expressions import Attribute, Call, Constant, Name, Subscript
from ...model.fresh_names import taken
from ...model.node import Expression, Node, Statement
from ...model.positions import place
from ...model.program import Class, File, Function
from ...model.statements import Assign, Block
from ..faults import Faults
from ..fresh_names import fresh
from .layers import FUNCTIONS
from .plan import Plan


class Lowering:
    """The edits of one file, and what is known around a node."""

    def __init__(self, plan: Plan, file: File, faults: Faults) -> None:
        self.plan, self.file, self.faults = plan, file, faults
        self.edits = Edits(file)
        self.diagnostics: list[Diagnostic] = []
        self.skipped: set[Node] = set()  # what an edit around it has taken care of
        self.taken: dict[Node, set[str]] = {}  # names of functions, with those that were made
        # blocks of functions and files that make a stream of their own: where, and its uses
        self.streams: dict[Block, tuple[Statement, list[Name]]] = {}

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
        name = FUNCTIONS.get(name, name)
        return Name(name) if self.in_library else Attribute(Name("nn"), name)

    def report(self, id: str, node: Node, message: str) -> None:
        self.diagnostics.append(Diagnostic(*place(node), id, message))

    # --- randomness -------------------------------------------------------------------------------

    def stream(self, node: Node) -> Expression | None:
        """The stream that draws come from where a node stands; None where a key is given."""
        unit = self.unit(node)
        taken = self.plan.takes.get(unit) if unit is not None else None
        cls = self.plan.owner(unit)
        if taken == "rngs" or unit in self.plan.seeded:
            return Attribute(Name("rngs"), "params") if cls is not None else Name("rngs")
        if taken == "key":
            return None
        if cls is not None and unit is not None:
            return Attribute(Name(self.plan.self_name(unit)), self.plan.noise_name(cls))
        return self._own_stream(node, unit)

    def key(self, node: Node) -> Expression:
        """A new key where a node stands."""
        stream = self.stream(node)
        return Name("key") if stream is None else Call(stream)

    def rngs(self, node: Node) -> Expression:
        """What constructors below are given where a node stands."""
        unit = self.unit(node)
        if unit in self.plan.seeded or unit is not None and self.plan.takes.get(unit) == "rngs":
            return Name("rngs")
        if self.plan.owner(unit) is not None:
            found = self.stream(node)
            assert found is not None
            return found
        return self._own_stream(node, unit)

    def _own_stream(self, node: Node, unit: Function | None) -> Name:
        """The stream of a script, or of a function that is given none."""
        body = unit.body if unit is not None else self.file.body
        name = Name("rngs")
        if body not in self.streams:
            inner: Node = node
            while inner.parent is not body:
                assert inner.parent is not None
                inner = inner.parent
            assert isinstance(inner, Statement)
            self.streams[body] = inner, []
        self.streams[body][1].append(name)
        return name

    def commit(self) -> None:
        """Make all edits: a stream that one call alone is given needs no name."""
        for body, (first, uses) in self.streams.items():
            if len(uses) > 1:
                word = fresh("rngs", taken(body))
                for name in uses:
                    name.id = word
                self.edits.precede(first, [Assign([Name(word)], seed())])
        changed = self.edits.commit(self.faults.note)
        for node in list(self.file.walk()) if changed else ():
            if isinstance(node, Support):  # of what was made from the model's own blocks
                node.replace(self.support(node.name))
        for _, uses in self.streams.values():
            if len(uses) == 1:
                uses[0].replace(seed())


def seed() -> Expression:
    return Call(nnx("Rngs"), [Constant(0)])


def nnx(word: str) -> Expression:
    return Attribute(Name("nnx"), word)


def whole(node: Expression) -> Expression:
    """`variable[...]`: the array of a Variable."""
    return Subscript(node, Constant(...))
