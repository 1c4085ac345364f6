"""Params that a submodule shares with another: they are under one of the two, and put in where the other is called."""

from __future__ import annotations

from typing import Any

import libcst as cst

from ... import tree
from ...arrays import Tie
from ...paths import Path, below
from .scope import Scope


def tied(scope: Scope, path: Path) -> str:
    """The params of a submodule, with what it shares put in."""
    if scope.cls is None or not path.params.startswith('params["'):
        return path.params
    parts = path.parts
    result = path.params
    for target, tie in scope.arrays.ties(scope.cls).items():
        if len(target) > len(parts) and target[: len(parts)] == parts:
            inner = below(tie.source)
            for depth in range(len(target) - 1, len(parts) - 1, -1):
                holder = below(target[:depth])
                own_first = not tie.certain and depth == len(target) - 1  # where it is not tied its own value counts
                inner = f'{{"{target[depth]}": {inner}, **{holder}}}' if own_first else f'{{**{holder}, "{target[depth]}": {inner}}}'
            result = inner
    return result


def tie_of(scope: Scope, path: Path, name: str) -> Tie | None:
    """What a param under a path shares."""
    if scope.cls is None or not path.params.startswith("params"):
        return None
    return scope.arrays.ties(scope.cls).get((*path.parts, name))


def tying(scope: Scope, target: Any, value: Any) -> Any:
    """`self.head.weight = self.embed.weight`: the head has no weight of its own from here on. None for other assignments."""
    if not isinstance(target, cst.Attribute) or not isinstance(value, cst.Attribute):
        return None
    path, source = scope.path(target.value), scope.path(value.value)
    tie = tie_of(scope, path, target.attr.value) if path is not None else None
    if path is None or source is None or tie is None or f'{source.params}["{value.attr.value}"]' != below(tie.source):
        return None
    return tree.expression(f'{path.params}.pop("{target.attr.value}", None)')
