"""What the parts of the pass share while they go through one function."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ...facts.bindings import read
from ...facts.program import ProgramFacts
from ...facts.rowwise import Rowwise
from ...facts.shapes.ranks import Ranks, Reader
from ...facts.values.lattice import Value
from ...model.fresh_names import Names
from ...model.node import Expression, Node, Statement
from ...model.program import Function
from ...model.rulebook import Rulebook
from ..pass_ import Changes
from .domain import Entry, Env, Info, Mask, origins

Edit = Callable[[Any], Expression]
Lead = Callable[[], Statement | None]
Handler = Callable[["Frame", Any], Info]


class Tables(NamedTuple):
    """What the rule files say of operations, by their last names."""

    linear: frozenset[str]  # whose slope is a number whatever the operand is
    smooth: frozenset[str]  # whose slope is a number where the operand is
    safe: dict[str, float]  # the others, with an operand where it is
    compared: frozenset[str]
    curved: frozenset[str]  # reductions that are not linear, with a mask
    filled: frozenset[str]  # reductions that 0 changes nothing of
    one_dim: frozenset[str]  # reductions that give the same along the one dim
    losses: dict[str, Any]
    loss_layers: dict[str, str]

    @staticmethod
    def of(rulebook: Rulebook) -> Tables:
        names = "LINEAR SMOOTH SAFE COMPARED CURVED FILLED ONE_DIM LOSSES LOSS_LAYERS"
        return Tables(*map(rulebook.table, names.split()))

    @property
    def elementwise(self) -> frozenset[str]:
        return self.linear | self.smooth | frozenset(self.safe)


class Round(NamedTuple):
    """What one way through a function takes from those before it."""

    refused: frozenset[Node] = frozenset()  # selections that stay as they are
    fills: frozenset[tuple[Node, float]] = frozenset()  # of targets: what is outside of the mask


class Frame:
    """One way through a function: what is found on it, and the edits that it would make."""

    def __init__(
        self,
        scope: Function,
        facts: ProgramFacts,
        found: frozenset[Node],
        last: Round,
        handlers: Mapping[type, Handler],
    ) -> None:
        self.scope, self.facts, self.candidates, self.handlers = scope, facts, found, handlers
        self.refused, self.fills = set(last.refused), dict(last.fills)
        self.needs: dict[Node, set[float]] = {}  # what names are needed to be outside of the mask
        self.tables = Tables.of(facts.rulebook)
        kinds = self.tables.elementwise | self.tables.compared
        self.rowwise = Rowwise(facts.project, facts.rulebook, self.tables.elementwise)
        of_name: Callable[[str], Ranks] = lambda name: self.entry(name).ranks
        self.reader = Reader(of_name, kinds, self.tables.one_dim, self.rowwise)
        self.written = facts.memory.written(scope)
        self.env, self.versions = Env(), itertools.count(1)
        self.rows: dict[tuple[str, int], Any] = {}  # masks by names and versions: of which rows
        self.read: set[tuple[str, int]] = set()  # names that were read, by their versions
        self.statement: Statement = scope
        self.open = True  # whether a statement can stand before what is looked at
        self.masks: list[Mask] = []
        self.edits: dict[Node, list[Edit]] = {}
        self.values: dict[Expression, Value] = {}
        self.lead: dict[Statement, list[Lead]] = {}  # what is to stand before a statement

    @property
    def round(self) -> Round:
        """What this way found for the next one."""
        fills = {(node, 1.0) for node, needs in self.needs.items() if needs == {1}}
        return Round(frozenset(self.refused), frozenset(fills))

    # --- names -----------------------------------------------------------------------------------

    def entry(self, name: str) -> Entry:
        """What is known of a name; of one that the function does not bind, that it stays."""
        return self.env.names.get(name) or Entry(0, frozenset([((name, 0), 0)]))

    def bind(self, name: str, ranks: Ranks | None = None, info: Info = None) -> None:
        """Give a name a new value."""
        version = next(self.versions)
        own = frozenset([((name, version), 0)]) if ranks is None else ranks
        self.env.names[name] = Entry(version, own, info)

    def ranks(self, node: Expression) -> Ranks:
        return self.reader.ranks(node)

    # --- refusals --------------------------------------------------------------------------------

    def selects(self, node: Node) -> bool:
        """Whether a subscript or call is a selection that may stay whole."""
        return node in self.candidates and node not in self.refused

    def refuse(self, *infos: Info) -> None:
        """Leave the selections that something came of as they are."""
        self.refused |= origins(*infos)

    def refuse_reads(self, node: Node | None) -> None:
        """Leave all that a piece of code reads or selects."""
        for name in read(node):
            self.read.add((name, self.entry(name).version))
            self.refuse(self.entry(name).info)
        if node is not None:
            self.refused |= {n for n in node.walk() if n in self.candidates}

    # --- edits -----------------------------------------------------------------------------------

    def edit(self, node: Expression, make: Edit) -> None:
        """Put what `make` gives of an expression, as it is by then, in its place."""
        self.edits.setdefault(node, []).append(make)

    def tell(self, node: Expression, value: Value) -> None:
        """Let an expression have another value."""
        self.values[node] = value

    def before(self, statement: Statement, make: Lead) -> None:
        """Let a statement stand before another."""
        self.lead.setdefault(statement, []).append(make)

    def changes(self) -> Changes:
        """All edits of this way."""
        changes, names = Changes(self.scope), Names(self.scope)
        for mask in self.masks:
            if mask.name is None and mask.is_several:
                mask.name = names.fresh("mask")
        for statement, lead in self.lead.items():
            made = [one for make in lead if (one := make()) is not None]
            if made:
                changes.insert_before(statement, made)
        for told_, value in self.values.items():
            changes.change(told_, functools.partial(told, value=value))
        for node, makes in self.edits.items():
            changes.wrap(node, functools.partial(_composed, makes))
        return changes


def told(node: Expression, value: Value) -> Expression:
    node.value = value
    return node


def _composed(makes: list[Edit], node: Expression) -> Expression:
    for make in makes:
        node = make(node)
    return node
