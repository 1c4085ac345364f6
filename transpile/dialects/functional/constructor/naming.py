"""The names of a constructor in what `init` has taken of it: fields hold what they were.

self.w = Parameter(zeros(hidden, dim))     →     params["w"] = jnp.zeros((self.hidden, self.dim))
"""

from __future__ import annotations

from collections.abc import Iterator

from ....facts.bindings.activity import bound
from ....model.expressions import Attribute, Comprehension, Lambda, Name
from ....model.names import target_names
from ....model.node import Expression, Node, Statement
from ....model.statements import Assign, For, If
from .available import Available
from .changing import Changing
from .events import Events, is_own


class Naming:
    """Renames what is taken out of one constructor."""

    def __init__(
        self, events: Events, available: Available, arrays: set[str], changing: Changing
    ) -> None:
        self.events, self.available = events, available
        self.arrays, self.changing = arrays, changing

    def rename(self, node: Node, outer: Statement, needed: set[str], first: bool = False) -> None:
        """Names of the constructor's become fields, but for arrays, which are made here too.

        `first`: whether the node is evaluated before all else of the statement around it."""
        targets = node.targets if isinstance(node, Assign) and not node.operator else []
        own = {n for target in targets for n in target.walk() if isinstance(n, Name)}
        inside = _bound_inside(node)
        me = self.events.self_name
        for read in [n for n in node.walk() if type(n) is Attribute and is_own(n, me)]:
            changed = self.available.changed_by_others(read.name)
            if read not in own_fields(node) and (
                changed or self.available.changes(read.name, outer)
            ):
                self._keep(read, read.name, outer)
        for name in [n for n in node.walk() if isinstance(n, Name)]:
            if name.id in inside or name.id == self.events.self_name:
                continue
            if not self.available.is_local(name.id) or name in own:
                continue
            if name.id in self.arrays or not self._is_kept(name.id, outer, first):
                needed.add(name.id)
            else:
                self._as_field(name, outer)

    def _as_field(self, name: Name, outer: Statement) -> None:
        part = self.available.plan.unsettled.reach(name) is not name
        if part and self.available.changed_by_others(name.id):
            self._keep(name, name.id, outer)
            return
        field = self.available.field(name.id, outer)
        if part and self.available.changed_by_others(field):
            self._keep(name, field, outer)
        else:
            name.replace(Attribute(Name(self.events.self_name), field))

    def _is_kept(self, name: str, outer: Statement, first: bool) -> bool:
        """Whether a field can have what a name is where it is read."""
        if not self.available.is_known(name, outer):
            return False
        if isinstance(outer, (If, For)) and not first and name in bound(outer):
            return False  # it may be bound between
        return not self.available.is_changed_later(name, outer, self.changing)

    def _keep(self, read: Expression, attribute: str, outer: Statement) -> None:
        """Read what a field, or what is asked of it, was at a statement of the constructor."""
        unsettled = self.available.plan.unsettled
        whole = unsettled.reach(read) if attribute in unsettled.grown else read
        inner = {n.id for n in whole.walk() if isinstance(n, Name)} & self.arrays
        whole = read if inner else whole
        field = self.available.snapshot(attribute, whole, outer)
        whole.replace(Attribute(Name(self.events.self_name), field))


def own_fields(node: Node) -> set[Node]:
    """The targets of a statement."""
    return set(node.targets) if isinstance(node, Assign) else set()


def _bound_inside(node: Node) -> set[str]:
    """The names that functions and comprehensions inside bind."""
    return set(_inner_names(node))


def _inner_names(node: Node) -> Iterator[str]:
    for inner in node.walk():
        if isinstance(inner, Comprehension):
            for clause in inner.clauses:
                yield from target_names(clause.target)
        elif isinstance(inner, Lambda):
            yield from (p.name for p in inner.parameters)
