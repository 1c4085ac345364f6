"""The local values of a constructor: which of them move with the code that reads them, and which can be had from `self` later."""

from __future__ import annotations

from collections.abc import Set
from typing import Any

import libcst as cst

from ... import tree
from ...context import KEY
from ...values import Sequence, Tensor
from .bindings import assigned, has_key, only_computes, unsteady
from .constructors import Original


class Locals:
    """The local names of one constructor, and how they were made as far as the split has come."""

    def __init__(self, original: Original) -> None:
        self.original = original
        self.unsteady = unsteady(original.node)
        self.names = original.parameters | assigned(original.node.body)
        self.moved: set[str] = set()  # those whose definitions were put before code that moved
        self.blocks: list[list[Any]] = []  # the statements around the current one, outermost first
        self._times = tree.times_bound(original.node.body)
        self._definitions: dict[str, list[Any]] = {}  # assignments of locals so far
        self._compounds: dict[str, list[Any]] = {}  # branches and loops so far that only compute, by the locals that they bind

    def note(self, statement: Any) -> None:
        """Remember what a statement that stays gives to locals."""
        small = tree.only_small(statement)
        if isinstance(small, cst.Assign) and len(small.targets) == 1 or isinstance(small, cst.AugAssign):
            for name in assigned(small):
                self._definitions.setdefault(name, []).append(statement)
        elif isinstance(statement, (cst.If, cst.For, cst.While)) and only_computes(statement):
            for name in sorted(assigned(statement)):
                self._compounds.setdefault(name, []).append(statement)

    def resolvable(self, node: Any, own: Set[str] = frozenset()) -> bool:
        """Whether everything that moved code reads, beside names of its own, can be had from `self` later."""
        seen = set(own)
        todo = [node]
        while todo:
            for name in tree.names_read(todo.pop()) & self.names - seen - {self.original.self_name}:
                seen.add(name)
                moved = self._moving(name)
                if moved and self._are_all(name, moved):
                    todo.extend(moved)  # all of them, in order
                elif name in self.unsteady and not self._settled(name):
                    return False
        return True

    def _are_all(self, name: str, definitions: list[Any]) -> bool:
        """Whether a name gets its values by these definitions alone, which stand in one block."""
        if sum(tree.times_bound(d)[name] for d in definitions) != self._times[name]:
            return False
        return len(definitions) == 1 or any(all(d in block for d in definitions) for block in self.blocks)

    def _settled(self, name: str) -> bool:
        """A parameter that is given its final value before anything is built: `if hidden is None: hidden = dim`; or a name with one definition."""
        if name not in self.original.parameters:
            return len(self._definitions.get(name, [])) == 1
        seen_use = False
        for statement in self.original.statements:
            if name in assigned(statement):
                if seen_use:
                    return False
            elif name in tree.names_read(statement):
                seen_use = True
        return True

    def draws(self, value: Any) -> bool:
        """Whether a value is made of random numbers or of buffers, itself or by way of local names."""
        buffers = {name for name, array in self.original.own.items() if array.where == "state"}
        seen: set[str] = set()
        todo = [value]
        while todo:
            for n in tree.nodes(todo.pop(), cst.Attribute, cst.Name):
                if self.original.attribute(n) in buffers or isinstance(n, cst.Name) and n.value == KEY:
                    return True
                if isinstance(n, cst.Name) and n.value not in seen:
                    seen.add(n.value)
                    todo.extend(self._moving(n.value))
        return False

    def with_definitions(self, statements: list[Any], among: list[Any] | None = None) -> list[Any]:
        """Put the definitions of array-valued locals before the code that needs them; `among`: only these."""
        out: list[Any] = []
        done: set[str] = set()
        for s in statements:
            inside = {id(n) for n in tree.walk(s)}
            needed: list[Any] = []
            todo: list[Any] = [s]
            while todo:
                for name in sorted(tree.names_read(todo.pop()) - done):
                    definitions = [d for d in self._moving(name) if id(d) not in inside and (among is None or d in among)]
                    if definitions:
                        done.add(name)
                        needed += [d for d in definitions if d not in needed]
                        todo += [d if isinstance(d, (cst.If, cst.For, cst.While)) else d.body[0].value for d in definitions]
            self.moved |= done
            out += sorted((d for d in needed if d not in out), key=self._place)
            out.append(s)
        return out

    def read_through(self, statement: Any) -> set[str]:
        """The names that the definitions of what a statement reads are made of."""
        found: set[str] = set()
        todo = list(tree.names_read(statement))
        while todo:
            name = todo.pop()
            for definition in [*self._definitions.get(name, []), *self._compounds.get(name, [])]:
                new = tree.names_read(definition) - found
                found |= new
                todo.extend(new)
        return found

    def _moving(self, name: str) -> list[Any]:
        """The assignments of a local name that would move with what reads it."""
        if name not in self.names or name in self.original.parameters:
            return []
        definitions = self._definitions.get(name, [])
        if name in self._compounds:
            whole = [*definitions, *self._compounds[name]]
            return sorted(whole, key=self._place) if any(has_key(d) for d in whole) else []
        return definitions if self._belong_to_moved(definitions) else []

    def _belong_to_moved(self, definitions: list[Any]) -> bool:
        """A local that holds arrays, is made of draws, or is computed from arrays cannot be kept on self; what the host draws is drawn once."""
        values = [d.body[0].value for d in definitions]
        if any(map(self._is_drawn, values)):
            return True
        if any(map(self.original.arrays.host.draws, values)):
            return False
        if any(map(self._holds_arrays, definitions)):
            return True
        return any(self.original.attribute(n) in self.original.own for v in values for n in tree.nodes(v, cst.Attribute))

    def _is_drawn(self, value: Any) -> bool:
        """Whether a value is made of draws with keys, itself or by way of local names."""
        seen: set[str] = set()
        todo = [value]
        while todo:
            node = todo.pop()
            if has_key(node):
                return True
            new = tree.names_read(node) & self._definitions.keys() - seen - self.original.parameters
            seen |= new
            todo += [d.body[0].value for name in new for d in self._definitions[name]]
        return False

    def _holds_arrays(self, definition: Any) -> bool:
        """Whether a definition gives an array, or arrays by a tuple: `q, r = jnp.linalg.qr(w)`."""
        small = definition.body[0]
        value = self.original.context.value(small.value)
        if isinstance(value, Sequence) and isinstance(small, cst.Assign) and isinstance(small.targets[0].target, cst.Tuple):
            return any(isinstance(part, Tensor) for part in (value.element, *(value.items or ())))
        return isinstance(value, Tensor)

    def _place(self, line: Any) -> int:
        """Where a line stands in the constructor."""
        return next(i for i, n in enumerate(tree.walk(self.original.node.body)) if n is line)
