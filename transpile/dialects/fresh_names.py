"""Names that a dialect makes, which never meet the user's."""

from collections.abc import Iterable

from ..model.expressions import Attribute
from ..model.node import Node
from ..model.program import Function


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
