"""A module that others are built with, and keep: its params are those of its first place.

self.emb = Embedding(n)                self.emb = Embedding(n)
self.trunk = Trunk(n, self.emb)   →    self.trunk = Trunk(n, self.emb)
                                       self.trunk.emb = self.emb, as a tie of all its params
"""

from collections.abc import Iterator
from typing import NamedTuple

from ...facts.array_paths import WRITING, arrays_written
from ...facts.modules import SUBMODULE, Modules
from ...facts.values.lattice import Module
from ...model.copy import clone
from ...model.effects import PARAM, Declare, New, Read, Tie, Walk
from ...model.expressions import Attribute, Call, Name
from ...model.names import bound_once, everywhere, is_own, is_target, rebound, text
from ...model.node import Expression
from ...model.program import Class, Function
from ...model.project import Project
from ...model.statements import Assign
from ..attribute_reads import Reads
from .attribute_uses import is_asked, is_handed_on, is_in, is_of, is_walk, may_be_of, stores
from .placement import parameter_for


class Place(NamedTuple):
    """Where a module stands that was handed to another: `self.trunk` keeps it as `emb`."""

    argument: Expression
    holder: str
    cls: Class  # the holder's
    name: str


# What hands modules over whose arrays are their owner's, with the module that this is in, `self` or
# `self.trunk`, and the attribute of self that it is or is below.
Owners = dict[Expression, tuple[str, str]]


def tie(project: Project, modules: Modules) -> Owners:
    """Tie the modules that constructors hand to others."""
    owners, read = Owners(), Reads(project)
    for cls, init in modules.constructors():
        owners |= _Handed(project, modules, read, cls, init).tie()
    return owners


class _Handed:
    """What the constructor of one class hands to the modules that it builds."""

    def __init__(
        self, project: Project, modules: Modules, read: Reads, cls: Class, init: Function
    ) -> None:
        self.project, self.modules, self.read = project, modules, read
        self.cls, self.init, self.me = cls, init, init.receiver
        self.family = {cls, *project.family(cls)}
        self._stored: dict[Class, dict[str, list[Assign]]] = {}

    def tie(self) -> Owners:
        sources: dict[str, list[Place]] = {}
        for place in self._places():
            sources.setdefault(text(place.argument), []).append(place)
        owners = Owners()
        for source, places in sources.items():
            owner = self._owner(source, places[0])
            later = [p for p in places if (p.holder, p.name) != owner]
            if owner is None or not later or not self._are_met_here(places):
                continue
            for place in later:
                self._tie(place, owner)
            above = f"{self.me}.{owner[0]}" if owner[0] else self.me
            owners |= {p.argument: (above, owner[0] or owner[1]) for p in places}
            self.read.changed()
        return owners

    def _tie(self, place: Place, owner: tuple[str, str]) -> None:
        """All reads of the place become those of the owner, and its arrays the owner's."""
        holder, name = owner
        me = Name(self.me)
        above: Expression = Attribute(me, holder) if holder else me
        for node in self._reads(place):
            assert isinstance(node.object, Attribute)
            root = clone(node.object.object)
            made = Attribute(Attribute(root, holder) if holder else root, name)
            made.value = node.value
            node.replace(made)
        target = Read(Attribute(Name(self.me), place.holder), place.name, PARAM)
        target.object.value = Module(frozenset([place.cls]))
        source = Read(clone(above), name, PARAM)
        source.value = place.argument.value
        self.init.body.insert_after(self.init.body.body[-1], [Tie(target, source)])

    # --- where modules stand ----------------------------------------------------------------------

    def _places(self) -> Iterator[Place]:
        for declare in self.init.body.body:
            if not isinstance(declare, Declare) or declare.kind != SUBMODULE:
                continue
            new, cls = declare.expression, self._built(declare)
            if cls is None or not isinstance(new, New) or not self._is_once(declare.name, self.cls):
                continue
            maker = self.modules.find(cls, "__init__")
            for argument in new.arguments if maker is not None else ():
                assert maker is not None
                if isinstance(argument, Name) or is_own(argument, self.me):
                    if self._is_plain(argument):
                        kept = self._kept(cls, maker, parameter_for(new, argument, maker))
                        if kept is not None:
                            yield Place(argument, declare.name, cls, kept)

    def _built(self, declare: Declare) -> Class | None:
        """The one class of the user's that a module is made of."""
        value = declare.expression.value if declare.expression is not None else None
        if not isinstance(value, Module) or value.open or len(value.classes) != 1:
            return None
        cls = self.modules.classes_of(value.refs)[:1]
        return cls[0] if cls and not self.modules.is_library(cls[0]) else None

    def _is_plain(self, argument: Expression) -> bool:
        """Whether it is a module with params that nothing changes while the model runs."""
        value = argument.value
        if not isinstance(value, Module) or value.open or value.none or value.is_self:
            return False
        classes = self.modules.classes_of(value.refs)
        return bool(classes) and not any(self._changes(cls, set()) for cls in classes)

    def _changes(self, cls: Class, seen: set[Class]) -> bool:
        """Whether a class, or one of a module below, writes its arrays, or is not known."""
        if cls in seen:
            return False
        seen.add(cls)
        for one in self.modules.lineage(cls):
            for method in self.modules.home(one).methods(one).values():
                nodes = method.nodes(*WRITING) if method.name != "__init__" else ()
                if any(next(arrays_written(node), None) is not None for node in nodes):
                    return True
        for field in self.modules.children(cls).values():
            for made in field.values:
                held = made.value
                if isinstance(held, Module) and not held.open and held.element is None:
                    below = self.modules.classes_of(held.refs)
                    if not below or any(self._changes(one, seen) for one in below):
                        return True
                else:
                    return True
        return False

    def _kept(self, cls: Class, maker: Function, parameter: str) -> str | None:
        """The attribute under which a class keeps what it is given, and that alone."""
        if parameter in rebound(maker) or maker.owner is None:
            return None
        named = [n for n in everywhere(maker, Name) if n.id == parameter and not is_asked(n)]
        around = named[0].parent if len(named) == 1 else None
        if isinstance(around, Call) and (above := self._above(around, maker.owner)) is not None:
            return self._kept(cls, above, parameter_for(around, named[0], above))
        if not isinstance(around, Declare) or around.kind != SUBMODULE:
            return None
        once = around.parent is maker.body and self._is_once(around.name, maker.owner)
        return around.name if once and not self._builds_on(cls, around.name) else None

    def _above(self, call: Call, cls: Class) -> Function | None:
        """The constructor that `super().__init__(emb)` runs."""
        if not isinstance(call.function, Attribute) or call.function.name != "__init__":
            return None
        makers = (self.modules.constructor(c) for c in self.modules.lineage(cls)[1:])
        return next((maker for maker in makers if maker is not None), None)

    def _builds_on(self, cls: Class, name: str) -> bool:
        """Whether what builds a class may give the arrays of what it keeps other values."""
        for method in self._building(cls):
            if method.nodes(Walk, Tie) or any(map(is_walk, method.nodes(Call))):
                return True
            own = (n for n in method.nodes(Attribute) if is_own(n, method.receiver))
            kept = [n for n in own if n.name == name and not is_target(n)]
            if not all(map(is_asked, kept)):
                return True
        return False

    def _building(self, cls: Class) -> set[Function]:
        """The constructors of a class and of those above it, with the methods that they name."""
        lineage = self.modules.lineage(cls)
        methods = [m for c in lineage for m in self.modules.home(c).methods(c).values()]
        found = {m for m in methods if m.name == "__init__"}
        while True:
            reads = (n for m in found for n in m.nodes(Attribute) if is_own(n, m.receiver))
            named = {n.name for n in reads}
            more = {m for m in methods if m.name in named} - found
            if not more:
                return found
            found |= more

    # --- their owner ------------------------------------------------------------------------------

    def _owner(self, source: str, first: Place) -> tuple[str, str] | None:
        """The holder and the name of the first place of a module; the holder is nothing for self.
        None where it is not made here, or has several."""
        argument = first.argument
        if isinstance(argument, Attribute):
            stores = self._stores(argument.name, self.cls)
            made = len(stores) == 1 and stores[0].parent is self.init.body
            new = made and isinstance(stores[0].expression, New)
            return ("", argument.name) if new else None
        made_once = source in bound_once(self.init) - {p.name for p in self.init.parameters}
        if not made_once:
            return None
        named = (n.parent for n in everywhere(self.init, Name) if n.id == source)
        own = [d for d in named if isinstance(d, Declare) and d.kind == SUBMODULE]
        if any(d.parent is not self.init.body or not self._is_once(d.name, self.cls) for d in own):
            return None
        return ("", own[0].name) if len(own) == 1 else (first.holder, first.name)

    def _stores(self, name: str, cls: Class) -> list[Assign]:
        """The statements that give an attribute, of a class and those above and below it."""
        if cls not in self._stored:
            self._stored[cls] = stores(self.project, {cls, *self.project.family(cls)})
        return self._stored[cls].get(name, [])

    def _is_once(self, name: str, cls: Class) -> bool:
        return len(self._stores(name, cls)) == 1

    # --- who reads them ---------------------------------------------------------------------------

    def _reads(self, place: Place) -> list[Attribute]:
        """Where methods of this class read what another module keeps: `self.trunk.emb`."""
        return [n for n in self.read.of(place.name) if is_of(n.object, place.holder, self.family)]

    def _are_met_here(self, places: list[Place]) -> bool:
        """Whether only this class, and what holds a module, read it by these names, and nothing
        goes over the arrays of what holds it, nor is given that."""
        own = [n for place in places for n in self._reads(place)]
        inside = set(self.init.body.walk())
        for place in places:
            holding = {place.cls, *self.project.family(place.cls)}
            for node in self.read.of(place.name):
                if node in own and (node in inside or not isinstance(node.value, Module)):
                    return False
                if node not in own and may_be_of(node, holding):
                    return False
            for node in self.read.of(place.holder):
                here = is_in(node, self.family) and not is_target(node)
                if may_be_of(node, self.family) or here and is_handed_on(node):
                    return False  # what runs it elsewhere has not the owner
        return True
