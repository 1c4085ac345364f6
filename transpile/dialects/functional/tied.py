"""Arrays that are others' in a module: `self.head.weight = self.tokens.weight`, `self.w = self.p`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ...model.effects import Tie
from ...model.expressions import Constant, Name, Subscript
from ...model.names import dotted
from ...model.node import Expression, Node
from ...model.program import Function


class Tied(NamedTuple):
    """An array that is another's, whose path is given; `always`, or under some configuration."""

    array: str
    owner: tuple[str, ...]
    always: bool

    def of(self, params: str) -> Expression:
        """The owner's entry."""
        made: Expression = Name(params)
        for word in self.owner:
            made = Subscript(made, Constant(word))
        return made


class Ties:
    """Those of one class, and of those that it inherits from, by the paths of what has them."""

    def __init__(self, found: Iterable[tuple[str, Tied]] = ()) -> None:
        self._found = list(found)

    def of(self, module: Node, me: str | None) -> list[Tied]:
        """The tied arrays that a module has itself; `me`: the name of `self`."""
        holder = below(module, me)
        return [tied for path, tied in self._found if path == holder]

    def array(self, module: Node, me: str | None, name: str) -> Tied | None:
        """Whose an array of a module is; the last tie says it."""
        return next((t for t in reversed(self.of(module, me)) if t.array == name), None)


def ties(methods: Iterable[Function]) -> Iterator[tuple[str, Tied]]:
    """The ties of a class's methods, with the path from `self` of what has the array."""
    for method in methods:
        me = method.parameters[0].name if method.parameters else None
        for tie in method.nodes(Tie):
            holder, owner = below(tie.target.object, me), below(tie.source.object, me)
            if holder is not None and owner is not None:
                always = method.name == "__init__" and tie.parent is method.body
                path = (*filter(None, owner.split(".")), tie.source.name)
                yield holder, Tied(tie.target.name, path, always)


def below(module: Node, me: str | None) -> str | None:
    """`blocks.head` of `self.blocks.head`, nothing of `self`; None for what is no such path."""
    first, _, rest = (dotted(module) or "").partition(".")
    return rest if me is not None and first == me else None
