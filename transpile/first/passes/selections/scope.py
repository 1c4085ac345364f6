"""What the parts of the pass share while they go through one function."""

from __future__ import annotations

import collections
from typing import Any, NamedTuple

import libcst as cst

from ... import tree
from ...context import Context
from ...values import Method, Module, Tensor, Torch, Value
from .ranks import Ranks, Reader, moved
from .wholes import Entry, Env, Info, origins
from .writes import Writes

Asserts = dict[int, list[tuple[str, str]]]


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

    @property
    def elementwise(self) -> frozenset[str]:
        return self.linear | self.smooth | frozenset(self.safe)


def tables(context: Context) -> Tables:
    """The tables of the rule files."""
    find = context.rulebook.table
    return Tables(*(find(name) for name in ("LINEAR", "SMOOTH", "SAFE", "COMPARED", "CURVED", "FILLED", "ONE_DIM", "LOSSES")))


class Scope:
    """One way through a function: what is found on it, and what is left as it is."""

    def __init__(
        self, context: Context, function: cst.FunctionDef, candidates: set[int], refused: set[int], preferred: dict[Any, int], asserted: Asserts, writes: Writes
    ) -> None:
        self.context, self.function, self.candidates, self.refused, self.preferred = context, function, candidates, refused, preferred
        self.asserted = asserted  # the names that are asserted to have one rank before each statement, as an earlier round found
        self.asserts: Asserts = collections.defaultdict(list)  # and as this one does
        self.statement = self.block = 0  # the numbers of the current statement and block
        self.started: dict[int, int] = {}  # the last version of any name before each statement
        self.tables = tables(context)
        self.env = Env()
        self.needs: dict[Any, set[float]] = collections.defaultdict(set)  # for names, what operations need outside of the mask
        self.writes, self.written = writes, writes.names(function, candidates)
        self.used = {n.value for n in tree.nodes(function, cst.Name)}
        self.uses: collections.Counter[str] = collections.Counter()
        self.pending: dict[str, Any] = {}  # masks of the current statement that got a name
        self.open = True  # whether a statement can stand before what is looked at
        self.reader = Reader(self.value, self.of_name, self.tables.elementwise | self.tables.compared, self.tables.one_dim)
        self._version = 0

    def value(self, node: Any) -> Value:
        return self.context.value(node)

    def told(self, node: Any, value: Value) -> Any:
        """A node that the pass made, with its value."""
        self.context.facts.tell(node, value)
        return node

    def version(self) -> int:
        """The number of a new value of a name."""
        self._version += 1
        return self._version

    def ranks(self, node: Any) -> Ranks:
        return self.reader.ranks(node)

    def of_name(self, name: str) -> Ranks:
        return self.entry(name).ranks

    def entry(self, name: str) -> Entry:
        """What is known of a name; of one that the function does not bind, that it is always the same."""
        return self.env.names.get(name) or Entry(0, frozenset([((name, 0), 0)]))

    def begin(self) -> int:
        """Count a statement, and take for granted what is asserted before it."""
        self.statement = number = len(self.started) + 1
        self.started[number] = self._version
        for one, other in self.asserted.get(number, ()):
            left, right = (self.env.resolve(self._ranks_of(n)) for n in (one, other))
            if left != right:
                self.env.same[right] = left
            self.asserts[number].append((one, other))
        return number

    def _ranks_of(self, asserted: str) -> Ranks:
        """Those of "m", or of "m + 1"."""
        name, _, more = asserted.partition(" + ")
        return moved(self.of_name(name), int(more or 0))

    def bind(self, name: str, ranks: Ranks | None = None, info: Info = None) -> int:
        """Give a name a new value."""
        version = self.version()
        self.env.names[name] = Entry(version, frozenset([((name, version), 0)]) if ranks is None else ranks, info)
        return version

    def selects(self, node: Any) -> bool:
        """Whether a subscript or call is a selection that may stay whole."""
        return id(node) in self.candidates and id(node) not in self.refused

    def concerns(self, node: Any) -> bool:
        """Whether there is a selection in an expression, or something that came of one."""
        held = self.env.names
        return any(held[n].info is not None for n in tree.names_read(node) if n in held) or any(self.selects(n) for n in tree.nodes(node, cst.Subscript, cst.Call))

    def refuse(self, info: Info) -> None:
        """Leave the selections that something came of as they are."""
        self.refused |= origins(info)

    def refuse_reads(self, node: Any) -> None:
        """Leave all that a piece of code reads or selects."""
        for name in tree.names_read(node):
            self.refuse(self.entry(name).info)
        self.refused |= {id(n) for n in tree.nodes(node, cst.Subscript, cst.Call) if id(n) in self.candidates}

    def loss_of(self, func: Any) -> tuple[str, str] | None:
        """The function that a layer stands for and what it does with the losses, where the constructor makes it once: `self.loss = nn.L1Loss()`."""
        value = self.value(func)
        info = self.context.facts.by_node.get(id(self.function))
        if not isinstance(value, Module) or value.open or len(value.classes) != 1 or info is None or info.owner is None or not isinstance(func, cst.Attribute):
            return None
        name = self.context.rulebook.table("LOSS_LAYERS").get(str(value.refs[0]).rpartition(".")[2])
        text = tree.code(func)
        made = [n.value for m in info.owner.methods.values() for n in tree.nodes(m.node.body, cst.Assign) if any(tree.code(t.target) == text for t in n.targets)]
        if name is None or len(made) != 1 or not isinstance(made[0], cst.Call):
            return None
        given = {a.keyword.value if a.keyword is not None else "": a.value for a in made[0].args}
        if not given:
            return name, "mean"
        reduction = given.get("reduction")
        return (name, str(reduction.evaluated_value)) if given.keys() == {"reduction"} and isinstance(reduction, cst.SimpleString) else None


def candidates(context: Context, function: cst.FunctionDef) -> set[int]:
    """The ids of the subscripts by one boolean mask and the calls of masked_select in a function."""
    return {id(n) for n in tree.nodes(function.body, cst.Subscript, cst.Call) if (_by_mask if isinstance(n, cst.Subscript) else _is_call)(context, n)}


def _by_mask(context: Context, node: Any) -> bool:
    if len(node.slice) != 1 or not isinstance(node.slice[0].slice, cst.Index):
        return False
    base, mask = context.value(node.value), context.value(node.slice[0].slice.value)
    return isinstance(base, Tensor) and not base.host and isinstance(mask, Tensor) and mask.kind == "b" and not mask.number and not mask.python


def _is_call(context: Context, node: Any) -> bool:
    value = context.value(node.func)
    plain = not any(a.star or a.keyword is not None for a in node.args)
    if isinstance(value, Method) and isinstance(node.func, cst.Attribute):
        return value.name == "masked_select" and len(node.args) == 1 and plain and isinstance(value.receiver, Tensor)
    return value == Torch("torch.masked_select") and len(node.args) == 2 and plain
