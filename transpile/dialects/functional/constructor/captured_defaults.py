"""What a function that runs later reads, and may be another thing by then: a default of it.

nn.init.constant_(l.weight, self.c)  →  nn.reinitialise(l, "weight", lambda w, key, c=self.c: …)
self.c = 7.                             self.c = 7.
"""

from collections.abc import Collection, Iterator
from typing import TypeVar

from ....facts.bindings.activity import bound
from ....model.copy import clone
from ....model.effects import Key, Read
from ....model.expressions import Attribute, Comprehension, ForClause, Lambda, Name
from ....model.names import is_own, names_in, target_names, text
from ....model.node import Expression, Node, Statement
from ....model.program import Function, Parameter
from ....model.statements import Assign, For
from ...fresh_names import fresh
from ..plan import Plan

N = TypeVar("N", bound=Node)


class Kept:
    """What one function that builds keeps for those that it makes."""

    def __init__(self, function: Function, self_name: str, plan: Plan) -> None:
        self.plan = plan
        self._changing = set(_changing(function))
        self.me, self._unstable = _self(function, self_name, plan)

    def by_walk(self, begin: Function, walk: For) -> None:
        """What the function of a walk reads and may be another thing later is a default of it."""
        own = {p.name for p in begin.parameters}
        own |= {n for s in begin.body.walk() if isinstance(s, Statement) for n in bound(s)}
        _, kept = self.fields(begin.body, own)
        kept += [p for p in self.defaults(begin.body, walk) if p.name not in own]
        begin.parameters += kept
        for parameter in kept:
            parameter.parent = begin

    def fields(self, value: N, own: Collection[str] = ()) -> tuple[N | Name, list[Parameter]]:
        """Fields that may be others once the model is built: each is kept as a default. `own`:
        names that are bound where they are read."""
        found: dict[str, Parameter] = {}
        unsettled, names = self.plan.unsettled, dict[str, str]()
        taken = {"key", *(n.id for n in value.walk() if isinstance(n, Name))}
        for read in [n for n in value.walk() if type(n) is Attribute]:
            mine = is_own(read, self.me) and read.name in self._unstable
            if not mine and not unsettled.is_others(read):
                continue
            whole = unsettled.reach(read) if read.name in unsettled.grown else read
            if not _is_below(whole, value) or not _may_be_kept(whole, own):
                continue
            name = names.get(text(whole)) or fresh(read.name, taken | set(found))
            names[text(whole)] = name
            found.setdefault(name, Parameter(name, "", None, clone(whole)))
            if whole is value:
                return Name(name), list(found.values())
            else:
                whole.replace(Name(name))
        return value, list(found.values())

    def defaults(self, value: Node, at: Node) -> list[Parameter]:
        changing = self._changing | set(_turning(at))
        inside = {
            n
            for node in value.walk()
            for n in (
                [p.name for p in node.parameters]
                if isinstance(node, Lambda)
                else target_names(node.target)
                if isinstance(node, ForClause)
                else []
            )
        }
        read = names_in(value)
        return [Parameter(n, "", None, Name(n)) for n in sorted(read & changing - inside)]


def _self(function: Function, own: str, plan: Plan) -> tuple[str, set[str]]:
    """The name of the module that is built, of a function inside of its constructor too, and its
    fields that change."""
    around: Function | None = function
    while around is not None and around.owner is None:
        around = around.scope if isinstance(around.scope, Function) else None
    if around is None or around is function or not around.parameters:
        return own, plan.unsettled.of(function.owner)
    return around.receiver, plan.unsettled.of(around.owner)


def _may_be_kept(whole: Expression, own: Collection[str]) -> bool:
    nodes = list(whole.walk())
    return not any(isinstance(n, (Key, Read)) or isinstance(n, Name) and n.id in own for n in nodes)


def _is_below(node: Node, whole: Node) -> bool:
    return node is whole or whole in node.ancestors()


def _changing(function: Function) -> Iterator[str]:
    """The names that are bound more than once, or in turns."""
    seen: set[str] = {p.name for p in function.parameters}
    for node in function.body.walk():
        if isinstance(node, For):
            for inner in node.walk():
                if isinstance(inner, (For, Assign)):
                    yield from bound(inner)
        elif isinstance(node, Assign):
            for name in bound(node):
                if name in seen:
                    yield name
                seen.add(name)


def _turning(at: Node) -> Iterator[str]:
    """The names that comprehensions around bind."""
    for around in (at, *at.ancestors()):
        if isinstance(around, Comprehension):
            for clause in around.clauses:
                yield from target_names(clause.target)
