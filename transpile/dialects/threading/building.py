"""The functions that run while a model is built alone: constructors, and what only those call."""

from collections.abc import Callable, Iterable, Mapping

from ...model.program import Function


def only_built(
    functions: Iterable[Function],
    callers: Mapping[Function, set[Function]],
    begin: set[Function],
    makes: Callable[[Function], bool],
) -> set[Function]:
    """`begin`: functions that are known to be such; `makes`: whether a function builds modules,
    whoever calls it."""
    known = list(functions)
    found = begin | {f for f in known if f.name == "__init__" and f.owner is not None}
    while True:
        more = {
            f
            for f in known
            if f not in found
            if callers.get(f) and callers[f] <= found or makes(f)
            if f.name not in ("__call__", "forward")
        }
        if not more:
            return found
        found |= more
