"""A submodule under two names has one set of arrays, those of its first name.

self.shared = self.blocks[0]              @property
self.shared(x)                       →    def shared(self):
                                              return self.blocks[0]
                                          self.blocks[0](x)

Where nothing but the constructor reads the first of two names, it is the other way round:

self.bn = nn.BatchNorm1d(6)               bn = nn.BatchNorm1d(6)
self.net = nn.Sequential(self.bn)    →    self.net = nn.Sequential(bn)
"""

from __future__ import annotations

from collections.abc import Iterator

from ..facts.modules import SUBMODULE, Modules
from ..facts.values.lattice import UNKNOWN, Module
from ..model.copy import clone
from ..model.effects import Declare, New, Support
from ..model.expressions import (
    Attribute,
    Call,
    Constant,
    Display,
    Name,
    Slice,
    Starred,
    Subscript,
)
from ..model.names import bound_once, text
from ..model.node import Expression, Node
from ..model.operators import Unary
from ..model.program import Class, Function
from ..model.project import Project
from ..model.statements import Assign, Block
from .fresh import fresh, taken
from .placed import ADDING, CONTAINERS
from .threading.properties import add_property

_GROWING = ADDING | {"pop"}
_WALKS = frozenset("children named_children modules named_modules named_parameters".split())


def spell_out(project: Project, modules: Modules, alone: bool = False) -> None:
    """Give each submodule of a project one name; `alone`: of two names in one module too, where
    each would have arrays of its own."""
    read = Reads(project)
    for cls in [c for file in project.ordered for c in file.classes() if modules.is_module(c)]:
        init = modules.constructor(cls)
        if init is not None and init.parameters:
            _Names(project, cls, init, read, alone).write()


class Reads:
    """The attributes of a project by their names: looked up for each submodule of each class."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self._by_name: dict[str, list[Attribute]] | None = None

    def of(self, name: str) -> list[Attribute]:
        if self._by_name is None:
            self._by_name = {}
            for node in (n for file in self.project.ordered for n in file.walk()):
                if isinstance(node, Attribute):
                    self._by_name.setdefault(node.name, []).append(node)
        return self._by_name.get(name, [])

    def changed(self) -> None:
        """What was found is no more what there is."""
        self._by_name = None


class _Names:
    """The names that the constructor of one class gives to submodules."""

    def __init__(
        self, project: Project, cls: Class, init: Function, read: Reads, alone: bool
    ) -> None:
        self.project, self.cls, self.init, self.read = project, cls, init, read
        self.alone = alone
        self.me = init.parameters[0].name
        self.family = {cls, *project.family(cls)}
        self._stored: dict[str, list[Assign]] | None = None

    def write(self) -> None:
        self._say_which()
        for declare in self.init.nodes(Declare):
            if declare.kind == SUBMODULE and declare.parent is self.init.body:
                if self._is_second(declare):
                    self._property(declare)
        names = dict.fromkeys(d.name for d in self.init.nodes(Declare) if d.kind == SUBMODULE)
        for name in names:
            if self._is_for_others(name):
                self._make_local(name)

    def _say_which(self) -> None:
        """`self.a = layer` and `self.b = layer`: the other one is `self.a`."""
        once, firsts = bound_once(self.init), dict[str, str]()
        for declare in self.init.nodes(Declare):
            made = declare.expression
            if declare.kind != SUBMODULE or declare.parent is not self.init.body or made is None:
                continue
            if not isinstance(made.value, Module) or len(self._stores(declare.name)) != 1:
                continue
            if isinstance(made, Name) and made.id in once:
                first = firsts.setdefault(made.id, declare.name)
            elif isinstance(made, Attribute) and isinstance(made.object, Name):
                own = made.object.id == self.me
                first = firsts.get(f"{self.me}.{made.name}", made.name) if own else declare.name
            else:
                continue
            firsts[f"{self.me}.{declare.name}"] = first
            if first != declare.name:
                again = Attribute(clone(declare.targets[0].object), first)  # type: ignore[attr-defined]
                again.value = made.value
                made.replace(again)
                self._changed()

    # --- second names -----------------------------------------------------------------------------

    def _is_second(self, declare: Declare) -> bool:
        """Whether a name is given to what stands somewhere below `self`, for good."""
        path = declare.expression
        if path is None or not isinstance(path.value, Module) or not _is_path(path, self.me):
            return False
        if not self.alone and isinstance(path, Attribute) and isinstance(path.object, Name):
            return False  # `self.b = self.a`: two names in one module
        if len(self._stores(declare.name)) != 1:
            return False
        above = {text(n) for n in _steps(path)}
        return not any(replaces(node, above) for node in self._after(declare))

    def _after(self, statement: Declare) -> Iterator[Node]:
        """What runs later: what stands behind it, and the other methods."""
        body = self.init.body.body
        for other in body[body.index(statement) + 1 :]:
            yield from other.walk()
        for cls in self.family:
            for method in self.project.methods(cls).values():
                if method is not self.init:
                    yield from method.body.walk()

    def _stores(self, name: str) -> list[Assign]:
        """The statements of a family that give an attribute."""
        if self._stored is None:
            self._stored = {}
            for cls in self.family:
                for method in self.project.methods(cls).values():
                    me = method.parameters[0].name if method.parameters else ""
                    for node in (n for n in method.body.walk() if isinstance(n, Assign)):
                        for target in node.targets:
                            held = target.object if isinstance(target, Attribute) else None
                            if isinstance(held, Name) and held.id == me:
                                self._stored.setdefault(target.name, []).append(node)  # type: ignore[attr-defined]
        return self._stored.get(name, [])

    def _changed(self) -> None:
        """What was found is no more what there is."""
        self.read.changed()
        self._stored = None

    def _property(self, declare: Declare) -> None:
        path = declare.expression
        assert path is not None
        for read in [n for n in self._reads(declare.name) if n not in declare.targets]:
            read.replace(_from(path, read.object))
        add_property(self.cls, self.init, declare, declare.name, path)
        self._changed()

    def _reads(self, name: str) -> list[Attribute]:
        """Where an attribute of this class is read."""
        return [n for n in self.read.of(name) if type(n) is Attribute and self._is_own(n.object)]

    def _is_own(self, node: Expression) -> bool:
        value = node.value
        return isinstance(value, Module) and not self.family.isdisjoint(value.classes)

    # --- first names ------------------------------------------------------------------------------

    def _is_for_others(self, name: str) -> bool:
        """Whether what has a name is held by a container of this module, and asked for by that
        name in the constructor alone."""
        stores = self._stores(name)
        if not all(isinstance(s, Declare) and isinstance(s.expression, New) for s in stores):
            return False  # what is given has its place elsewhere too
        inside = set(self.init.body.walk())
        if any(s not in inside for s in stores):
            return False
        if len({type(s.parent) for s in stores}) != 1 or stores[0].parent is not self.init.body:
            return False
        for node in (n for n in self.read.of(name) if n not in inside):
            if self._is_own(node.object) or node.object.value in (None, UNKNOWN):
                return False
        reads = [n for n in self.init.body.walk() if isinstance(n, Attribute) and n.name == name]
        own = [n for n in reads if isinstance(n.object, Name) and n.object.id == self.me]
        return any(map(self._is_put, own)) and not self._are_asked()

    def _is_put(self, node: Expression) -> bool:
        """Whether an attribute is put into a container that this module keeps."""
        part: Expression = node
        while isinstance(around := part.parent, (Display, Starred, New)):
            if isinstance(around, New) and not _holds(around):
                return False
            part = around
        if part is node:
            return False
        if isinstance(around, Call) and isinstance(around.function, Attribute):
            return around.function.name in _GROWING and _is_path(around.function.object, self.me)
        return isinstance(around, Declare) and around.kind == SUBMODULE

    def _are_asked(self) -> bool:
        """Whether the names of this module's submodules may be asked for, or computed."""
        for cls in self.family:
            for method in self.project.methods(cls).values():
                for call in (n for n in method.body.walk() if isinstance(n, Call)):
                    function = call.function
                    if isinstance(function, Name) and function.id in ("getattr", "setattr", "vars"):
                        if len(call.arguments) < 2 or not isinstance(call.arguments[1], Constant):
                            if self._is_own(call.arguments[0]):
                                return True
                    elif isinstance(function, Attribute) and function.name in _WALKS:
                        if self._is_own(function.object):
                            return True
        return False

    def _make_local(self, name: str) -> None:
        local = fresh(name, taken(self.init))
        for declare in self.init.nodes(Declare):
            if declare.kind == SUBMODULE and declare.name == name:
                plain = Assign([Name(local)], declare.expression)
                block = declare.parent
                assert isinstance(block, Block)
                block.substitute(declare, [plain])
        for node in [n for n in self.init.body.walk() if type(n) is Attribute and n.name == name]:
            if isinstance(node.object, Name) and node.object.id == self.me:
                made = Name(local)
                made.value = node.value
                node.replace(made)
        self._changed()


def replaces(node: Node, above: set[str]) -> bool:
    """Whether a node puts something else on a path."""
    if isinstance(node, (Assign, Declare)):
        return any(text(target) in above for target in node.targets)
    if isinstance(node, Call) and isinstance(node.function, Attribute):
        return node.function.name in _GROWING and text(node.function.object) in above
    return False


def _holds(new: New) -> bool:
    """Whether it is a container of torch's."""
    function = new.function
    return isinstance(function, Support) and function.name in CONTAINERS


def _is_path(node: Expression, me: str) -> bool:
    """Whether it is `self.a.b[0]`, which is one thing whenever it is asked."""
    if isinstance(node, Name):
        return node.id == me
    if isinstance(node, Attribute):
        return _is_path(node.object, me)
    return isinstance(node, Subscript) and _is_fixed(node.index) and _is_path(node.object, me)


def _is_fixed(index: Expression) -> bool:
    if isinstance(index, Slice):
        return all(part is None or _is_fixed(part) for part in index.children())  # type: ignore[arg-type]
    return isinstance(index.operand if isinstance(index, Unary) else index, Constant)


def _steps(path: Expression) -> Iterator[Expression]:
    """`self.a`, `self.a.b`, `self.a.b[0]`"""
    while isinstance(path, (Attribute, Subscript)):
        yield path
        path = path.object


def _from(path: Expression, root: Expression) -> Expression:
    """A path from another root than `self`."""
    made = clone(path)
    own = next(n for n in made.walk() if isinstance(n, Name))
    own.replace(clone(root))
    return made
