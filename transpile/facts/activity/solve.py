"""The fixed point of activity: what flows into names, fields and results, until nothing changes."""

import functools
from collections.abc import Iterator
from typing import Any

from ...model.expressions import Attribute, Call, Lambda, Name
from ...model.layers import Layers
from ...model.node import Expression, Node
from ...model.program import Class, File, Function, Parameter, Scope
from ...model.statements import Assign, Return, With
from ..bindings import Definitions
from ..calls import Calls, Target
from ..values import Values, lattice
from . import grad_modes
from .cells import NONE, OPEN, PARAM, Cell, Cells, Sources
from .flows import Flows
from .new_or_existing import Identity
from .no_grad_blocks import Off
from .sources import Place, Transfer

_ROUNDS = 40  # sources only ever grow; this is never reached


class Solver:
    """The cells of a project, and what is asked of them while they fill."""

    def __init__(self, values: Values, calls: Calls) -> None:
        self.values, self.calls, self.project = values, calls, values.facts.project
        self.layers = Layers(values.facts.rulebook)
        self.identity, self.cells = Identity(calls), Cells()
        self.views = frozenset(values.facts.rulebook.table("VIEWS"))
        self.transfer, self.flows = Transfer(self), Flows(self)
        self._definitions: dict[Scope, tuple[int, Definitions]] = {}
        self._blocks: dict[Node, With | Function | None] = {}
        self._off: dict[Node, Off] = {}
        self._asked: set[Lambda] = set()  # whose results are being asked for
        self.known: set[tuple[Class | None, str]] = set()  # fields that anything is stored in
        self.solved: set[Any] | None = None  # the cells of torch's program, once they are filled
        self._reading: set[Node] = set()  # definitions that are being read anew

    def solve(self) -> None:
        functions = list(self.project.functions())
        scopes: list[Scope] = [*self.project.ordered, *functions]
        for function in functions:
            for parameter in function.parameters:
                self.cells.flow(parameter, [parameter], [parameter])
        flows = [flow for scope in scopes for flow in self.flows.of(scope)]
        flows += [functools.partial(self._settle, function) for function in functions]
        self.cells.stale.update(flows)
        for _ in range(_ROUNDS):
            if not (stale := self.cells.stale):
                break
            self.cells.stale = set()
            for flow in [f for f in flows if f in stale]:
                self.cells.reader = flow
                flow()
        self.cells.reader = None
        self.solved = set(self.cells.of)

    # --- functions -------------------------------------------------------------------------------

    def result(self, function: Function | Lambda) -> Sources:
        """The sources of what a function returns, as its callers see it."""
        if isinstance(function, Lambda):
            if function in self._asked:  # it may call itself
                return frozenset([OPEN])
            self._asked.add(function)
            found = self.transfer.of(function.body, self.place(function.body))
            self._asked.remove(function)
            return found
        return frozenset(self.cells.get((function, "return")).raw)

    def _settle(self, function: Function) -> None:
        found: Sources = NONE
        for node in (*function.nodes(Return), *function.yields):
            for part in node.children():
                found |= self.seen_outside(part, self.place(node))
        self.cells.flow((function, "return"), found, NONE)

    def written(self, function: Function) -> Iterator[tuple[Parameter, Sources]]:
        """What a function writes into what its parameters are given."""
        for parameter in function.parameters:
            found = frozenset(self.cells.get(parameter).out) - {parameter}
            if found:
                yield parameter, found

    def targets(self, call: Call) -> list[Target]:
        """The functions that a call may run, the forward of modules included."""
        value = call.function.value
        if not isinstance(value, lattice.Module):
            return self.identity.methods(call)
        found = [self.identity.forward(ref) for ref in value.refs if isinstance(ref, Class)]
        return [Target(function) for function in found if function is not None]

    def has_params(self, layer: str) -> bool:
        """Whether a layer of torch's has params, or may hold what has."""
        found = self.layers.of(layer)
        return found is None or bool(found.params or found.parts)

    # --- places ----------------------------------------------------------------------------------

    def place(self, node: Node) -> Place:
        """The scope of a node, and the block without gradient around it."""
        scope = node.nearest(Function, File)
        return Place(scope, self.block_of(node))

    def block_of(self, node: Node) -> With | Function | None:
        if node not in self._blocks:
            self._blocks[node] = grad_modes.block_around(self.project, node)
        return self._blocks[node]

    def off(self, node: With | Function) -> Off:
        if node not in self._off:
            self._off[node] = Off(node, self.identity)
        return self._off[node]

    def seen_outside(self, node: Node, at: Place) -> Sources:
        """The sources that an expression has where its block has been left: none of what is
        computed there.
        """
        if not isinstance(node, Expression):
            return NONE
        if at.block is not None and self._is_computed(node, at.block):
            return NONE
        return self.transfer.of(node, at)

    def _is_computed(self, node: Expression, block: With | Function) -> bool:
        switch = (
            grad_modes.of_with(self.project, block)
            if isinstance(block, With)
            else grad_modes.of_function(self.project, block)
        )
        unflagged = switch is not None and switch.flag is None
        return unflagged and self.off(block).gives(node) == "computed"

    # --- names and fields ------------------------------------------------------------------------

    def definitions(self, scope: Scope) -> Definitions:
        known = self._definitions.get(scope)
        if known is None or known[0] != scope.version:
            known = self._definitions[scope] = scope.version, Definitions(scope)
        return known[1]

    def definitions_of(self, node: Name, scope: Scope | None) -> list[tuple[Node, bool]]:
        """The definitions that a name may have, and whether they are of its own scope."""
        if not isinstance(scope, Function):
            if not isinstance(scope, File):
                return []
            found = self.definitions(scope).of.get(node)
            return [(d, True) for d in found or () if d is not None]
        here = self.definitions(scope)
        if node in here.of:
            known = here.of[node]
            if known != {None} or node.id in here.everywhere:
                return [(d, True) for d in known if d is not None]
        around: Function | None = scope
        while around is not None:
            found_there = self.definitions(around).everywhere.get(node.id)
            if found_there:
                return [(d, False) for d in found_there]
            around = self.project.outer(around)
        return []

    def cell(self, definition: Node) -> Cell:
        """The cell of a name; of one that a pass has bound since all was solved, made anew."""
        if self.solved is None or definition in self.solved:
            return self.cells.get(definition)
        made, assign = Cell(), definition.parent
        if not isinstance(assign, Assign) or assign.operator or assign.expression is None:
            made.raw = made.out = {OPEN}
        elif definition not in self._reading:
            self._reading.add(definition)
            made.raw = set(self.transfer.of(assign.expression, self.place(assign)))
            made.out = set(self.seen_outside(assign.expression, self.place(assign)))
            self._reading.remove(definition)
        return made

    def fields(self, node: Attribute) -> list[Any] | None:
        """The cells of an attribute of a module or object, PARAM for a param of a layer; None
        where it is not known.
        """
        owner, name = node.object.value, node.name
        classes: list[Any] = owner.refs if isinstance(owner, lattice.Module) else [owner.cls]
        found: list[Any] = [(None, name)] if (None, name) in self.known else []
        is_buffer = False
        for ref in classes:
            if isinstance(ref, str):
                layer = self.layers.of(ref)
                if layer is None:
                    return None
                is_buffer = is_buffer or name in layer.buffers
                found += [PARAM] if name not in layer.buffers else []
                continue
            for cls in self.project.family(ref):
                if (cls, name) in self.known:
                    found.append((cls, name))
            base = self.project.torch_base(ref)
            layer = self.layers.of(base) if base is not None else None
            if layer is not None and name in layer.params:
                found.append(PARAM)
            is_buffer = is_buffer or layer is not None and name in layer.buffers
        open_ = isinstance(owner, lattice.Module) and owner.open
        return None if open_ or not found and not is_buffer else found
