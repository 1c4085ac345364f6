"""What functions call, directly and by way of others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set

from .project import FunctionInfo

Calls = Mapping[FunctionInfo, Set[FunctionInfo]]


def reachable(calls: Calls, start: Iterable[FunctionInfo]) -> set[FunctionInfo]:
    """These functions and all that they call."""
    seen: set[FunctionInfo] = set()
    todo = list(start)
    while todo:
        current = todo.pop()
        if current not in seen:
            seen.add(current)
            todo.extend(calls.get(current, ()))
    return seen


def with_callers(calls: Calls, found: Iterable[FunctionInfo], functions: Iterable[FunctionInfo]) -> set[FunctionInfo]:
    """These functions, and those of `functions` that call one of them, directly or by way of each other."""
    all_ = set(found)
    left = [f for f in functions if f not in all_]
    while more := {f for f in left if calls.get(f, set()) & all_}:
        all_ |= more
        left = [f for f in left if f not in more]
    return all_
