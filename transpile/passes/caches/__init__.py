"""What a forward pass keeps for the next one, and could make anew, it makes: a cache is no state.

    if n != self.seq_len_cached:                       table = torch.arange(n).cos()
        self.seq_len_cached = n                   →    return x * table
        self.table = torch.arange(n).cos()
    return x * self.table

So for masks, position tables and grids, which depend on sizes, dtypes and devices alone: under jit
a compilation holds them as constants, and an attribute that turns up later is none of a pytree. In
the tests an attribute is as the constructor has left it, which decides most of them; where one is
built there (`if n > self.max_len: self.table = …`) it is a local name that begins with it.
What is guarded by an inequality is told: of a longer table the part that is used must be the same.

A method that does no more than to fill attributes is written where it is called; what train()
fills is made where it is read (`train_caches.py`).
"""

import functools
from collections.abc import Iterator
from typing import Any

from ...model.edits import leave_out
from ...model.expressions import Attribute, Call, Constant, Display
from ...model.fresh_names import Names
from ...model.names import dotted, everywhere, is_called, is_target
from ...model.node import Statement
from ...model.program import Class, Function
from ...model.project import Project
from ...model.statements import Assign, ExpressionStatement
from ..attribute_names import Attributes
from ..pass_ import Changes, Pass
from . import keyed_by_size, train_caches
from .cached_attributes import Kept
from .filling_methods import Fills
from .guards import ABSENT, UNKNOWN, literal
from .purity import Purity
from .size_dependence import keeps_first
from .stores import is_changed, written

_ASKING = frozenset(("register_buffer", "hasattr", "getattr", "setattr"))
# What shows a module shows it as it was built.
_SHOWING = frozenset(("__init__", "__repr__", "extra_repr"))
_TOLD = (
    "this is made anew for each size: of a table for more rows, the part that is used must be the "
    "same"
)
_FIRST = (
    "this is made anew for the sizes of each call, where torch keeps what the first call made: with"
    " other sizes later the two differ"
)


def run(project: Project, facts: Any = None) -> list[Changes]:
    """The methods of modules that keep what they could make anew."""
    names, found = Attributes(project), list[Changes]()
    for cls in project.classes():
        if project.is_module(cls) and any(any(written(m)) for m in _methods(project, cls)):
            found += _Caches(project, cls, names).run()
    return found


def _methods(project: Project, cls: Class) -> list[Function]:
    found = project.methods(cls).values()
    return [m for m in found if m.name not in _SHOWING and project.self_name(m)]


class _Caches:
    """Those of one class."""

    def __init__(self, project: Project, cls: Class, names: Attributes) -> None:
        self.project, self.cls, self.names = project, cls, names
        self.family = {*project.order(cls), *project.descendants(cls)}
        self.constructor = project.methods(cls).get("__init__")
        self.purity = Purity(project, cls, self._is_fixed)

    def run(self) -> Iterator[Changes]:
        """The changes of the methods, of the constructor, and of the class."""
        yield from train_caches.found(self)
        fills = {m: Fills(self, m) for m in _methods(self.project, self.cls)}
        found, left = self._found(fills, set()), set[str]()
        while gone := {n for _, kept in found for n in kept.touched - kept.names} - left:
            left |= gone  # some method has another use for these
            found = self._found(fills, left)
        yield from self._without([kept for _, kept in found if kept.names])
        filling = set[Function]()
        for called, kept in found:
            if not kept.names:
                yield from self._beside(kept.method)
                continue
            changes = Changes(kept.method)
            first = kept.is_given or keeps_first(kept.body, kept.guards, kept.me)
            if kept.is_told or first:
                why = _TOLD if kept.is_told else _FIRST
                changes.report("taken-for-granted", kept.guards[0].test, why)
            changes.change(kept.method, functools.partial(_write, kept=kept))
            yield changes
            filling |= called.methods - called.called(self.constructor)
        if filling:
            changes = Changes(self.cls)
            for method in filling:
                changes.change(method, leave_out)
            yield changes

    def _beside(self, method: Function) -> Iterator[Changes]:
        for guard, stores in keyed_by_size.found(self, method):
            for node in stores:
                changes = Changes(node.nearest(Function) or method)
                changes.change(node, leave_out)
                yield changes
            changes = Changes(method)
            changes.change(guard, keyed_by_size.unfold)
            yield changes

    def _found(self, fills: dict[Function, Fills], left: set[str]) -> list[tuple[Fills, Kept]]:
        """What each method keeps, but for the attributes that are left as they are."""
        filling = {f for one in fills.values() for f in one.methods}
        return [(f, Kept(self, m, f, left)) for m, f in fills.items() if m not in filling]

    def is_plain(self, method: Function) -> bool:
        """Whether methods of this class alone call one of it, which no other class has."""
        others = self.family - {self.cls}
        classes = [c for c in others if isinstance(c, Class)]
        again = any(method.name in self.project.methods(c) for c in classes)
        return not again and self.is_own(method.name)

    def _without(self, found: list[Kept]) -> Iterator[Changes]:
        """What nothing asks for any more: `self.mask = None` in the constructor."""
        if self.constructor is None or not all(kept.is_decided for kept in found):
            return
        changes = Changes(self.constructor)
        gone = {n for kept in found for n in kept.names if kept.built[n] is not UNKNOWN}
        sets: dict[Statement, set[str]] = {}
        for statement, name in written(self.constructor):
            sets.setdefault(statement, set()).add(name)
        for statement, names in sets.items():
            if names <= gone:
                changes.change(statement, leave_out)
        yield changes

    def is_own(self, name: str) -> bool:
        """Whether the methods of this class alone ask for an attribute, or say its name."""
        texts = [t for t in self.names.texts.get(name, ()) if _names_attribute(t)]
        for node in (*self.names.attributes.get(name, ()), *texts):
            function = node.nearest(Function)
            while function is not None and self.project.owner(function) is None:
                function = function.nearest(Function)
            if function is None:
                return False
            me, owner = self.project.self_name(function), self.project.owner(function)
            if isinstance(node, Attribute) and dotted(node.object) != me:
                if is_called(node):  # `freqs.cos()` calls no array that is kept as `self.cos`
                    continue
                return False
            if owner in self.family and owner is not self.cls:
                return False
        return True

    def _is_fixed(self, name: str) -> bool:
        """Whether constructors alone set an attribute, and to no param and no module."""
        for node in self.names.attributes.get(name, ()):
            if is_called(node):
                return False
            if not is_target(node) and is_changed(node, node.nearest(Function) or node):
                return False
            if is_target(node) and isinstance(node.parent, Assign):
                function = node.nearest(Function)
                value = node.parent.expression
                made = dotted(value.function) if isinstance(value, Call) else None
                param = made is not None and made.rpartition(".")[2] == "Parameter"
                if param or function is None or function.name != "__init__":
                    return False
        return True

    def built(self, name: str) -> Any:
        """What the constructor leaves under a name."""
        made = [s for s, n in written(self.constructor) if n == name] if self.constructor else []
        if self._fills(name):
            return UNKNOWN
        if len(made) == 1 and isinstance(made[0], Assign):
            return UNKNOWN if made[0].operator else _literal(made[0], name)
        if len(made) == 1 and isinstance(made[0], ExpressionStatement):
            return literal(made[0].expression.arguments[1])  # type: ignore[attr-defined]
        if made or name in self.project.assigned(self.cls):
            return UNKNOWN
        bases = [c for c in self.project.order(self.cls) if isinstance(c, Class)]
        return ABSENT if bases == [self.cls] else UNKNOWN

    def _fills(self, name: str) -> bool:
        """Whether the constructor calls a method that sets an attribute: `self._set(n)`."""
        calls = everywhere(self.constructor, Call) if self.constructor is not None else []
        called = {c.function.name for c in calls if isinstance(c.function, Attribute)}
        own = [m for m in _methods(self.project, self.cls) if m.name in called]
        return any(n == name for method in own for _, n in written(method))


def _literal(assign: Assign, name: str) -> Any:
    """What an attribute is set to: None of `self.cos, self.sin = None, None`."""
    target, value = assign.targets[0], assign.expression
    if isinstance(target, Display):
        names = [leaf.name if isinstance(leaf, Attribute) else "" for leaf in target.elements]
        if not isinstance(value, Display) or len(value.elements) != len(names):
            return UNKNOWN
        value = value.elements[names.index(name)]
    whole = isinstance(target, (Attribute, Display))
    return literal(value) if whole else UNKNOWN


def _names_attribute(node: Constant) -> bool:
    call = node.parent
    word = dotted(call.function) if isinstance(call, Call) else None
    return word is not None and word.rpartition(".")[2] in _ASKING


def _write(method: Function, kept: Kept) -> None:
    """Put local names in the place of attributes."""
    if kept.body is not method.body:
        method.body.replace(kept.body)
    kept.write(Names(method))


PASS = Pass("caches", (), run, of_project=True)
