"""Containers that loops go over, by what these bind: `for i, block in enumerate(self.blocks)`."""

from collections.abc import Set
from typing import NamedTuple

from ...facts.values.attribute_names import WALKS
from ...facts.values.lattice import Method, Module, Sequence
from ...model.effects import Support
from ...model.expressions import Attribute, Call, Display, ForClause, Name, Starred
from ...model.names import below, statements, target_names
from ...model.node import Expression
from ...model.program import Function
from ...model.statements import Assign, For
from ...source.lower_ast import expression
from ..walk_order import adds_up_params

PAIRS = frozenset(("items", "named_children"))  # give names too
ZIPS = frozenset(("zip", "zip_longest"))


Loop = For | ForClause
# The names of modules that loops bind, by what these go over, and for which of their names.
Companions = dict[tuple[Loop, Expression], tuple[Name, str]]


class Turn(NamedTuple):
    """The container that a name goes over; the name of the target that has the names in it, where
    there is one; and where the name stands in what is taken apart: `for conv, ff in self.pairs`.
    """

    container: Expression
    word: Name | None = None
    at: tuple[int, ...] = ()


def are_apart(one: Loop, other: Loop) -> bool:
    """Whether neither of two loops stands in the other."""
    a, b = (n.parent if isinstance(n, ForClause) else n for n in (one, other))
    return a is not b and a not in b.ancestors() and b not in a.ancestors()  # type: ignore[union-attr]


def counts(loop: Loop, index: Name) -> bool:
    """Whether a name counts the turns of a loop from 0."""
    word = loop.iterable.function if isinstance(loop.iterable, Call) else None
    if not isinstance(word, Name) or len(loop.iterable.arguments) != 1:  # type: ignore[attr-defined]
        return False
    if word.id == "range":
        return isinstance(loop.target, Name)
    first = loop.target.elements[0] if isinstance(loop.target, Display) else None
    return word.id == "enumerate" and isinstance(first, Name) and first.id == index.id


def source(target: Expression, iterable: Expression, name: str) -> Turn | None:
    """What a name of the target goes over."""
    if isinstance(iterable, Call):
        word = iterable.function
        if isinstance(word, Attribute) and isinstance(word.object.value, Module):
            return _method(target, word, name)
        kind = word.id if isinstance(word, Name) else ""
        if kind in ("reversed", "list", "iter", "tuple") and len(iterable.arguments) == 1:
            return source(target, iterable.arguments[0], name)
        if isinstance(target, Display):
            parts = target.elements
            if kind == "enumerate" and len(parts) == 2:
                return source(parts[1], iterable.arguments[0], name)
            if kind in ZIPS and len(parts) == len(iterable.arguments):
                for part, argument in zip(parts, iterable.arguments):
                    if name in target_names(part):
                        return source(part, argument, name)
    value = iterable.value
    held = value.element if isinstance(value, Sequence) and isinstance(iterable, Name) else value
    if not isinstance(held, Module):
        return None
    at = place(target, name)
    return None if at is None else Turn(iterable, None, at)


def _method(target: Expression, word: Attribute, name: str) -> Turn | None:
    if word.name in PAIRS and isinstance(target, Display) and len(target.elements) == 2:
        first, second = target.elements
        at = place(second, name)
        if isinstance(first, Name) and at is not None:
            return Turn(word.object, first, at)
    if word.name in ("values", "children"):
        at = place(target, name)
        return None if at is None else Turn(word.object, None, at)
    return None


def going_over(call: Call, words: Set[str] = WALKS) -> Call | None:
    """`nn.modules(self.net)` of `self.net.modules()`, where a module is gone over by one of these
    words; None for another call."""
    function, value = call.function, call.function.value
    if not isinstance(function, Attribute) or not isinstance(value, Method):
        return None
    if function.name not in words or not isinstance(value.receiver, Module):
        return None
    if adds_up_params(call):
        return listed(call, [function.object])
    keywords = [None, *call.keywords]
    return Call(Support(function.name), [function.object, *call.arguments], keywords)


def going_over_run(call: Call) -> Call | None:
    """The same while a model runs: a module's children() gives their names too, and a loop over
    them binds a name for the place of each; not so `conv, bn = self.children()`."""
    around = call.parent
    apart = isinstance(around, Assign) and isinstance(around.targets[0], Display)
    made = going_over(call, WALKS if apart else WALKS - {"children"})
    if made is None or call.function.name != "named_children":  # type: ignore[attr-defined]
        return made
    return Call(Attribute(made.arguments[0], "children"), [])


def listed(call: Call, given: list[Expression]) -> Call:
    """`nn.parameters(self.net, params["net"])` of a call on a module, and maybe its params; where
    these are added up their order is all the same: `jax.tree.leaves(params["net"])`."""
    if not adds_up_params(call):
        return Call(Support(call.function.name), given)  # type: ignore[attr-defined]
    if len(given) < 2:
        init = Attribute(given[0], "init")
        given = [Call(expression("jax.eval_shape"), [init, expression("jax.random.key(0)")])]
    return Call(expression("jax.tree.leaves"), given[-1:])


def place(target: Expression, name: str) -> tuple[int, ...] | None:
    """Where a name stands in a target: (1, 0) in `conv, (ff, bn)`."""
    if isinstance(target, Name):
        return () if target.id == name else None
    if not isinstance(target, Display):
        return None
    for at, element in enumerate(target.elements):
        if isinstance(element, Starred):
            return None
        inner = place(element, name)
        if inner is not None:
            return (at, *inner)
    return None


def element(name: str, target: Expression, value: Expression | None) -> Expression | None:
    """What a name gets in `f, g = self.f, self.g`."""
    at = place(target, name)
    for i in at or ():
        if not isinstance(value, Display) or not isinstance(target, Display):
            return None
        if len(value.elements) != len(target.elements):
            return None
        target, value = target.elements[i], value.elements[i]
    return value if at is not None and not isinstance(value, Starred) else None


def two_kinds(function: Function) -> list[Name]:
    """The uses of names that are modules on one way, and lists of modules on another."""
    found: dict[str, set[type]] = {}
    assigns = [n for n in statements(function.body) if isinstance(n, Assign)]
    for assign in assigns:
        target, value = assign.targets[0], assign.expression
        if not isinstance(target, Name) or value is None or assign.operator:
            continue
        kept = value.value
        if isinstance(kept, Module):
            found.setdefault(target.id, set()).add(Module)
        elif isinstance(kept, Sequence):
            if any(isinstance(v, Module) for v in (kept.element, *(kept.items or ()))):
                found.setdefault(target.id, set()).add(Sequence)
    several = {name for name, kinds in found.items() if len(kinds) > 1}
    if not several:
        return []
    uses = [n for n in below(function.body, Name) if n.id in several]
    stores = {t for assign in assigns for t in assign.targets}
    return [n for n in uses if n not in stores and not isinstance(n.value, (Module, Sequence))]
