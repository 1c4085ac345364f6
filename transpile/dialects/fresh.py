"""Names that a dialect makes, which never meet the user's."""

from collections.abc import Iterable

from ..model.expressions import Attribute, Name
from ..model.names import binds
from ..model.node import Node
from ..model.program import Class, Function, Parameter
from ..model.statements import Declaration, Handler, Import


def taken(node: Node) -> set[str]:
    """The names that are read or bound at or below a node: of a function, with what is in it."""
    found: set[str] = set()
    for inner in node.walk():
        if isinstance(inner, Name):
            found.add(inner.id)
        elif isinstance(inner, Parameter):
            found.add(inner.name)
        elif isinstance(inner, (Function, Class)):
            found.add(inner.name)
        elif isinstance(inner, Import):
            found.update(name.bound for name in inner.names)
        elif isinstance(inner, Handler) and inner.name is not None:
            found.add(inner.name)
        elif isinstance(inner, Declaration):
            found.update(inner.names)
        else:
            found.update(binds(inner))
    return found


def attributes(node: Node) -> set[str]:
    """The names of attributes at or below a node, and of the methods in it."""
    found = {inner.name for inner in node.walk() if isinstance(inner, (Attribute, Function))}
    return found


def fresh(word: str, taken: Iterable[str]) -> str:
    """The word, or the first of `word_`, `word_2`, `word_3` that is not taken."""
    known = set(taken)
    if word not in known:
        return word
    names = (word + "_" * (i == 1) + f"_{i}" * (i > 1) for i in range(1, len(known) + 3))
    return next(name for name in names if name not in known)
