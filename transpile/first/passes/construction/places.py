"""Where the statements of a constructor stand, and where its locals and attributes get other values."""

from __future__ import annotations

import collections
from collections.abc import Iterator
from typing import Any

import libcst as cst

from ... import tree
from ...host_effects import GROWING
from ...numpy_writes import METHODS, root, written_by
from ...printing import SAYS
from ...values import Module, Tensor
from .constructors import Original

_CHANGING = GROWING | METHODS | {"popitem", "reverse"}


class Places:
    """The places of one constructor, counted in the order of its source; a line made of another stands where that stood."""

    def __init__(self, original: Original) -> None:
        self.original = original
        self._at: dict[int, int] = {}
        for i, node in enumerate(tree.walk(original.node.body)):
            self._at.setdefault(id(node), i)
        self._made: list[Any] = []  # kept, so that their identities stay their own
        self._end: dict[int, int] = {}
        self.bound: dict[str, list[int]] = collections.defaultdict(list)  # by local name, where it is bound
        self.written: set[int] = set()  # the places of `bound` where it is written in place: the array stays the same one
        self.grown: dict[str, list[int]] = collections.defaultdict(list)  # where the list or dict that it holds changes
        self.changed: dict[str, list[int]] = collections.defaultdict(list)  # by attribute of self, where it changes
        self._given: dict[str, list[int]] = collections.defaultdict(list)  # where what it holds is given to a call that stands alone: `shuffle(order)`
        self._names: list[set[str]] = []  # those that may hold the same, or part of it
        for node in tree.scope_nodes(original.node.body, cst.Assign, cst.AnnAssign, cst.AugAssign, cst.For, cst.NamedExpr, cst.WithItem, cst.FunctionDef, cst.Call, cst.Expr):
            self._note(node, self._at[id(node)])

    def of(self, node: Any, other: int) -> int:
        """Where a node stands; `other` for one that is not of the constructor."""
        return self._at.get(id(node), other)

    def end(self, node: Any) -> int:
        """Where the next statement after one of the constructor stands."""
        if id(node) not in self._end:
            self._end[id(node)] = self._at[id(node)] + sum(1 for _ in tree.walk(node))
        return self._end[id(node)]

    def put(self, node: Any, at: int) -> None:
        """Tell where a node stands that was made of another."""
        if self._at.setdefault(id(node), at) == at:
            self._made.append(node)

    def may_grow(self, name: str) -> list[int]:
        """Where what a local holds may change, by whichever name: `rows = pe; rows[0] = 1`."""
        names = {name}.union(*(together for together in self._names if name in together))
        return sorted({place for other in names for place in (*self.grown[other], *self._given[other])})

    def _note(self, node: Any, at: int) -> None:
        if isinstance(node, cst.Call):
            self._called(node, at)
            return
        if isinstance(node, cst.Expr):
            self._alone(node.value, at)
            return
        for name in [node.name.value] if isinstance(node, cst.FunctionDef) else _bound(node):
            self.bound[name].append(at)
            if self._is_written(node, name):
                self.written.add(at)
        for target in _targets(node):
            self._stored(target, at)
        if isinstance(node, cst.AugAssign) and isinstance(node.target, cst.Name) and not self._is_array(node.target):
            self._given[node.target.value].append(at)
        elif isinstance(node, (cst.Assign, cst.For)):
            self._links(node)

    def _links(self, node: Any) -> None:
        """`rows = table`, `row = table[0]`, `for i, row in enumerate(table)`: names for the same list, or for a part of it."""
        value = root(node.iter if isinstance(node, cst.For) else node.value)
        held = tree.names_read(value) if isinstance(node, cst.For) else {value.value} if isinstance(value, cst.Name) else set()
        if held and not self._is_array(value):
            self._names.append(held.union(_bound(node)))

    def _alone(self, call: Any, at: int) -> None:
        """`random.shuffle(order)`, `np.fill_diagonal(table, 0)`, `fill(table)`"""
        if not isinstance(call, cst.Call) or tree.dotted(call.func) in SAYS:
            return
        for node in written_by(self.original.context, call):
            self._grows(node, at)
        for argument in call.args:
            if isinstance(holder := root(argument.value), cst.Name) and not self._is_array(holder):
                self._given[holder.value].append(at)

    def _is_array(self, node: Any) -> bool:
        return isinstance(self.original.context.value(node), Tensor)

    def _is_written(self, node: Any, name: str) -> bool:
        """Whether an assignment stands for a write: `p += 1`, `p = p.at[0].set(1)`."""
        if isinstance(node, cst.AugAssign):
            return self._is_array(node.target)
        value = node.value if isinstance(node, cst.Assign) else None
        indexed = isinstance(value, cst.Call) and tree.code(value.func).startswith(f"{name}.at[")
        return indexed or id(node) in self.original.context.facts.in_place

    def until(self, name: str, at: int) -> int:
        """The place after the writes to the array that a local holds at a place: what keeps the array sees them."""
        for place in sorted(place for place in self.bound[name] if place >= at):
            if place not in self.written:
                break
            at = place + 1
        return at

    def _stored(self, target: Any, at: int) -> None:
        """`self.d = 7`, `self.dims[0] = 7` or `dims[0] = 7`."""
        if isinstance(target, (cst.Tuple, cst.List)):
            for element in target.elements:
                self._stored(element.value, at)
        elif isinstance(target, cst.Subscript):
            self._grows(target, at)
        elif (name := self.original.attribute(target)) is not None:
            self.changed[name].append(at)

    def _called(self, node: cst.Call, at: int) -> None:
        """`dims.append(7)`, or a method that sets attributes: `self._make_layer(64)`."""
        method = self.original.arrays.method_called(node, self.original.self_name)
        if method is not None:
            for name in self.original.arrays.written_by(self.original.cls, method):
                self.changed[name].append(at)
        elif isinstance(node.func, cst.Attribute) and node.func.attr.value in _CHANGING and not self._is_array(node.func.value):
            self._grows(node.func.value, at)

    def _grows(self, holder: Any, at: int) -> None:
        while isinstance(holder, cst.Subscript):
            holder = holder.value
        if isinstance(holder, cst.Name):
            self.grown[holder.value].append(at)
        elif (name := self.original.attribute(holder)) is not None and not isinstance(self.original.context.value(holder), Module):
            self.changed[name].append(at)


def _targets(node: Any) -> Iterator[Any]:
    if isinstance(node, cst.Assign):
        yield from (t.target for t in node.targets)
    elif isinstance(node, cst.WithItem):
        yield from (node.asname.name,) if node.asname is not None else ()
    elif not isinstance(node, cst.FunctionDef) and not (isinstance(node, cst.AnnAssign) and node.value is None):
        yield node.target


def _bound(node: Any) -> list[str]:
    return [name for target in _targets(node) for name in tree.target_names(target)]
