"""Names that are made, which never meet the user's."""

from collections.abc import Container, Iterable

from .expressions import Name
from .node import Node
from .program import Class, Function, Parameter
from .statements import Declaration, Handler, Import, OpaqueStatement


def taken(node: Node) -> set[str]:
    """The names that are read or bound at or below a node: of a function, with what is in it."""
    return {name for inner in node.walk() for name in named(inner)}


def named(node: Node) -> Iterable[str]:
    """The names that a node itself reads or binds."""
    if isinstance(node, Name):
        return (node.id,)
    if isinstance(node, (Parameter, Function, Class)):
        return (node.name,)
    if isinstance(node, Import):
        return (name.bound for name in node.names)
    if isinstance(node, Handler) and node.name is not None:
        return (node.name,)
    if isinstance(node, Declaration):
        return node.names
    return node.binds if isinstance(node, OpaqueStatement) else ()


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
