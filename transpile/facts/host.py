"""What code does to the host besides computing: it prints, draws from Python's generators, moves
iterators on, fills lists of others."""

from __future__ import annotations

from ..model.expressions import Attribute, Call
from ..model.node import Node
from .values.lattice import External, Method, Sequence

_SPEAKING = frozenset({"builtins.print", "builtins.input", "builtins.open"})
_DRAWING = ("random.", "numpy.random.")
_FILLING = frozenset("append extend insert pop remove clear update setdefault add".split())


def does(node: Node) -> str | None:
    """What one call does to the host, in words; None where it only computes, as far as is known."""
    if not isinstance(node, Call):
        return None
    value = node.function.value
    if isinstance(value, External):
        if value.name in _SPEAKING:
            return f"{value.name.removeprefix('builtins.')} speaks to the world outside"
        if value.name.startswith(_DRAWING):
            return f"{value.name} draws from a generator of Python's"
        if value.name == "builtins.next":
            return "an iterator moves on"
    if isinstance(value, Method) and isinstance(node.function, Attribute):
        if value.name in _FILLING and not isinstance(value.receiver, Sequence):
            return f".{value.name}() changes an object"
    return None
