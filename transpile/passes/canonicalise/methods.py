"""Static methods that are given the module they are asked of are methods."""

from collections.abc import Iterator

from ...model.expressions import Attribute, Call
from ...model.names import dotted, everywhere
from ...model.node import Node
from ...model.program import Class, Function


def given_itself(cls: Class) -> Iterator[tuple[Function, list[Call]]]:
    """The static methods whose every call gives them what they are asked of, `self.f(self, x)`,
    with those calls."""
    for method in cls.body.body:
        if not isinstance(method, Function) or not method.parameters:
            continue
        if [dotted(d) for d in method.decorators] != ["staticmethod"] or method.parameters[0].kind:
            continue
        asked = [a for a in everywhere(cls.file or cls, Attribute) if a.name == method.name]
        calls = [a.parent for a in asked if _gives_itself(a)]
        if asked and len(calls) == len(asked):
            yield method, [c for c in calls if isinstance(c, Call)]


def _gives_itself(name: Attribute) -> bool:
    call = name.parent
    if not isinstance(call, Call) or call.function is not name or not call.positional:
        return False
    return dotted(name.object) is not None and dotted(call.positional[0]) == dotted(name.object)


def bound(method: Node, calls: list[Call]) -> None:
    """Make a method of one, and its calls those of a method."""
    assert isinstance(method, Function)
    method.undecorate(method.decorators[0])
    for call in calls:
        call.remove(call.positional[0])
