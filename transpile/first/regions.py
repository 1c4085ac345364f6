"""Names that are bound several times, and read only in the block of each binding, after it: what stands there for one is known.

    for layer in self.layers:
        attn, mlp = layer               each `attn` is that of its own loop
        x = mlp(attn(x))
    for layer in self.others:
        attn, mlp = layer
        x = attn(x)
"""

from __future__ import annotations

import collections
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import libcst as cst

from . import tree


class _Region(NamedTuple):
    """Where a binding holds."""

    inside: frozenset[int]  # the ids of the nodes there
    binding: Any


def settled(function: cst.FunctionDef) -> set[str]:
    """Such names of a function."""
    found: dict[str, list[_Region]] = collections.defaultdict(list)
    for block in tree.nodes(function, cst.IndentedBlock):
        for name, region in _of_block(list(block.body)):
            found[name].append(region)
    times = tree.times_bound(function.body)
    names = {n for n, regions in found.items() if times[n] == len(regions) and not _overlap(regions)} - tree.parameter_names(function)
    known = {name: frozenset[int]().union(*(region.inside for region in found[name])) for name in names}
    outside = {n.value for n in _reads(function.body) if n.value in names and id(n) not in known[n.value]}
    return names - outside - _read_late(function, {name: found[name] for name in names if times[name] > 1})


def _read_late(function: cst.FunctionDef, found: Mapping[str, list[_Region]]) -> set[str]:
    """The names that a function inside reads of the one around it: by the time it is called they may be bound anew."""
    late: set[str] = set()
    for inner in tree.nodes(function.body, cst.FunctionDef, cst.Lambda) if found else ():
        own = _ids([inner])
        regions = {name: [r for r in of_name if id(r.binding) in own] for name, of_name in found.items()}
        late |= {n.value for n in _reads(inner) if n.value in found and not any(id(n) in r.inside for r in regions[n.value])}
    return late


def _of_block(statements: list[Any]) -> Iterator[tuple[str, _Region]]:
    """What the assignments of a block bind, each up to the next of that name, and what its loops bind."""
    lines = [(i, name, s) for i, s in enumerate(statements) for small in [tree.only_small(s)] if isinstance(small, cst.Assign) for name in tree.names_assigned(small)]
    for i, name, line in lines:
        end = min((j for j, other, _ in lines if other == name and j > i), default=len(statements))
        yield name, _Region(_ids(statements[i + 1 : end + 1]) - ({id(statements[end])} if end < len(statements) else set()), line)
    for loop in statements:
        if isinstance(loop, cst.For):
            yield from ((name, _Region(_ids([loop.body]), loop)) for name in tree.target_names(loop.target))


def _overlap(regions: list[_Region]) -> bool:
    """Whether one binding stands where another holds."""
    return any(id(a.binding) in b.inside for a in regions for b in regions if a is not b)


def _reads(body: Any) -> Iterator[cst.Name]:
    """The names that are read, those that are bound by statements left out."""
    loops: list[Any] = [*tree.nodes(body, cst.AssignTarget), *tree.nodes(body, cst.For)]
    left = {id(n) for node in loops for n in _targets(node.target)}
    left |= {id(a.attr) for a in tree.nodes(body, cst.Attribute)} | {id(a.keyword) for a in tree.nodes(body, cst.Arg) if a.keyword is not None}
    return (n for n in tree.nodes(body, cst.Name) if id(n) not in left)


def _targets(target: Any) -> Iterator[cst.Name]:
    if isinstance(target, cst.Name):
        yield target
    elif isinstance(target, (cst.Tuple, cst.List)):
        for element in target.elements:
            yield from _targets(element.value)


def _ids(statements: list[Any]) -> frozenset[int]:
    return frozenset(id(n) for s in statements for n in tree.walk(s))
