"""Which tests a test decides, since the same conditions have made what both ask for.

    self.w = nn.Parameter(...) if kernel else None
    self.b = nn.Parameter(...) if kernel and bias else None

Where `self.b` is there, `self.w` is: below `if self.b is not None` the body of an earlier
`if self.w is not None` has run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Set
from typing import NamedTuple

from ...model.constants import is_none
from ...model.expressions import Attribute, Call, Constant, Lambda, Name
from ...model.names import below, bound_once, everywhere, names_assigned, rebound
from ...model.node import Expression, Node
from ...model.operators import Boolean, Compare, Conditional, Unary
from ...model.program import Class, File, Function
from ...model.project import Project
from ...model.statements import Assign, Delete
from ..values.lattice import Static, is_traced
from .access_paths import of

Facts = frozenset[str]  # `w`: this is not None; `?up`: this is true
_BY_NAME = frozenset({"setattr", "delattr", "register_parameter", "register_buffer"})


class Made(NamedTuple):
    """What `body if test else None` needs to be there, and whether that is enough."""

    needs: Facts
    enough: bool


class Presence:
    """What is there together, in all classes of a project: found on torch's program, before passes
    edit the constructors."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.changed = self._changed()
        self.fields = {cls: dict(self._made_in_constructor(cls)) for cls in project.classes()}

    def of_scope(self, scope: Function | File | Lambda) -> Together:
        """What the names and fields that a function reads say of each other."""
        if not isinstance(scope, Function) or scope.name == "__init__":
            return Together(None, frozenset(), frozenset())
        owner, own = self.project.owner(scope), self.project.self_name(scope)
        found = Together(own, _constant(scope), self.changed)
        found.rules.update(self.fields.get(owner, {}) if owner is not None else {})
        found.rules.update(found.names(scope))
        return found

    def _made_in_constructor(self, cls: Class) -> Iterator[tuple[str, Made]]:
        """The fields that a constructor makes under conditions on what it is given."""
        constructor = self.project.find(cls, "__init__")
        if constructor is None:
            return
        own = self.project.self_name(constructor)
        family = self.project.family(cls)
        given = Together(None, _constant(constructor), frozenset())
        stored = Counter(
            target.name
            for one in family
            for method in [self.project.methods(one).get("__init__")]
            for target in (_stores(method) if method is not None else ())
        )
        declared = {name for one in family for name in self.project.assigned(one)}
        for statement in constructor.body.body:
            if not isinstance(statement, Assign) or len(statement.targets) != 1:
                continue
            target, value = statement.targets[0], statement.expression
            if not isinstance(target, Attribute) or not isinstance(target.object, Name):
                continue
            path = f"self.{target.name}"
            once = stored[target.name] == 1 and target.name not in declared
            kept = once and path not in self.changed and target.object.id == own
            made = given.made(value) if kept else None
            if made is not None:
                yield path, Made(frozenset(f"given {n}" for n in made.needs), made.enough)

    def _changed(self) -> frozenset[str]:
        """The names of fields that something but a constructor may give another value."""
        found = set()
        for file in self.project.ordered:
            for target in _stores(file):
                around = target.nearest(Function)
                own = self.project.self_name(around) if around is not None else None
                held = target.object
                if around is None or around.name != "__init__" or getattr(held, "id", "") != own:
                    found.add(target.name)
            for call in everywhere(file, Call):
                name = getattr(call.function, "name", getattr(call.function, "id", ""))
                texts = [a.constant for a in call.arguments[:2] if isinstance(a, Constant)]
                if name in _BY_NAME:
                    found.update(text for text in texts if isinstance(text, str))
        return frozenset(f"self.{name}" for name in found)


class Together:
    """What is there together in one function: by its names that are bound once, and by the fields
    of self that no method changes."""

    def __init__(self, own: str | None, names: Set[str], changed: Set[str]) -> None:
        self.own, self.constant, self.changed = own, names, changed
        self.rules: dict[str, Made] = {}

    def names(self, scope: Function) -> Iterator[tuple[str, Made]]:
        """What the function itself makes under a condition."""
        for statement in scope.body.body:
            if isinstance(statement, Assign) and len(statement.targets) == 1:
                target, made = statement.targets[0], self.made(statement.expression)
                if isinstance(target, Name) and target.id in self.constant and made is not None:
                    yield target.id, made

    def made(self, value: Node | None) -> Made | None:
        """What `body if test else None` says of what it is assigned to."""
        if not isinstance(value, Conditional) or not is_none(value.orelse):
            return None
        asked = self.asked(value.test)
        return Made(asked[0], is_traced(of(value.body))) if asked and asked[1] else None

    def asked(self, test: Expression) -> tuple[Facts, bool] | None:
        """The facts that a test asks for, all of them, and what it gives where they hold."""
        if isinstance(test, Unary) and test.operator == "not":
            inner = self.asked(test.operand)
            return (inner[0], not inner[1]) if inner is not None else None
        if isinstance(test, Boolean) and test.operator == "and":
            left, right = self.asked(test.left), self.asked(test.right)
            both = left is not None and right is not None and left[1] and right[1]
            return (left[0] | right[0], True) if both else None  # type: ignore[index]
        if isinstance(test, Compare) and len(test.operands) == 2 and is_none(test.operands[1]):
            path, word = self._path(test.operands[0]), test.operators[0]
            known = path is not None and word in ("is", "is not")
            return (frozenset([path]), word == "is not") if known else None  # type: ignore[list-item]
        path = self._path(test) if isinstance(of(test), Static) else None
        return (frozenset([f"?{path}"]), True) if path is not None else None

    def known(self, before: Facts, test: Expression, holds: bool) -> Facts:
        """What is known where a test holds, or does not."""
        asked = self.asked(test)
        if asked is None or asked[1] is not holds:
            return before
        found, more = before, before | asked[0]
        while more != found:
            found = more
            more = found.union(*(made.needs for name, made in self.rules.items() if name in found))
            whole = (n for n, made in self.rules.items() if made.enough and made.needs <= more)
            more = more.union(whole)
        return found

    def decided(self, known: Facts, test: Expression) -> bool | None:
        """What a test gives by what is known."""
        asked = self.asked(test) if known else None
        return asked[1] if asked is not None and asked[0] <= known else None

    def _path(self, node: Expression) -> str | None:
        if isinstance(node, Name):
            return node.id if node.id in self.constant else None
        held = node.object if isinstance(node, Attribute) else None
        if not isinstance(held, Name) or held.id != self.own:
            return None
        path = f"self.{node.name}"  # type: ignore[attr-defined]
        return None if path in self.changed else path


def _constant(function: Function) -> Set[str]:
    """The names that mean one thing all through a function: parameters, and what is bound once, and
    not in a loop."""
    outermost = {n for s in function.body.body if isinstance(s, Assign) for n in names_assigned(s)}
    parameters = {p.name for p in function.parameters}
    return (outermost & bound_once(function) | parameters) - rebound(function)


def _stores(scope: Function | File) -> Iterator[Attribute]:
    for statement in [*everywhere(scope, Assign), *everywhere(scope, Delete)]:
        for target in statement.targets:  # type: ignore[attr-defined]
            yield from ([target] if isinstance(target, Attribute) else below(target, Attribute))
