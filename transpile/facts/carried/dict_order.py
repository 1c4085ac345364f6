"""Dicts that are gone through in their order: JAX sorts what it gives back by its keys.

`{k: f(v) for k, v in d.items()}`, `out[k] = v` for each and `sorted(d)` do not go by it.
"""

from collections.abc import Iterator

from ...model.expressions import (
    Attribute,
    Call,
    Comprehension,
    Constant,
    Dictionary,
    Name,
    Starred,
    Subscript,
)
from ...model.names import dotted
from ...model.node import Expression, Node
from ...model.program import Scope
from ...model.statements import Assign, For
from ..values.lattice import Mapping, Module

_VIEWS = ("values", "items", "keys")
_ORDERED = ("list", "tuple", "enumerate", "zip", "iter", "reversed")
# The same in any order.
_SETTLED = frozenset("sum all any max min set frozenset sorted len dict".split())


def in_order(scope: Scope) -> list[str]:
    """The names of dicts that a scope goes through in their order."""
    names = [read.id for read in ordered_reads(scope) if isinstance(read, Name)]
    return list(dict.fromkeys(names))


def ordered_reads(scope: Scope) -> Iterator[Expression]:
    """The dicts that a scope goes through in their order."""
    settled: set[Node] = set()
    for node in scope.nodes(Call, For, Comprehension, Starred):
        for source in _sources(node, settled):
            found = _dict(source)
            if found is not None:
                yield found


def _sources(node: Node, settled: set[Node]) -> list[Expression]:
    if isinstance(node, Call):
        word = dotted(node.function)
        if word in _SETTLED:
            settled.update(node.arguments)
        return node.arguments if word in _ORDERED and node not in settled else []
    if isinstance(node, For):
        return [] if _stores_by_key(node) else [node.iterable]
    if isinstance(node, Comprehension):
        plain = node.kind in ("list", "generator") and node not in settled
        return [node.clauses[0].iterable] if plain else []
    return [node.expression] if isinstance(node, Starred) and not node.double else []


def _dict(node: Expression) -> Expression | None:
    """The dict in `d.items()`, or that is gone through itself."""
    if isinstance(node, Call):
        function = node.function
        view = isinstance(function, Attribute) and function.name in _VIEWS and not node.arguments
        holder = function.object if view else None  # type: ignore[attr-defined]
        return None if holder is None or isinstance(holder.value, Module) else holder
    return node if isinstance(node.value, Mapping) else None


def _stores_by_key(loop: For) -> bool:
    """Whether a loop does nothing but to store under each key: `for k in d: d[k] = d[k] * 2`."""
    for statement in loop.body.body:
        stores = isinstance(statement, Assign) and all(
            isinstance(t, Subscript) for t in statement.targets
        )
        if not stores and not (isinstance(statement, For) and _stores_by_key(statement)):
            return False
    return True


def is_sorted(node: Expression | None) -> bool:
    """Whether a dict is written with its keys in the order that JAX gives it."""
    pairs = node.pairs if isinstance(node, Dictionary) else []
    keys = [k.constant for k, _ in pairs if isinstance(k, Constant) and isinstance(k.constant, str)]
    return bool(keys) and len(keys) == len(pairs) and keys == sorted(keys)
