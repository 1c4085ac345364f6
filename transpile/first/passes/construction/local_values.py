"""The local values of a constructor: which of them move with the code that reads them, and which can be had from `self` later."""

from __future__ import annotations

from collections.abc import Set
from typing import Any

import libcst as cst

from ... import tree
from ...context import KEY
from ...dataflow import exposed
from ...values import Module, Sequence, Tensor
from .bindings import assigned, has_key, only_computes, surely_assigned, unsteady
from .constructors import Original
from .initial_values import shared
from .places import Places
from .statements import Mark


class Locals:
    """The local names of one constructor, and how they were made as far as the split has come."""

    def __init__(self, original: Original) -> None:
        self.original = original
        self.places = Places(original)
        self.here = 0  # where the statement stands that is split
        self.unsteady = unsteady(original.node)
        self.names = original.parameters | assigned(original.node.body)
        self.moved: set[str] = set()  # those whose definitions were put before code that moved
        self.saved: dict[str, tuple[str, int, Any]] = {}  # attributes that keep what a local or attribute has at one place: of what, where, in which block
        self.blocks: list[Any] = []  # the blocks around the current statement, outermost first
        self._definitions: dict[str, list[Any]] = {}  # assignments of locals so far
        self._compounds: dict[str, list[Any]] = {}  # branches and loops so far that only compute, by the locals that they bind
        self._block: dict[int, Any] = {}  # by the identity of either: the block that it stands in
        self._along: set[str] = set()  # those that have been found to move along with what reads them
        self._on_self: set[str] = set()  # those that have been found to be read from self
        self._stored: dict[str, int] = {}  # where self first keeps what a local has by then
        self._outer = 0  # where what the current statement needs is stored

    def enter(self, statement: Any) -> None:
        """Go on to a statement of the constructor."""
        self.here = self.places.of(statement, self.here)
        if len(self.blocks) == 1:
            self._outer = self.here if isinstance(statement, cst.SimpleStatementLine) else self.places.end(statement)

    def note(self, statement: Any) -> None:
        """Remember what a statement that stays gives to locals."""
        small = tree.only_small(statement)
        if isinstance(small, cst.Assign) and len(small.targets) == 1 or isinstance(small, cst.AugAssign):
            found, names = self._definitions, assigned(small)
        elif isinstance(statement, (cst.If, cst.For, cst.While)) and only_computes(statement):
            found, names = self._compounds, assigned(statement)
        else:
            return
        for name in sorted(names) if id(statement) not in self._block else ():
            found.setdefault(name, []).append(statement)
        self._block.setdefault(id(statement), self.blocks[-1])

    def mark(self, statement: Any) -> Mark:
        """Remember where a statement stood that moved: what it needs is stored there."""
        names = frozenset(tree.names_read(statement) | self._read_through(statement))
        for name in names:
            self._stored.setdefault(name, self._outer)
        return Mark(statement, names)

    def resolvable(self, node: Any, own: Set[str] = frozenset()) -> bool:
        """Whether everything that moved code reads, beside names of its own, can be had later: by moving along, or from self."""
        return not self.lost(node, own)

    def lost(self, node: Any, own: Set[str] = frozenset()) -> list[Any]:
        """The names and attributes that a piece of code reads, and whose values cannot be had later."""
        at = self.places.of(node, self.here)
        kept = self._shared(node)
        names = [n for n in sorted(self._reads(node) - own) if not self._is_kept(n, self._seen(node, n), set(), n == kept)]
        return [*map(cst.Name, names), *self._changing(node, at)]

    def written_until(self, statement: Any) -> int:
        """The place after the writes to the memory that a line gives to an attribute."""
        name = self._shared(statement)
        return self.here if name is None else self.places.until(name, self.here)

    def stays(self, value: Any) -> bool:
        """Whether a value is a local that is made here, and would be kept on self for what reads it."""
        return isinstance(value, cst.Name) and value.value in self.names - self.original.parameters and not self._moving(value.value, self.here)

    def saved_as(self, node: Any) -> tuple[str, bool]:
        """The attribute that keeps what a local or attribute has here, and whether it is a new one."""
        code, block = tree.code(node), self.blocks[-1]
        is_local = isinstance(node, cst.Name)
        name = node.value if is_local else node.attr.value
        changes = self.places.bound[name] if is_local else self.places.changed[name]
        for attribute, (of, at, where) in self.saved.items():
            if of == code and where is block and not any(at <= place < self.here for place in changes):
                return attribute, False
        attribute = f"{name}_"
        while attribute in self.saved or attribute in self.places.changed or attribute in self.original.own or self.original.cls.find(attribute) is not None or not self.original.names.free(self.original.cls, attribute, attribute):
            attribute += "_"
        self.saved[attribute] = code, self.here, block
        return attribute, True

    def _is_kept(self, name: str, at: int, seen: set[int], shared: bool = False) -> bool:
        """Whether the value that a local has at a place can be had later."""
        moved = self._moving(name, at)
        for definition in moved:
            if id(definition) in seen:
                continue
            seen.add(id(definition))
            place = self.places.of(definition, at)
            if self._changing(definition, place) or not all(self._is_kept(n, place, seen) for n in self._reads(definition) - {name}):
                return False
        if name in self.unsteady:
            if name in (self._on_self if moved else self._along):
                return False  # the one name would stand for a local and for an attribute in what moves
            (self._along if moved else self._on_self).add(name)
        return bool(moved) or self._is_stored(name, at, shared)

    def _shared(self, node: Any) -> str | None:
        return shared(self.original.context, node) if id(node) not in self._block else None

    def _turn(self, statement: Any) -> int:
        """When a statement that moves has its turn."""
        name = self._shared(statement)
        return self._place(statement) if name is None else self._seen(statement, name)

    def _seen(self, node: Any, name: str) -> int:
        """Where a piece of code takes the value of a local from: `self.register_buffer("mask", mask)` keeps the array, with what is written to it later."""
        at = self._place(node)
        if name != self._shared(node):
            return at
        end = self.places.until(name, at)
        for statement in self.blocks[-1].body if self.blocks and end > at else ():
            if at < self.places.of(statement, at) < end:
                self.note(statement)
        return end

    def _reads(self, node: Any) -> set[str]:
        """The locals that a piece of code needs."""
        found = set(exposed([node])) if isinstance(node, (cst.If, cst.For, cst.While)) else tree.names_read(node)
        return found & self.names - {self.original.self_name}

    def _changing(self, node: Any, at: int) -> list[Any]:
        """Attributes of self that a piece of code reads, and that get other values after it."""
        written = {id(t.target) for t in tree.nodes(node, cst.AssignTarget)}
        found: dict[str, Any] = {}
        for n in tree.nodes(node, cst.Attribute):
            name = self.original.attribute(n)
            if name is None or id(n) in written or self.original.array(n) is not None or isinstance(self.original.context.value(n), Module):
                continue
            if any(place > at and not self._within(place, node) for place in self.places.changed.get(name, ())):
                found[name] = n
        return list(found.values())

    def _within(self, place: int, node: Any) -> bool:
        at = self.places.of(node, -1)
        return isinstance(node, cst.SimpleStatementLine) and at != -1 and at <= place < self.places.end(node)

    def _is_stored(self, name: str, at: int, shared: bool) -> bool:
        """Whether self keeps the value that a local has at a place: where it is stored, it has had no other since, nor will a list in it change."""
        if not shared and any(place >= at for place in self.places.grown.get(name, ())):
            return False
        if name not in self.unsteady:
            return True
        if name in self.original.parameters:
            return self._settled(name)
        if any(has_key(d) for d in (*self._definitions.get(name, ()), *self._compounds.get(name, ()))):
            return False
        stored = self._stored.get(name, self._outer)
        first, last = sorted((at, stored))
        before = [s for s in self.original.statements if self.places.of(s, last) < last]
        if not any(name in surely_assigned(s) for s in before):  # it is stored in the branches that set it
            last = self.places.end(self.original.node.body)
        return not any(first <= place < last for place in self.places.bound[name])

    def _settled(self, name: str) -> bool:
        """Whether a parameter is given its final value before anything is built: `if hidden is None: hidden = dim`."""
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
                    todo.extend(self._moving(n.value, self.here))
        return False

    def with_definitions(self, statements: list[Any], among: list[Any] | None = None) -> list[Any]:
        """Put the definitions of array-valued locals before the code that needs them; `among`: only these."""
        out: list[Any] = []
        for s in statements:
            inside = {id(n) for n in tree.walk(s)}
            needed: list[Any] = []
            todo: list[tuple[Any, str]] = [(s, "")]
            while todo:
                node, own = todo.pop()
                for name in sorted(self._reads(node) - {own}):
                    definitions = [d for d in self._moving(name, self._seen(node, name)) if id(d) not in inside and (among is None or d in among)]
                    self.moved |= {name} if definitions else set()
                    self.moved |= {n for d in definitions if not isinstance(d, cst.SimpleStatementLine) for n in assigned(d)}  # `bound` of a branch that draws
                    todo += [(d, name) for d in definitions if d not in needed]
                    needed += [d for d in definitions if d not in needed]
            out += sorted((d for d in needed if d not in out), key=self._place)
            out.append(s)
        return sorted(out, key=self._turn) if self._overtaken(out) else out

    def _overtaken(self, statements: list[Any]) -> bool:
        """Whether a local gets a value before code that reads the value it had before that."""
        ahead: list[tuple[int, set[str]]] = []  # what has been bound so far, and where that stands in the constructor
        for statement in statements:
            place, bound = self._turn(statement), assigned(statement)
            used = bound | tree.names_read(statement)
            if any(other > place and names & used for other, names in ahead):
                return True
            if bound:
                ahead.append((place, bound))
        return False

    def _read_through(self, statement: Any) -> set[str]:
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

    def _moving(self, name: str, at: int) -> list[Any]:
        """The assignments that make what a local has at a place, in order, where they would move with code that reads it there."""
        if name not in self.names or name in self.original.parameters:
            return []
        noted = (*self._definitions.get(name, ()), *self._compounds.get(name, ()))
        before = sorted((d for d in noted if self._place(d) < at), key=self._place)
        anew = [i for i, d in enumerate(before) if self._makes(name, d) and self._encloses(d, at)]
        made = before[anew[-1] :] if anew else before
        if not made or not self._are_all(name, made, at) or self._grows(name, made, at):
            return []
        if any(d in self._compounds.get(name, ()) for d in made):
            return made if any(has_key(d) for d in made) else []
        return made if self._belong_to_moved(made) else []

    def _grows(self, name: str, definitions: list[Any], at: int) -> bool:
        """Whether what a local holds changes on the way to a place, beside the definitions: `pe = np.zeros(n); pe[0] = 1; pe = jnp.asarray(pe)`."""
        ends = [(self._place(d), self.places.end(d)) for d in definitions]
        return any(ends[0][0] <= place < at and not any(start <= place < end for start, end in ends) for place in self.places.may_grow(name))

    def _makes(self, name: str, definition: Any) -> bool:
        """Whether a definition gives a local a value that is not made of the one before."""
        small = tree.only_small(definition)
        return isinstance(small, cst.Assign) and name not in tree.names_read(small.value)

    def _encloses(self, definition: Any, at: int) -> bool:
        """Whether the block of a definition goes on to a place."""
        return at < self.places.end(self._block[id(definition)])

    def _are_all(self, name: str, definitions: list[Any], at: int) -> bool:
        """Whether a local gets the value that it has at a place by these definitions alone, which stand in one block around it."""
        ends = [(self._place(d), self.places.end(d)) for d in definitions]
        if any(not any(start <= place < end for start, end in ends) for place in self.places.bound[name] if ends[0][0] <= place < at):
            return False
        if len(definitions) == 1:
            return self._encloses(definitions[0], at) or not any(place < ends[0][0] for place in self.places.bound[name])
        return len({id(self._block[id(d)]) for d in definitions}) == 1 and self._encloses(definitions[0], at)

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

    def _place(self, statement: Any) -> int:
        """Where a statement stands in the constructor."""
        return self.places.of(statement, self.here)
