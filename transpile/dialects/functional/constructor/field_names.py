"""The names of a constructor in what `init` has taken of it: fields hold what they were.

self.w = Parameter(zeros(hidden, dim))     →     params["w"] = jnp.zeros((self.hidden, self.dim))
"""

from collections.abc import Iterator

from ....facts.bindings.activity import bound
from ....facts.values.lattice import Module
from ....model.effects import Read
from ....model.expressions import Attribute, Comprehension, Lambda, Name
from ....model.names import is_own, names_in, target_names
from ....model.node import Expression, Node, Statement
from ....model.statements import Assign, For, If
from .events import Events
from .init_scope import Available
from .mutated_lists import Changing


class Naming:
    """Renames what is taken out of one constructor."""

    def __init__(
        self, events: Events, available: Available, arrays: set[str], changing: Changing
    ) -> None:
        self.events, self.available = events, available
        self.arrays, self.changing = arrays, changing

    def turning(self, node: Node, place: Statement) -> list[str]:
        """The fields among what a statement reads that may be others in each turn around it."""
        rebinding = self.available.rebinding
        return sorted({n for _, n in self._fields(node) if rebinding.turns(n, place)})

    def rename(self, node: Node, outer: Statement, place: Statement, needed: set[str]) -> None:
        """Names of the constructor's become fields, but for arrays, which are made here too.

        `place`: the statement that the node is a copy of, or whose test it is; `outer`: the one of
        the constructor's own block around that."""
        targets = node.targets if isinstance(node, Assign) and not node.operator else []
        own = {n for target in targets for n in target.walk() if isinstance(n, Name)}
        inside = _bound_inside(node)
        for read, field in list(self._fields(node)):
            if self.available.changed_by_others(field) or self.available.rebinding.is_set_later(
                field, place
            ):
                self._keep(read, field, outer, place)
        for name in [n for n in node.walk() if isinstance(n, Name)]:
            if name.id in inside or name.id == self.events.self_name:
                continue
            if not self.available.is_local(name.id) or name in own:
                continue
            first = place is outer and isinstance(node, Expression)
            if name.id in self.arrays or not self._is_kept(name.id, outer, first):
                needed.add(name.id)
            else:
                self._as_field(name, outer, place)

    def _fields(self, node: Node) -> Iterator[tuple[Attribute, str]]:
        """The fields of the module that are read."""
        for read in (n for n in node.walk() if type(n) is Attribute):
            if is_own(read, self.events.self_name) and read not in own_fields(node):
                yield read, read.name

    def _as_field(self, name: Name, outer: Statement, place: Statement) -> None:
        part = self.available.plan.unsettled.reach(name) is not name
        if part and self.available.changed_by_others(name.id):
            self._keep(name, name.id, outer, place)
            return
        field = self.available.field(name.id, outer)
        if part and self.available.changed_by_others(field):
            self._keep(name, field, outer, place)
        else:
            name.replace(Attribute(Name(self.events.self_name), field))

    def _is_kept(self, name: str, outer: Statement, first: bool) -> bool:
        """Whether a field can have what a name is where it is read, `first` of all that the
        statement evaluates."""
        if not self.available.is_known(name, outer):
            return False
        if isinstance(outer, (If, For)) and not first and name in bound(outer):
            return False  # it may be bound between
        return not self.available.is_changed_later(name, outer, self.changing)

    def _keep(self, read: Expression, attribute: str, outer: Statement, place: Statement) -> None:
        """Read what a field, or what is asked of it, was at a statement of the constructor. A
        module is not kept: it would be a submodule once more, and the path of its arrays stays."""
        whole = read
        if attribute in self.available.plan.unsettled.grown or isinstance(read.value, Module):
            whole = self.available.plan.unsettled.reach(read)
        inner = names_in(whole) & self.arrays
        whole = read if inner else whole
        if isinstance(whole, Read) or isinstance(whole.value, Module):
            return
        field = self.available.snapshot(attribute, whole, outer, place)
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
