"""Names that are made, which never meet the user's."""

from collections.abc import Container, Iterable

from .expressions import Name
from .node import Node
from .program import Class, Function, Parameter
from .statements import Declaration, Handler, Import, OpaqueStatement


def taken(node: Node) -> set[str]:
    """The names that are read or bound at or below a node: of a function, with what is in it."""
    found: set[str] = set()
    for inner in node.walk():
        if isinstance(inner, Name):
            found.add(inner.id)
        elif isinstance(inner, (Parameter, Function, Class)):
            found.add(inner.name)
        elif isinstance(inner, Import):
            found.update(name.bound for name in inner.names)
        elif isinstance(inner, Handler) and inner.name is not None:
            found.add(inner.name)
        elif isinstance(inner, Declaration):
            found.update(inner.names)
        elif isinstance(inner, OpaqueStatement):
            found.update(inner.binds)
    return found


def free(word: str, used: Container[str]) -> str:
    """The word, or the first of `word_2`, `word_3` that is not used."""
    name, count = word, 1
    while name in used:
        count += 1
        name = f"{word}_{count}"
    return name


class Names:
    """The names that a scope and all inside it read or bind, others that are taken there, and those
    that were made."""

    def __init__(self, scope: Node, others: Iterable[str] = ()) -> None:
        self._used = taken(scope).union(others)

    def fresh(self, word: str) -> str:
        """A name like this one that nothing has: `running`, `running_2`."""
        name = free(word, self._used)
        self._used.add(name)
        return name
