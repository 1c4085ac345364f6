"""What is known of a function's memory at one point of it."""

from typing import Any, Self, TypeVar

from ...model.expressions import Call, Lambda, Name, Subscript
from ...model.names import below
from ...model.node import Expression, Node
from ...model.program import File, Function
from ..calls import Calls, Target
from ..stages import Stages
from ..values.computed_names import HOLE, pattern
from ..values.lattice import External, Static
from .access_paths import Paths, of
from .implied_tests import Presence
from .indices import disjoint
from .inplace_names import Spellings
from .locations import Env, Passed, Place, Places, Result, Summary, closed

E = TypeVar("E", bound=Expression)
COMPUTED = "self.getattr"  # what holds the attributes of self with computed names


class Program:
    """What all functions share: their summaries, as far as they are known."""

    def __init__(self, calls: Calls, spellings: Spellings, stages: Stages | None = None) -> None:
        self.calls, self.spellings, self._stages = calls, spellings, stages
        self.project, self.values = calls.project, calls.values
        self.passed: dict[Function | Lambda, Passed] = {}
        self.samples: dict[Function | Lambda, dict[str, Expression]] = {}
        self.summaries: dict[Function | Lambda, Summary] = {}
        self.presence = Presence(self.project)

    def is_built(self, scope: Function | File | Lambda) -> bool:
        """Whether code runs while a model is built, and no forward pass runs it."""
        known = self._stages is not None and not isinstance(scope, Lambda)
        return known and self._stages.in_constructor(scope)  # type: ignore[union-attr, arg-type]


class State:
    """An environment of places, moved along by statements (`flow.py`); and questions about it."""

    def __init__(self, program: Program, scope: Function | File | Lambda) -> None:
        self.program, self.scope = program, scope
        self.project, self.views = program.project, program.spellings.views
        method = self.project.method(scope) if isinstance(scope, Function) else None
        own = self.project.self_name(method) if method is not None else None
        self.owner = self.project.owner(method) if method is not None else None
        self.paths = Paths(self.project, own)
        self.env: Env = {}
        self.before: dict[Node, Env] = {}
        self.originals: dict[tuple[type, int, int], Expression] = {}
        self.returned: list[Result] | None = None  # collects what is given out
        self.stored: dict[str, Places] = {}  # what has been put into what a parameter holds
        self.replaced: Env = {}  # what calls in this statement gave other memory, as it was
        parameters = [] if isinstance(scope, File) else scope.parameters
        self.starred = {p.name for p in parameters if p.kind in ("*", "**")}
        for parameter in parameters:
            if parameter.name != own:
                self.env[parameter.name] = frozenset([Place(parameter=parameter.name)])

    @property
    def self_name(self) -> str | None:
        return self.paths.self_name

    def copy(self, env: Env) -> Self:
        """The same function at another point."""
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__)
        made.env, made.replaced = dict(env), {}
        return made

    # --- paths -----------------------------------------------------------------------------------

    def name(self, node: Any) -> str | None:
        return self.paths.name(node)

    def path(self, node: Any) -> str | None:
        return self.paths.path(node)

    def places(self, path: str) -> Places:
        if path not in self.env:
            self.env[path] = frozenset([Place(free=path)])
        return self.env[path]

    def is_computed(self, node: Any) -> bool:
        """`getattr(self, f"u{i}")` of an array."""
        if not isinstance(node, Call) or len(node.arguments) != 2:
            return False
        asked = of(node.function) == External("builtins.getattr")
        if not asked or not self.paths.is_self(node.arguments[0]):
            return False
        return HOLE in pattern(node.arguments[1])

    # --- questions -------------------------------------------------------------------------------

    def only(self, path: str) -> Place | None:
        places = self.places(path)
        return next(iter(places)) if len(places) == 1 else None

    def unchanged(self, place: Place) -> bool:
        """Whether the other names in a view's expression still mean what they did."""
        return all(self.places(name) == before for name, before in place.others)

    def apart(self, one: str, other: str) -> bool:
        """Whether two names are different parts of one tensor: of `z.chunk(…)`, or `z[:, 0]` and
        `z[:, 1:]`."""
        a, b = self.only(one), self.only(other)
        if a is None or b is None or a is b:
            return False
        if a.part is not None and b.part is not None and a.part[0] is b.part[0]:
            return a.part[1] != b.part[1]
        if not isinstance(a.view, Subscript) or not isinstance(b.view, Subscript):
            return False
        named = a.base == self.path(a.view.object) and b.base == self.path(b.view.object)
        same = named and a.base == b.base and a.others == b.others
        made = a.view.object.origin  # of `z.chunk(2)`, of which each part has a copy
        same = same or made is not None and made == b.view.object.origin and a.others == b.others
        return same and a.parents == b.parents and disjoint(a.view.index, b.view.index)

    def sharing(self, path: str, live: frozenset[str]) -> list[str]:
        """The paths among these that may share memory with this one."""
        mine = closed(self.places(path))
        others = sorted(o for o in live if o != path and o in self.env)
        return [o for o in others if any(p.closure() & mine for p in self.env[o])]

    def key_in(self, node: Any, holder: str) -> str | None:
        """The key of an entry of what goes by a path, where it is written out: `d["h"]`"""
        if not isinstance(node, Subscript) or self.path(node.object) != holder:
            return None
        index = of(node.index)
        named = isinstance(index, Static) and isinstance(index.const, str)
        return index.const if named else None  # type: ignore[attr-defined]

    def holds_apart(self, path: str, key: str | None, other: str) -> bool:
        """Whether what a dict has under a key is for certain no memory of another name."""
        mine = {p for place in self.places(path) for p in place.under(key)}
        return key is not None and not any(p.closure() & mine for p in self.places(other))

    def is_foreign(self, path: str) -> bool:
        """Whether a name may be what an unknown function has given: others may hold it."""
        return any(p.foreign for p in closed(self.places(path)))

    def is_unheld(self, path: str) -> bool:
        """Whether a name may be what a dict without a name holds: a write of it must reach that,
        and cannot."""
        return any(p.unheld for p in closed(self.places(path)))

    def repeats(self, path: str) -> bool:
        """Whether what a name stands for may hold one tensor in two places."""
        return any(p.repeated for p in closed(self.places(path)))

    def parameters(self, path: str) -> set[str]:
        """Parameters that a write to this name reaches; not those of `*args`, a tuple that is the
        function's own."""
        found = closed(self.places(path))
        return {p.parameter for p in found if p.parameter is not None} - self.starred

    def outer(self, path: str) -> set[str]:
        """Paths around the function, or on self, that a write to this one reaches."""
        return {p.free for p in closed(self.places(path)) if p.free is not None}

    # --- calls -----------------------------------------------------------------------------------

    def targets(self, function: Expression) -> list[Target]:
        found = self.original(function)
        if found is function and not _is_placed(found):
            return []  # of a statement that is still being made: what it runs is not known
        return self.program.calls.meant(found)

    def original(self, node: E) -> E:
        """Of a copy that stands nowhere, the node of the program: by its place in the text."""
        if _is_placed(node):
            return node
        if not self.originals:
            for one in self.scope.walk():
                if one.start >= 0 and isinstance(one, Expression):
                    self.originals.setdefault((type(one), one.start, one.end), one)
        found = self.originals.get((type(node), node.start, node.end), node)
        return found  # type: ignore[return-value]


def _is_placed(node: Node) -> bool:
    """Whether a node stands in a file."""
    while node.parent is not None:
        node = node.parent
    return isinstance(node, File)


def read_names(node: Expression) -> set[str]:
    """The names in an expression."""
    return {n.id for n in below(node, Name)}
