"""Containers of modules that have their places elsewhere: what calls these calls them there.

self.first = nn.Sequential(self.encoder.conv, nn.ReLU())
self.first(x)

self.first = nn.Sequential(nn.Identity(), nn.ReLU())
self.first[1](self.encoder.conv(x))

A name of the constructor's stands for where it was put first: `conv` for `self.a[0]` in
`self.a, self.b = nn.Sequential(conv), nn.Sequential(conv, bn)`.
"""

from collections.abc import Iterator

from ...facts.bindings.activity import bound
from ...facts.modules import SUBMODULE, Modules
from ...facts.values.lattice import UNKNOWN, Module
from ...model.copy import clone
from ...model.effects import Apply, Declare, New, Support
from ...model.expressions import Attribute, Call, Constant, Display, Name, Starred, Subscript
from ...model.names import bound_once, everywhere, root, text
from ...model.node import Expression, Node
from ...model.operators import Binary
from ...model.program import Class, Function
from ...model.project import Project
from ...model.statements import Assign, For
from ..attribute_reads import Reads
from .list_growth import added, grown, is_first, is_plain
from .submodule_paths import from_root, holds_modules, is_path, replaces, steps


def spell_out(project: Project, modules: Modules) -> None:
    """Let no container of a project hold what stands elsewhere, where all that asks for it calls
    it, or one of its parts."""
    read = Reads(project)
    for cls, init in modules.constructors():
        _Containers(project, modules, cls, init, read).write()


class _Containers:
    """Those that the constructor of one class sets on `self`."""

    def __init__(
        self, project: Project, modules: Modules, cls: Class, init: Function, read: Reads
    ) -> None:
        self.project, self.init, self.read = project, init, read
        self.me = init.receiver
        self.family = {cls, *project.family(cls)}
        self.places: dict[str, Expression] = {self.me: Name(self.me)}
        once, rebound = bound_once(init), bound(init.body)
        here = [a for a in init.body.body if isinstance(a, Assign)]
        self._once = {n for a in here for n in bound(a) if n in once}
        self._once.update(p.name for p in init.parameters if p.name not in rebound)
        self._made = {text(a.targets[0]): a.expression for a in here if len(a.targets) == 1}

    def write(self) -> None:
        for declare in [d for d in self.init.body.body if isinstance(d, Declare)]:
            made = declare.expression
            if declare.kind != SUBMODULE or made is None:
                continue
            others = {} if isinstance(made, Name) else dict(self._others(made))
            if others and isinstance(made, New):
                self._spell_out(declare, made, others)
            self._put(made, declare.targets[0])

    def _put(self, made: Expression, path: Expression) -> None:
        """Note where the names of the constructor's stand that a submodule is made of."""
        if isinstance(made, Name) and made.id in self._once and made.id not in self.places:
            self.places[made.id] = path
            behind = self._made.get(made.id)
            if behind is not None:
                self._put(behind, path)
        elif isinstance(made, New):
            for i, part in enumerate(self._written_out(made)):
                below = Subscript(clone(path), Constant(i))
                below.value = part.value
                self._put(part, below)

    def _others(self, made: Expression) -> Iterator[tuple[int, Expression]]:
        """The parts of a container that stand elsewhere, with their paths there."""
        parts = self._written_out(made) if isinstance(made, New) else []
        for i, part in enumerate(parts):
            first = root(part)
            name = first.id if first is not None else ""
            if name not in self.places or not isinstance(part.value, Module) or part.value.open:
                continue
            if isinstance(part, Name) and name != self.me:
                found = clone(self.places[name])
            elif is_path(part, name):
                found = from_root(part, self.places[name])
            else:
                continue
            found.value = part.value
            yield i, found

    def _spell_out(self, declare: Declare, made: New, others: dict[int, Expression]) -> None:
        listing = getattr(made.function, "name", "") in ("Sequential", "ModuleList")
        held = listing and made.value
        if not isinstance(held, Module) or held.items is None:
            return
        above = {text(step) for path in others.values() for step in steps(path)}
        above.add(text(declare.targets[0]))
        body = self.init.body.body
        if any(
            text(declare.targets[0]) in map(text, d.targets)
            for d in body[: body.index(declare)]
            if isinstance(d, Declare)
        ):
            return
        later = [n for s in body[body.index(declare) + 1 :] for n in s.walk()]
        later += [n for m in self._others_methods() for n in m.body.walk()]
        reads = [n for n in self._reads(declare) if n not in declare.targets]
        if any(replaces(n, above) for n in later) or not all(map(_may_be_spelled, reads)):
            return
        for node in reads:
            self._read(node, held, others)
        if len(others) == len(held.items):
            self.init.body.remove(declare)
        for i, part in enumerate(self._written_out(made)):
            if i in others:
                part.replace(New(Support("Identity"), [], draws=False))
        self.read.changed()

    def _written_out(self, made: New) -> list[Expression]:
        """The parts of a container that are written out: of `nn.Sequential(a, b)`, of
        `nn.Sequential(*[a, b])`."""
        if not holds_modules(made) or any(made.keywords):
            return []
        parts = list(made.arguments)
        if len(parts) == 1:
            only = parts[0]
            listed = self._elements(only.expression if isinstance(only, Starred) else only)
            parts = parts if listed is None else listed
        return [] if any(isinstance(p, Starred) for p in parts) else parts

    def _elements(self, listed: Expression) -> list[Expression] | None:
        """What a list holds: `[a, b]`, `[a] + [b]`, and one of this use alone that is filled by
        `layers.append(b)`."""
        if isinstance(listed, Display):
            return listed.elements
        if isinstance(listed, Binary) and listed.operator == "+":
            left, right = self._elements(listed.left), self._elements(listed.right)
            return None if left is None or right is None else left + right
        begun = self._made.get(listed.id) if isinstance(listed, Name) else None
        if not isinstance(begun, Display) or not isinstance(listed, Name):
            return None
        more, body = list(grown(self.init, listed.id)), self.init.body
        named = [n for n in everywhere(self.init, Name) if n.id == listed.id]
        plain = all(s.parent is body and is_plain(s) and not is_first(s) for s in more)
        alone = listed.id in self._once and len(named) == len(more) + 2
        return [e for s in (begun.parent, *more) for e in added(s)] if plain and alone else None  # type: ignore[arg-type]

    def _others_methods(self) -> Iterator[Function]:
        for cls in self.family:
            yield from (m for m in self.project.methods(cls).values() if m is not self.init)

    def _reads(self, declare: Declare) -> list[Attribute]:
        """Where what has this name may be read."""

        def may_be(value: object) -> bool:
            known = isinstance(value, Module) and not value.open
            if value in (None, UNKNOWN) or isinstance(value, Module) and value.open:
                return True
            return known and not self.family.isdisjoint(value.classes)  # type: ignore[attr-defined]

        return [n for n in self.read.of(declare.name) if may_be(n.object.value)]

    def _read(self, node: Attribute, held: Module, others: dict[int, Expression]) -> None:
        """Let what is asked of the container be asked of its parts."""
        around = node.parent
        if isinstance(around, For):
            node.replace(Display("tuple", self._parts(node, held, others)))
            return
        if isinstance(around, Subscript):
            index = around.index.constant % len(held.items or ())  # type: ignore[attr-defined]
            if index in others:
                around.replace(from_root(others[index], node.object))
            return
        assert isinstance(around, Call)
        written = around.arguments[0]
        for part in self._parts(node, held, others):
            called = Apply(part, [clone(written) if written.parent is not None else written])
            called.value = around.value
            written = called
        around.replace(written)

    def _parts(
        self, node: Attribute, held: Module, others: dict[int, Expression]
    ) -> Iterator[Expression]:
        """What a container holds, where each of it stands."""
        for i, (_, item) in enumerate(held.items or ()):
            own = Subscript(clone(node), Constant(i))
            own.value = item
            yield from_root(others[i], node.object) if i in others else own


def _may_be_spelled(node: Attribute) -> bool:
    """Whether a read of a container is its call with one argument, or asks for one part, or for
    one after the other."""
    around: Node | None = node.parent
    if around.__class__ is For:
        return isinstance(around, For) and around.iterable is node
    if isinstance(around, Subscript) and around.object is node:
        return isinstance(around.index, Constant) and isinstance(around.index.constant, int)
    if not isinstance(around, Apply) or around.function is not node:
        return False
    plain = len(around.arguments) == 1 and not any(around.keywords)
    return plain and not isinstance(around.arguments[0], Starred)
