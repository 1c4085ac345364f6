"""What runs of the interpreter tell each other: cells, with who wrote and who read them."""

import bisect
from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from typing import Any

from ...model.node import Node
from ...model.program import File, Function
from .joins import join
from .lattice import UNKNOWN, Mapping, Method, Module, Sequence, Static, Tensor, Torch, Value

Given = tuple[tuple[str, Value], ...]  # the modules and classes that a call gives, by parameter
Table = dict[str, Value]


class Run:
    """One function, or the statements of a file, to be interpreted, with what is given."""

    __slots__ = (
        "unit",
        "given",
        "nested",
        "rank",
        "reads",
        "made",
        "values",
        "calls",
        "data",
        "count",
        "queued",
        "active",
    )

    def __init__(self, unit: File | Function, given: Given, rank: tuple[Any, ...]) -> None:
        self.unit, self.given, self.rank = unit, given, rank
        self.nested = 0  # how many runs that were given something asked for it, one for the other
        self.reads: dict[Cell, Any] = {}  # with what was read first
        self.made: dict[Cell, Any] = {}
        self.values: dict[Node, Value] = {}
        self.calls: dict[Function, set[Function]] = {}
        self.data: set[tuple[Function, str]] = set()  # parameters that get what is traced
        self.count = 0
        self.queued = self.active = False

    def stale(self) -> bool:
        """Whether something that it read has changed, or it was never interpreted."""
        return not self.count or any(not same(c.value, read) for c, read in self.reads.items())


class Cell:
    """One fact that crosses functions: the join of what runs say of it, in their order.

    `prefixes` has what each run and those before it say together. Thousands of runs may tell
    one cell of something, one after the other: what joins as before is not joined again.
    """

    __slots__ = ("key", "joined", "said", "order", "prefixes", "value", "readers")

    def __init__(self, key: tuple[Any, ...], joined: Callable[[Any, Any], Any]) -> None:
        self.key, self.joined = key, joined
        self.said: dict[Run, Any] = {}
        self.order: list[Run] = []
        self.prefixes: list[Any] = []
        self.value: Any = None
        self.readers: set[Run] = set()

    def say(self, run: Run, value: Any) -> bool:
        """Let this be what a run says; whether the join changed."""
        at = bisect.bisect_left(self.order, run.rank, key=_rank)
        if run not in self.said:
            self.order.insert(at, run)
            self.prefixes.insert(at, None)
        self.said[run] = value
        return self._settle(at)

    def take_back(self, run: Run) -> bool:
        """Let a run say nothing; whether the join changed."""
        if run not in self.said:
            return self._settle(len(self.order))
        at = bisect.bisect_left(self.order, run.rank, key=_rank)
        del self.said[run], self.order[at], self.prefixes[at]
        return self._settle(at)

    def _settle(self, first: int) -> bool:
        prefixes = self.prefixes
        found: Any = prefixes[first - 1] if first else None
        for at in range(first, len(prefixes)):
            said = self.said[self.order[at]]
            found = said if found is None else self.joined(found, said)
            if same(found, prefixes[at]):
                break  # the others join as they did
            prefixes[at] = found
        whole = prefixes[-1] if prefixes else None
        changed = not same(whole, self.value)
        if changed:
            self.value = whole
        return changed


def _rank(run: Run) -> tuple[Any, ...]:
    return run.rank


def join_tables(a: Table, b: Table) -> Table:
    return {**a, **{name: join(a.get(name), value) for name, value in b.items()}}


def either(a: Any, b: Any) -> Any:
    """The union of sets, or of truths."""
    return a | b


def cut(value: Any, depth: int) -> Any:
    """A value without what is nested deeper: lists of lists may grow for ever in a fixed point."""
    if value.__class__ is dict:
        return {name: cut(inner, depth) for name, inner in value.items()}
    if isinstance(value, Method):
        return replace(value, receiver=cut(value.receiver, depth))
    if not isinstance(value, (Sequence, Module, Mapping)) or value.element is None:
        return value
    if nesting(value) <= depth:
        return value
    if isinstance(value, Module):
        if not depth:
            return Module(value.classes, True)
        parts = tuple((name, cut(inner, depth - 1)) for name, inner in value.items or ())
        return replace(value, element=cut(value.element, depth - 1), items=parts or None)
    element = cut(value.element, depth - 1) if depth else UNKNOWN
    if isinstance(value, Mapping) or not depth or value.items is None:
        return replace(value, element=element) if isinstance(value, Mapping) else Sequence(element)
    return replace(value, element=element, items=tuple(cut(v, depth - 1) for v in value.items))


def described(value: Any) -> str:
    """A value in words that are the same in every process: sets have no order of theirs."""
    if isinstance(value, frozenset):
        return f"{{{' '.join(sorted(map(described, value)))}}}"
    if isinstance(value, tuple):
        return f"({' '.join(map(described, value))})"
    if isinstance(value, Node):
        return f"{value.file.path if value.file else ''}:{value.start}"
    if is_dataclass(value):
        inner = (described(getattr(value, field.name)) for field in fields(value))
        return f"{type(value).__name__}({' '.join(inner)})"
    return repr(value)


def nesting(value: Any) -> int:
    """How deep lists and containers stand in each other in a value."""
    if isinstance(value, Method):
        return nesting(value.receiver)
    if not isinstance(value, (Sequence, Module, Mapping)) or value.element is None:
        return 0
    inner = [value.element]
    if isinstance(value, Module):
        inner += [part for _, part in value.items or ()]
    elif isinstance(value, Sequence):
        inner += value.items or ()
    return 1 + max(map(nesting, inner))


def same(a: Any, b: Any) -> bool:
    """Whether two facts are the same, also in what equality leaves out."""
    if a is b:
        return True
    if a.__class__ is not b.__class__ or a != b:
        return False
    compare = _SAME.get(a.__class__)
    return compare is None or compare(a, b)


def _same_items(a: Any, b: Any) -> bool:
    if a.sites != b.sites or not same(a.element, b.element):
        return False
    pairs = zip(a.items or (), b.items or ())
    if isinstance(a, Module):
        return all(same(x[1], y[1]) for x, y in pairs)
    return a.loose == b.loose and all(same(x, y) for x, y in pairs)


_SAME: dict[type, Callable[[Any, Any], bool]] = {
    Tensor: lambda a, b: (a.dims, a.single) == (b.dims, b.single),
    Static: lambda a, b: a.loose == b.loose and a.wide == b.wide,
    Torch: lambda a, b: a.function == b.function,
    Method: lambda a, b: same(a.receiver, b.receiver),
    Mapping: lambda a, b: a.sites == b.sites and same(a.element, b.element),
    Sequence: _same_items,
    Module: _same_items,
    dict: lambda a, b: all(same(value, b[name]) for name, value in a.items()),
}
