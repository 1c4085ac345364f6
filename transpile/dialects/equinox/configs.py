"""Dataclasses of the user's that stand in static fields: they must be hashable, so frozen, where
nobody assigns to them."""

import functools

from ...model.expressions import Attribute, Call, Constant, Name
from ...model.names import dotted, is_own
from ...model.node import Expression
from ...model.program import Class, Function
from ...model.project import Project
from ...model.statements import Assign, Delete

_MARKS = ("dataclass", "dataclasses.dataclass")
_PLAIN = {"object", "abc.ABC", "typing.Generic", "typing.Protocol"}


def freeze(project: Project) -> None:
    """`@dataclass` becomes `@dataclass(frozen=True)`; below a class of another library, which may
    be one that is not frozen, `@dataclass(unsafe_hash=True)`."""
    assigned = {name for scope in _scopes(project) for name in _assigned(scope)}
    for cls in project.classes():
        mark = next((d for d in cls.decorators if _word(d) in _MARKS), None)
        fields = {t.id for a in cls.nodes(Assign) for t in a.targets if isinstance(t, Name)}
        related = [*project.ancestors(cls), *project.descendants(cls)]
        if mark is None or fields & assigned or len(set(related)) > 1 or _sets_itself(cls):
            continue
        foreign = set(project.foreign_bases(cls)) - _PLAIN
        word = "unsafe_hash" if foreign else "frozen"
        if isinstance(mark, Call):
            if mark.keyword("frozen") is None and mark.keyword("eq") is None:
                mark.append(Constant(True), word)
        else:
            mark.wrap(functools.partial(_called, word))


def _called(word: str, mark: Expression) -> Expression:
    return Call(mark, [Constant(True)], [word])


def _word(node: Expression) -> str | None:
    return dotted(node.function if isinstance(node, Call) else node)


def _scopes(project: Project) -> list[Function | Class]:
    return [*project.functions(), *project.classes()]


def _assigned(scope: Function | Class) -> set[str]:
    """The attributes that a function sets on anything but its own module."""
    me = scope.receiver if isinstance(scope, Function) else ""
    own = scope.owner if isinstance(scope, Function) else None
    found = set()
    targets = [t for statement in scope.nodes(Assign) for t in statement.targets]
    targets += [t for statement in scope.nodes(Delete) for t in statement.targets]
    for node in (inner for target in targets for inner in target.walk()):
        if isinstance(node, Attribute):
            if own is None or not is_own(node, me):
                found.add(node.name)
    return found


def _sets_itself(cls: Class) -> bool:
    """Whether a method of its own sets a field, or it has what a frozen one may not have."""
    methods = cls.nodes(Function)
    if any(m.name in ("__setattr__", "__delattr__", "__hash__") for m in methods):
        return True
    return any(
        isinstance(t, Attribute)
        for m in methods
        for a in m.nodes(Assign)
        for target in a.targets
        for t in target.walk()
    )
