"""Lists of Python's whose modules stand elsewhere: torch finds each once, a tree of JAX would have
it twice, and NNX takes no plain list of modules.

self.blocks = [self.a, self.b]             @property
                                           def blocks(self):
                                               return [self.a, self.b]

self.fcs = []                              self.fc_names = ()
for i in range(2):                         for i in range(2):
    fc = nn.Linear(4, 4)                       fc = nn.Linear(4, 4)
    setattr(self, f"fc{i}", fc)                setattr(self, f"fc{i}", fc)
    self.fcs.append(fc)                        self.fc_names += (f"fc{i}",)
                                           @property
                                           def fcs(self):
                                               return [getattr(self, n) for n in self.fc_names]

A list that only the constructor reads, to make a Sequential of it, is a name of the constructor's.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from ...facts.escaping_lists import hands_on
from ...facts.modules import FIELD, Modules
from ...facts.values.lattice import Module, Value
from ...model.copy import clone
from ...model.effects import Declare, New
from ...model.expressions import Attribute, Call, Display, Name, Starred, Subscript
from ...model.fresh_names import taken
from ...model.names import dotted
from ...model.node import Expression, Node, Statement
from ...model.program import Class, Function
from ...model.project import Project
from ...model.statements import Assign, For
from ..attribute_reads import Reads
from ..fresh_names import fresh
from ..threading.properties import add_property
from . import asked_anew, list_growth
from .kept_names import KeptNames
from .list_growth import Entry
from .parallel_names import beside, give_name, in_a_loop


@dataclass
class Elsewhere:
    """The lists that are properties over names, with the fields that hold these, and those that
    have one more of each module."""

    names: dict[tuple[Class, str], str] = field(default_factory=dict)
    doubled: list[tuple[str, Expression]] = field(default_factory=list)


def spell_out(project: Project, modules: Modules, alone: bool = False) -> Elsewhere:
    """Let no list hold what stands elsewhere, of all classes of a project; `alone`: where each
    place has arrays of its own."""
    found, read = Elsewhere(), Reads(project)
    for cls, init in modules.constructors():
        _Lists(modules, cls, init, found, read, alone).write()
    return found


class _Lists:
    """The lists that the constructor of one class sets on `self`."""

    def __init__(
        self,
        modules: Modules,
        cls: Class,
        init: Function,
        found: Elsewhere,
        read: Reads,
        alone: bool,
    ) -> None:
        self.project, self.modules, self.cls, self.init = read.project, modules, cls, init
        self.found, self.read, self.alone = found, read, alone
        self.me = init.receiver
        self.family = {cls, *read.project.family(cls)}
        self.methods = [m for c in self.family for m in read.project.methods(c).values()]

    def write(self) -> None:
        inside = set(self.init.body.walk())
        for name, own in list(self.modules.own_fields(self.cls).items()):
            if own.kind != FIELD:
                continue
            value, store = own.values[0], own.values[0].parent
            if len(own.values) != 1:  # `self.ws = [a.weight]`, which `__setstate__` sets once more
                lists = [v for v in own.values if _is_of_modules(v)]
                again = not set(own.values) <= inside
                self.found.doubled += [(name, v) for v in lists if again][:1]
                if self.alone and not again:
                    lists = [v for v in lists if not _is_set_anew(v, own.values)]
                    self._report(name, [v.parent for v in lists if isinstance(v.parent, Assign)])
            elif not isinstance(store, Assign) or len(store.targets) != 1 or store.operator:
                continue
            elif list_growth.is_list(value) and store.parent is self.init.body:
                self._write(name, store)
            elif self.alone and _is_of_modules(value):
                self._report(name, [store])
            elif (local := list_growth.kept_list(value)) is not None:
                if store.parent is self.init.body:
                    self._write_local(name, store, local)

    def _write(self, name: str, store: Assign) -> None:
        assert (value := store.expression) is not None
        path = f"{self.me}.{name}"
        more = [n for m in self.methods for n in list_growth.grown(m, path)]
        kept = [e for n in more for e in list_growth.added(n)]
        if not (
            list_growth.holds_modules(value.value)
            or any(list_growth.is_trained(e.value) for e in kept)
        ):
            return
        if not self._is_read_elsewhere(name):
            self._make_local(name)
        elif not more and (again := self._asked_anew(store)) is not None:
            value = again
            for loop in self.init.nodes(For):
                if dotted(loop.iterable) == path and isinstance(value, Display):
                    loop.iterable.replace(clone(value))  # what changes them needs their places
            self._property(store, name, value)
        elif not self._set_in_a_loop(name, path, store, more):
            for part in more:
                give_name(part, part.nearest(Function) or self.init, path, name.removesuffix("s"))
            self._by_names(name, store, [store, *more])

    def _write_local(self, name: str, store: Assign, local: str) -> None:
        """`self.fcs = fcs`, where `fcs` is a list that the constructor has made."""
        made = [a for a in self.init.nodes(Assign) if local in map(dotted, a.targets)]
        if len(made) != 1 or made[0].operator or not list_growth.is_list(made[0].expression):
            return
        more = list(list_growth.grown(self.init, local))
        kept = [e for n in (made[0], *more) for e in list_growth.added(n)]
        if not any(map(_is_of_modules, kept)) and not any(
            list_growth.is_trained(e.value) for e in kept
        ):
            return
        if not self._is_read_elsewhere(name) and not self._is_read_here(name, store):
            self.init.body.take(store)
            self.read.changed()
            return
        inside = {n for s in (store, *made, *more) for n in s.walk()}
        others = [n for n in self.init.nodes(Name) if n.id == local and n not in inside]
        whole = [self._container(n, store) for n in others]
        looped = isinstance(store.expression, Name) and not self._is_read_here(name, store)
        if (
            looped
            and made[0].parent is store.parent
            and self._set_in_a_loop(name, local, made[0], more)
        ):
            self.init.body.take(store)
            self.read.changed()
        elif not others:
            self._by_names(name, store, [*made, *more])
        elif whole[0] is not None and isinstance(store.expression, Name):
            held = Attribute(Name(self.me), whole[0])
            self._property(store, name, Call(Name("list"), [held]))

    def _container(self, node: Name, store: Assign) -> str | None:
        """The attribute that is a container of all that a list has: `self.net`."""
        declare = node.nearest(Statement)
        if not isinstance(declare, Declare) or declare.parent is not store.parent:
            return None
        new = declare.expression
        around = node.parent.parent if isinstance(node.parent, Starred) else node.parent
        if not isinstance(new, New) or around is not new or len(new.arguments) != 1:
            return None
        word = "Sequential" if isinstance(node.parent, Starred) else "ModuleList"
        if getattr(new.function, "name", "") != word:
            return None
        body = self.init.body.body
        later = body[min(body.index(declare), body.index(store)) :]
        named = [n for s in later for n in s.walk() if isinstance(n, Name) and n.id == node.id]
        return declare.name if len(named) == 2 else None  # it grows no more

    def _is_read_here(self, name: str, store: Assign) -> bool:
        path = f"{self.me}.{name}"
        return any(dotted(n) == path and n not in store.targets for n in self.init.nodes(Attribute))

    def _property(self, store: Assign | None, name: str, value: Expression) -> None:
        made = add_property(self.cls, self.init, store, name, value)
        self.project.note_method(self.cls, made)
        self.read.changed()

    def _asked_anew(self, store: Assign) -> Expression | None:
        """What gives the modules of a list again when it is asked later."""
        again = asked_anew.spelled(store, self.init, self.modules.own_fields(self.cls))
        later = [m for m in self.methods if m is not self.init]
        return None if again is None or asked_anew.is_replaced(again, store, later) else again

    # --- only the constructor's -------------------------------------------------------------------

    def _is_read_elsewhere(self, name: str) -> bool:
        inside = set(self.init.body.walk())
        for node in (n for n in self.read.of(name) if n not in inside):
            value = node.object.value
            if not isinstance(value, Module) or value.open:
                return True
            if not self.family.isdisjoint(value.classes):
                return True
        return False

    def _make_local(self, name: str) -> None:
        local = fresh(name, taken(self.init))
        for node in [n for n in self.init.nodes(Attribute) if dotted(n) == f"{self.me}.{name}"]:
            made = Name(local)
            made.value = node.value
            node.replace(made)
        self.read.changed()

    # --- by names ---------------------------------------------------------------------------------

    def _by_names(self, name: str, store: Assign, parts: list[Statement]) -> None:
        """Keep the names of what a list holds, which are attributes of `self`."""
        named: list[tuple[Statement, list[Entry]]] = []
        fields = self.modules.own_fields(self.cls)
        keyed = self._is_keyed(parts[0])
        for part in parts:
            method, told = part.nearest(Function) or self.init, list_growth.entries(part)
            entries = told or []
            found = [beside(e.value, part, method, fields) for e in entries]
            known = told is not None and None not in found
            alike = all((e.key is not None) == keyed for e in entries)
            within = method.receiver == self.me and (
                method.owner is self.cls or method is self.init
            )
            if not (within and known and alike and list_growth.is_plain(part)):
                self._report(name, parts)
                return
            pairs = zip(entries, found)
            named.append((part, [Entry(e.key, clone(f)) for e, f in pairs if f is not None]))
        held = next(
            (e.value.value for part in parts for e in list_growth.entries(part) or ()), None
        )
        names = KeptNames(self.cls, self.init, name, keyed)
        if parts[0] is store:
            names.grow_beside(named)
        else:  # a list of the constructor's own
            names.grow_apart(named, store)
        self._fetch(name, names, held)

    def _is_keyed(self, made: Statement) -> bool:
        value = made.expression if isinstance(made, Assign) else None
        return value is not None and list_growth.is_dict(value)

    def _set_in_a_loop(self, name: str, path: str, made: Assign, more: list[Statement]) -> bool:
        """`for i, fc in enumerate(self.fcs): setattr(self, f"fc{i}", fc)`: the list is the
        constructor's, and the loop keeps the names."""
        found = in_a_loop(path, made, more, self.init)
        if found is None:
            return False
        held = getattr(made.expression.value, "element", None)  # type: ignore[union-attr]
        added = [e.value for part in more for e in list_growth.entries(part) or ()]
        names = KeptNames(self.cls, self.init, name, self._is_keyed(made))
        if path.startswith(f"{self.me}."):
            self._make_local(name)
        names.grow_in_turn(found)
        self._fetch(name, names, added[0].value if added else held)
        return True

    def _fetch(self, name: str, names: KeptNames, held: Value | None) -> None:
        """A property with what these names stand for."""
        self.found.names[self.cls, name] = names.field.name
        self._property(None, name, names.fetched(held))

    def _report(self, name: str, parts: list[Statement]) -> None:
        """Tell of a list whose modules have another place too."""
        around = dict.fromkeys([self.init, *(p.nearest(Function) or self.init for p in parts)])
        placed = {n.id for m in around for d in m.nodes(New, Declare) for n in _given(d)}
        given = (n for m in around for _, call in list_growth.sets(m) for n in call.arguments)
        placed |= {n.id for n in given if isinstance(n, Name)}
        kinds = Attribute, Subscript, *(New,) * hands_on(self.init, f"{self.me}.{name}")
        for element in (e for part in parts for e in list_growth.leaves(part)):
            if isinstance(element, kinds) or getattr(element, "id", None) in placed:
                self.found.doubled.append((name, element))
                return


def _is_of_modules(value: Expression) -> bool:
    return list_growth.is_list(value) and list_growth.holds_modules(value.value)


def _is_set_anew(value: Expression, values: list[Expression]) -> bool:
    """Whether a later value takes the place of one: `self.net = nn.Sequential(*self.net)`."""
    around = {*value.ancestors()}
    later = (v.parent for v in values[values.index(value) + 1 :])
    return any(store is not None and store.parent in around for store in later)


def _given(node: Node) -> Iterator[Name]:
    """The names that a module or a place is given."""
    given = node.arguments if isinstance(node, New) else [getattr(node, "expression", None)]
    for value in given:
        value = value.expression if isinstance(value, Starred) else value
        if isinstance(value, Name):
            yield value
