"""Which classes stand inside of modules that a walk goes over, and gives first values.

class Filled: self.fc = Linear(3, 4); zeros_(self.fc.bias)
class M:      self.a = Filled(); self.apply(init)               `init` comes after what Filled gave
"""

from collections.abc import Iterator

from ...facts.modules import SUBMODULE
from ...facts.values.lattice import Module
from ...model.constants import is_none
from ...model.effects import Apply, Walk, Write
from ...model.expressions import Attribute, Call
from ...model.names import root
from ...model.node import Expression, Node
from ...model.program import Class, Function
from ..threading.module_changes import is_applied
from ..threading.signatures import Signatures


class Walked:
    """The classes below those that are walked over."""

    def __init__(self, signatures: Signatures) -> None:
        self.signatures, self.modules = signatures, signatures.modules
        self._all = False  # something is walked over whose class is not known
        self._inside: set[Class] = set()
        self._called: set[Function] = set()  # methods that something else calls of a module
        for function in (f for f in signatures.functions if f in signatures.building):
            for node in function.nodes(Walk, Apply, Call):
                if (walked := self._over(node)) is not None and self._gives(node):
                    self._below(walked.value, function.owner)
                if isinstance(node, Call) and isinstance(node.function, Attribute):
                    if not _is_held(node.function.object, function):
                        self._called.update(signatures.targets(node) or ())

    def is_inside(self, cls: Class | None) -> bool:
        """Whether a module of a class may be part of one that is walked over."""
        if cls is None or self.modules.is_library(cls):
            return False
        return self._all or cls in self._inside

    def is_called(self, method: Function) -> bool:
        """Whether a function that builds calls a method of a module that it does not hold."""
        return method in self._called

    def is_before_walk(self, method: Function) -> bool:
        """Whether a walk comes after a call of a method, in what calls it."""
        for function in self.signatures.functions:
            called = False
            for statement in function.body.body if function in self.signatures.building else ():
                nodes = list(statement.walk())
                if called and any(self._over(n) is not None and self._gives(n) for n in nodes):
                    return True
                calls = (n for n in nodes if isinstance(n, Call))
                called = called or any(method in (self.signatures.targets(c) or ()) for c in calls)
        return False

    def _over(self, node: Node) -> Expression | None:
        call = node.iterable if isinstance(node, Walk) else node
        if not isinstance(call, Call) or not isinstance(call.function, Attribute):
            return None
        return call.function.object if isinstance(node, Walk) or is_applied(call) else None

    def _gives(self, node: Node) -> bool:
        """Whether a walk gives first values."""
        for inner in node.walk():
            if isinstance(inner, Write):
                return True
            called = self.signatures.targets(inner) if isinstance(inner, Call) else None
            if any(target.nodes(Write) for target in called or ()):
                return True
        return False

    def _below(self, value: object, owner: Class | None) -> None:
        todo = list(_classes(value))
        if isinstance(value, Module) and value.is_self and owner is not None:
            todo = [owner]
        if not todo:
            self._all = True
        seen: set[Class] = set()
        while todo:
            ref = todo.pop()
            cls = self.modules.class_of(ref) if ref is not None else None
            if ref is None:
                self._all = True
            if cls is None or cls in seen:
                continue
            seen.add(cls)
            family = {*self.modules.lineage(cls), *self.modules.home(cls).descendants(cls)}
            for one in family:
                for held in self._held(one):
                    todo.append(held)
                    known = self.modules.class_of(held) if held is not None else None
                    self._inside |= set(self.modules.lineage(known)) if known is not None else set()

    def _held(self, cls: Class) -> Iterator[Class | str | None]:
        """The classes of the submodules of a class; None for one that is not known."""
        if self.modules.is_library(cls):
            return
        for field in self.modules.fields(cls).values():
            for value in field.values if field.kind == SUBMODULE else ():
                if not is_none(value):
                    yield from _classes(value.value)


def _is_held(module: Expression, function: Function) -> bool:
    """Whether it is `self`, or a module below: `self.head` of `self.head.begin()`; or `super()`."""
    name = root(module)
    own = function.receiver if function.owner is not None else None
    return isinstance(module, Call) or name is not None and name.id == own


def _classes(value: object) -> Iterator[Class | str | None]:
    if not isinstance(value, Module) or value.open:
        yield None
        return
    yield from value.refs
    for _, item in value.items or ():
        yield from _classes(item)
    if value.element is not None and not value.items:
        yield from _classes(value.element)


def fills_others(function: Function, self_name: str | None) -> bool:
    """Whether a method gives values to arrays of other modules."""
    for write in function.nodes(Write):
        held = getattr(write.target, "object", None)
        if getattr(held, "id", None) != self_name:
            return True
    return False
