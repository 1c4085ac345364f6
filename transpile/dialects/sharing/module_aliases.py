"""A submodule under two names has one set of arrays, those of its first name.

self.shared = self.blocks[0]              @property
self.shared(x)                       →    def shared(self):
                                              return self.blocks[0]
                                          self.blocks[0](x)

What a container holds as well has its place there, and its first name where others read it:

self.bn = nn.BatchNorm1d(6)               bn = nn.BatchNorm1d(6)
self.net = nn.Sequential(self.bn)    →    self.net = nn.Sequential(bn)
self.bn.weight                            self.net[0].weight
"""

from collections.abc import Iterator

from ...facts.bindings.activity import bound
from ...facts.modules import SUBMODULE, Modules
from ...facts.values.lattice import UNKNOWN, Mapping, Module, Sequence
from ...model.copy import clone
from ...model.effects import Declare, New
from ...model.empty_branches import without_empty_branches
from ...model.expressions import Attribute, Call, Constant, Name, Subscript
from ...model.fresh_names import taken
from ...model.guards import guards
from ...model.names import bound_once, dotted, everywhere, is_own, rebound, text
from ...model.node import Expression, Node, Statement
from ...model.program import Class, Function
from ...model.project import Project
from ...model.statements import Assign, Block
from ..attribute_reads import Reads
from ..fresh_names import fresh
from ..threading.properties import add_property
from . import list_growth
from .attribute_uses import stores
from .submodule_paths import from_root, is_path, is_put, replaces, steps, written_out

_WALKS = frozenset("children named_children modules named_modules named_parameters".split())


def spell_out(project: Project, modules: Modules, alone: bool = False) -> None:
    """Give each submodule of a project one name; `alone`: of two names in one module too, where
    each would have arrays of its own."""
    read = Reads(project)
    for cls, init in modules.constructors():
        _Names(project, cls, init, read, alone).write()


class _Names:
    """The names that the constructor of one class gives to submodules."""

    def __init__(
        self, project: Project, cls: Class, init: Function, read: Reads, alone: bool
    ) -> None:
        self.project, self.cls, self.init, self.read = project, cls, init, read
        self.alone = alone
        self.me = init.receiver
        self.family = {cls, *project.family(cls)}
        self._stored: dict[str, list[Assign]] | None = None
        self._nodes: set[Node] | None = None

    def write(self) -> None:
        self._say_which()
        for declare in self.init.nodes(Declare):
            if declare.kind == SUBMODULE and self._is_for_certain(declare):
                if self._is_second(declare):
                    self._property(declare)
        names = dict.fromkeys(d.name for d in self.init.nodes(Declare) if d.kind == SUBMODULE)
        for name in names:
            if self._is_for_others(name):
                self._make_local(name)
            elif (held := self._held(name)) is not None:
                self._place(name, *held)

    def _say_which(self) -> None:
        """`self.a = layer` and `self.b = layer`: the other one is `self.a`."""
        firsts = dict[str, str]()
        for declare in self.init.nodes(Declare):
            made = declare.expression
            if declare.kind != SUBMODULE or made is None or not self._is_for_certain(declare):
                continue
            if declare.parent is not self.init.body and getattr(made, "id", None) not in firsts:
                continue  # a name that it has on some ways is none of all
            if not isinstance(made.value, Module) or len(self._stores(declare.name)) != 1:
                continue
            if isinstance(made, Name) and self._is_settled(made.id, declare):
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

    def _is_settled(self, name: str, declare: Declare) -> bool:
        """Whether a name is the same module from where it is kept on."""
        given = {p.name for p in self.init.parameters}
        once = (bound_once(self.init) | given) - rebound(self.init)
        return name in once or not any(name in bound(s) for s in self._from(declare))

    def _from(self, declare: Declare) -> list[Statement]:
        """The statements of the constructor from the one on that has a declaration."""
        body = self.init.body.body
        top = next(n for n in (declare, *declare.ancestors()) if n.parent is self.init.body)
        return body[body.index(top) :]  # type: ignore[arg-type]

    def _is_for_certain(self, declare: Declare) -> bool:
        """Whether a name is always given, or may be without anybody seeing it: nothing asks whether
        there is one, as `hasattr` does."""
        if declare.parent is self.init.body:
            return True
        asking = (n for f in self.project.ordered for n in everywhere(f, Call) if n.arguments[1:])
        asked = (n for n in asking if dotted(n.function) in ("hasattr", "getattr", "delattr"))
        return self.alone and not any(
            getattr(n.arguments[1], "constant", None) in (None, declare.name) for n in asked
        )

    def _is_second(self, declare: Declare) -> bool:
        """Whether a name is given to what stands somewhere below `self`, for good."""
        path = declare.expression
        if path is None or not isinstance(path.value, Module) or not is_path(path, self.me):
            return False
        if not self.alone and isinstance(path, Attribute) and isinstance(path.object, Name):
            return False  # `self.b = self.a`: two names in one module
        if len(self._stores(declare.name)) != 1 or any(map(self._is_first_in_list, steps(path))):
            return False
        above = {text(n) for n in steps(path)}
        return not any(replaces(node, above) for node in self._after(declare))

    def _is_first_in_list(self, step: Expression) -> bool:
        """Whether a plain list or dict has what is made for it, and registered by other names."""
        if not isinstance(step.value, (Mapping, Sequence)) or (path := dotted(step)) is None:
            return False
        stores = [a for a in self.init.nodes(Assign) if path in map(dotted, a.targets)]
        parts = [*stores, *list_growth.grown(self.init, path)]
        return any(isinstance(v, New) for part in parts for v in list_growth.leaves(part))

    def _after(self, statement: Declare) -> Iterator[Node]:
        """What runs later: what stands behind it, and the other methods."""
        for other in self._from(statement)[1:]:
            yield from other.walk()
        for cls in self.family:
            for method in self.project.methods(cls).values():
                if method is not self.init:
                    yield from method.body.walk()

    def _stores(self, name: str) -> list[Assign]:
        """The statements of a family that give an attribute."""
        if self._stored is None:
            self._stored = stores(self.project, self.family)
        return self._stored.get(name, [])

    def _changed(self) -> None:
        """What was found is no more what there is."""
        self.read.changed()
        self._stored = self._nodes = None

    def _property(self, declare: Declare) -> None:
        path = declare.expression
        assert path is not None
        for read in [n for n in self._reads(declare.name) if n not in declare.targets]:
            read.replace(from_root(path, read.object))
        add_property(self.cls, self.init, declare, declare.name, path)
        without_empty_branches(self.init.body)
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
        if not self._is_made_here(name):
            return False
        for node in (n for n in self.read.of(name) if n not in self._inside()):
            if self._is_own(node.object) or node.object.value in (None, UNKNOWN):
                return False
        put = [n for n in self._own_reads(name) if is_put(n, self.me)]
        if not put or self._are_asked():
            return False
        return self._is_at_top(name) or any(self._is_put_where_made(n, name) for n in put)

    def _is_made_here(self, name: str) -> bool:
        """Whether all that has a name is made by the constructor: what is given has its place
        elsewhere too."""
        stores = self._stores(name)
        made = all(isinstance(s, Declare) and isinstance(s.expression, New) for s in stores)
        return made and all(s in self._inside() for s in stores)

    def _is_at_top(self, name: str) -> bool:
        return self._stores(name)[0].parent is self.init.body

    def _is_put_where_made(self, put: Expression, name: str) -> bool:
        """Whether all that has a name, each in its branch, comes to where it is put: what is asked
        there has been asked for each of them."""
        asked = guards(put, self.init.body)
        found = {n.id for test in asked.values() for n in test.walk() if isinstance(n, Name)}
        given = {p.name for p in self.init.parameters} - rebound(self.init)
        return found <= given and all(
            asked.keys() <= guards(store, self.init.body).keys() for store in self._stores(name)
        )

    def _own_reads(self, name: str) -> list[Attribute]:
        """Where the constructor reads an attribute."""
        stored = {t for store in self._stores(name) for t in store.targets}
        here = (n for n in self.read.of(name) if n in self._inside() and n not in stored)
        return [n for n in here if is_own(n, self.me)]

    def _inside(self) -> set[Node]:
        self._nodes = self._nodes or set(self.init.body.walk())
        return self._nodes

    def _held(self, name: str) -> tuple[Declare, int] | None:
        """The container that holds what has a name, and at which place, where that is one for good,
        and what asks for the name is known."""
        if len(self._stores(name)) != 1 or not self._is_made_here(name):
            return None
        if not self._is_at_top(name):
            return None
        reads = self._own_reads(name)
        found = [(n, held) for n in reads if (held := written_out(n, self.init)) is not None]
        if len(found) != 1 or self._are_asked():
            return None
        put, (declare, place) = found[0]
        behind, path = set(self._after(declare)), {text(declare.targets[0])}
        if any(n is not put and n not in behind for n in reads):
            return None
        if len(self._stores(declare.name)) != 1 or any(replaces(n, path) for n in behind):
            return None
        outside = [n for n in self.read.of(name) if n not in self._inside()]
        return (declare, place) if all(self._is_own(n.object) for n in outside) else None

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

    def _place(self, name: str, container: Declare, place: int) -> None:
        """Let a name be one for what a container holds."""
        path = Subscript(clone(container.targets[0]), Constant(place))
        made, behind = self._stores(name)[0].expression, set(self._after(container))
        assert made is not None
        path.value = made.value
        for read in [n for n in self._reads(name) if n in behind or n not in self._inside()]:
            read.replace(from_root(path, read.object))
        self._make_local(name)
        add_property(self.cls, self.init, None, name, path)
        self._changed()

    def _make_local(self, name: str) -> None:
        local = fresh(name, taken(self.init))
        for declare in self.init.nodes(Declare):
            if declare.kind == SUBMODULE and declare.name == name:
                plain = Assign([Name(local)], declare.expression)
                block = declare.parent
                assert isinstance(block, Block)
                block.substitute(declare, [plain])
        for node in [n for n in self.init.body.walk() if type(n) is Attribute and n.name == name]:
            if is_own(node, self.me):
                made = Name(local)
                made.value = node.value
                node.replace(made)
        self._changed()
