"""The names through which a function writes in place, itself or by the functions that it calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass
from typing import Any

import libcst as cst

from ... import tree
from ...context import Context
from ...inplace import is_inplace_name
from ...project import ClassInfo, FunctionInfo
from ...values import Function, Module


@dataclass(frozen=True)
class _Body:
    """What one function says of it."""

    stores: frozenset[str]
    handed: tuple[tuple[FunctionInfo, str, str], ...]  # a function called, its parameter, the name that is given
    bound: tuple[tuple[str, str], ...]  # names that may share memory

    def written(self, of: Callable[[FunctionInfo], Set[str]]) -> set[str]:
        """The names of the body, where `of` gives those of other functions."""
        found = set(self.stores) | {root for info, parameter, root in self.handed if parameter in of(info)}
        while more := {n for a, b in self.bound if (a in found) != (b in found) for n in (a, b)} - found:
            found |= more
        return found


class Writes:
    """What the functions of a project write: each is read once, and calls in circles are gone round until nothing is new."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._found: dict[FunctionInfo, set[str]] = {}

    def names(self, function: cst.FunctionDef, copies: Set[int]) -> set[str]:
        """The names that `function` writes through, or that may share memory with them; what is in `copies` has its own."""
        return _body(self._context, function, copies).written(self._of)

    def _of(self, info: FunctionInfo) -> Set[str]:
        if info not in self._found:
            self._settle(info)
        return self._found[info]

    def _settle(self, info: FunctionInfo) -> None:
        bodies: dict[FunctionInfo, _Body] = {}
        todo = [info]
        while todo:
            if (one := todo.pop()) not in self._found and one not in bodies:
                bodies[one] = _body(self._context, one.node)
                todo += [called for called, _, _ in bodies[one].handed]
        found: dict[FunctionInfo, set[str]] = {one: set() for one in bodies} | self._found
        while more := {one: names for one, body in bodies.items() if (names := body.written(found.__getitem__)) != found[one]}:
            found |= more
        self._found = found


def _body(context: Context, function: cst.FunctionDef, copies: Set[int] = frozenset()) -> _Body:
    stores = {n.target.value for n in tree.nodes(function.body, cst.NamedExpr) if isinstance(n.target, cst.Name)}  # which the walk over statements does not see bound
    shared: Iterator[Any] = tree.nodes(function.body, cst.Nonlocal, cst.Global)
    stores |= {item.name.value for n in shared for item in n.names}
    handed = []
    writing: Iterator[Any] = tree.nodes(function.body, cst.Assign, cst.AugAssign, cst.Call, cst.Arg)
    for node in writing:
        targets: list[Any] = []
        if isinstance(node, cst.Assign):
            targets = [t.target.value for t in node.targets if isinstance(t.target, cst.Subscript)]
        elif isinstance(node, cst.AugAssign):
            targets = [node.target]
        elif isinstance(node, cst.Arg):
            targets = [node.value] if node.keyword is not None and node.keyword.value == "out" else []
        elif isinstance(node.func, cst.Attribute) and is_inplace_name(node.func.attr.value):
            targets = [node.func.value, *(a.value for a in node.args[:1])]
        elif isinstance(node, cst.Call):
            given = [(info, *pair) for info in _called(context, node) for pair in info.given(node).items()]
            handed += [(info, parameter, root) for info, parameter, value in given if (root := _root(value))]
        stores |= {name for t in targets if (name := _root(t))}
    assigned = (a for a in tree.nodes(function.body, cst.Assign) if id(a.value) not in copies)
    bound = [(name, root) for a in assigned if (root := _root(a.value)) for name in tree.names_assigned(a)]
    return _Body(frozenset(stores), tuple(handed), tuple(bound))


def _called(context: Context, node: cst.Call) -> Set[FunctionInfo]:
    """The functions of the user's that a call may run, with tensors as arguments."""
    value = context.value(node.func)
    if isinstance(value, Function):
        return {value.info}
    found = [ref.find("forward") for ref in value.refs if isinstance(ref, ClassInfo)] if isinstance(value, Module) else []
    return {info for info in found if info is not None}


def _root(node: Any) -> str:
    """The name that an expression may be a view of: `m` of `m[0].view(-1)`."""
    while isinstance(node, (cst.Attribute, cst.Subscript, cst.Call)):
        node = node.func if isinstance(node, cst.Call) else node.value
    return node.value if isinstance(node, cst.Name) else ""
