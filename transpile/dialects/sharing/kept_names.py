"""A field with the names of the modules that a list or dict has, and what fetches them by these.

self.fcs.append(fc)                        self.fc_names += (f"fc{i}",)
self.ops[k] = op                           self.op_names += ((k, f"op_{k}"),)
"""

from collections.abc import Iterable

from ...facts.values.lattice import Value
from ...model.copy import clone
from ...model.edits import block_of
from ...model.expressions import Attribute, Call, Comprehension, Display, ForClause, Name, Starred
from ...model.fresh_names import taken
from ...model.node import Expression, Statement
from ...model.program import Class, Function
from ...model.statements import Assign
from ..fresh_names import attributes, fresh
from . import list_growth
from .list_growth import Entry
from .parallel_names import SetInTurn


class KeptNames:
    """The names of one list, or, beside its keys, of one dict."""

    def __init__(self, cls: Class, init: Function, name: str, keyed: bool) -> None:
        self.init, self.keyed = init, keyed
        word = f"{name[:-1] if name.endswith('s') else name}_names"
        self.field = Attribute(Name(init.receiver), fresh(word, attributes(cls)))

    def _entry(self, entry: Entry) -> Expression:
        if entry.key is None:
            return clone(entry.value)
        return Display("tuple", [clone(entry.key), clone(entry.value)])

    def grow_beside(self, named: Iterable[tuple[Statement, list[Entry]]]) -> None:
        """Put the names in the place of what makes the list, and of what makes it grow."""
        self._put(named, self.field)

    def grow_apart(self, named: Iterable[tuple[Statement, list[Entry]]], store: Assign) -> None:
        """The same of a list of the constructor's own, which is kept in the end."""
        target = Name(fresh(self.field.name, taken(self.init)))
        assert (listed := store.expression) is not None
        next(n for n in listed.walk() if isinstance(n, Name)).replace(clone(target))
        assert store.expression is not None  # it may be the name itself
        kept = clone(store.expression)
        for node in [kept, *kept.children()]:
            if isinstance(node, Expression):
                node.value = None  # it was a list of modules
        block_of(store).substitute(store, [Assign([self.field], kept)])
        self._put(named, target)

    def _put(self, named: Iterable[tuple[Statement, list[Entry]]], target: Expression) -> None:
        for i, (part, entries) in enumerate(named):
            elements, first = [*map(self._entry, entries)], list_growth.is_first(part)
            given = [*elements, Starred(clone(target))] if first else elements
            plain = first or i == 0
            made = Assign([clone(target)], Display("tuple", given), "" if plain else "+")
            block_of(part).substitute(part, [made])

    def grow_in_turn(self, found: SetInTurn) -> None:
        """Add each name where a loop sets what has it."""
        begun = Assign([clone(self.field)], Display("tuple", []))
        block_of(found.loop).insert_before(found.loop, [begun])
        added = Display("tuple", [self._entry(found.entry)])
        more = Assign([clone(self.field)], added, "+")
        block_of(found.statement).insert_after(found.statement, [more])

    def fetched(self, held: Value | None) -> Expression:
        """What these names stand for."""
        each = Call(Name("getattr"), [Name(self.init.receiver), Name("name")])
        each.value = held
        if not self.keyed:
            clause = ForClause(Name("name"), clone(self.field))
            return Comprehension("list", None, each, [clause])
        clause = ForClause(Display("tuple", [Name("key"), Name("name")]), clone(self.field))
        return Comprehension("dict", Name("key"), each, [clause])
