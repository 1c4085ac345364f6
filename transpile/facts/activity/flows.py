"""What each statement lets flow where: assignments, loops, writes in place, calls that write."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from ...model import expressions as nodes
from ...model.effects import Apply, Declare, Walk
from ...model.expressions import Attribute, Call, Constant, Display, Name, Starred, Subscript
from ...model.names import is_inplace
from ...model.node import Expression, Node
from ...model.operators import Boolean, Conditional
from ...model.program import Function, Parameter, Scope
from ...model.statements import Assign, For, With
from ..values import lattice
from ..values.lattice import Tensor, Torch
from .cells import INPUT, NONE, PARAM, Key, Sources
from .sources import Place, without_index

if TYPE_CHECKING:
    from .solve import Solver

Flow = Callable[[], None]
GROWING = frozenset("append extend insert update setdefault add appendleft extendleft put".split())
_REGISTERS = {"register_buffer": None, "register_parameter": PARAM}


class Flows:
    """Reads the statements of a scope once; what it gives is run until nothing changes."""

    def __init__(self, solver: Solver) -> None:
        self.solver = solver

    def of(self, scope: Scope) -> Iterator[Flow]:
        """All that flows in a scope."""
        for assign in [*scope.nodes(Assign), *scope.nodes(Declare)]:
            yield from self._assign(assign)
        loops: list[Any] = [*scope.nodes(For), *scope.nodes(Walk), *scope.nodes(nodes.ForClause)]
        for loop in loops:
            yield from self._bind(loop.target, loop.iterable, self.solver.place(loop))
        for named in scope.nodes(nodes.NamedExpression):
            yield from self._bind(named.target, named.expression, self.solver.place(named))
        for block in scope.nodes(With):
            for context, target in block.pairs:
                if target is not None:
                    yield from self._bind(target, context, self.solver.place(block))
        for call in [*scope.nodes(Call), *scope.nodes(Apply)]:
            yield from self._call(call, self.solver.place(call))

    # --- assignments -----------------------------------------------------------------------------

    def _assign(self, node: Assign) -> Iterator[Flow]:
        at = self.solver.place(node)
        if node.expression is None:
            return
        if isinstance(node, Declare) and node.kind == "param":
            for key in self._keys(node.targets[0]):
                yield self._param(key)
            return
        for target in node.targets:
            if not node.operator:
                yield from self._bind(target, node.expression, at)
            elif isinstance(target, Name):
                yield from self._augmented(target, node.expression, at)
            else:
                yield from self._write(target, [node.expression], at)

    def _param(self, key: Key) -> Flow:
        return lambda: self.solver.cells.flow(key, [PARAM], [PARAM])

    def _augmented(self, target: Name, given: Expression, at: Place) -> Iterator[Flow]:
        """`z += x` is z as it was, written in place where it is a tensor."""
        solver = self.solver

        def flow() -> None:
            before = solver.definitions_of(target, at.scope)
            added = solver.transfer.of(given, at)
            solver.cells.flow(target, added, added if at.block is None else NONE)
            for definition, _ in before:
                if definition is not target:
                    solver.cells.join(target, definition)

        yield flow

    def _bind(self, target: Expression, given: Expression, at: Place) -> Iterator[Flow]:
        if isinstance(target, Display):
            alike = isinstance(given, Display) and len(given.elements) == len(target.elements)
            stars = isinstance(given, Display) and any(
                isinstance(e, Starred) for e in given.elements
            )
            for i, element in enumerate(target.elements):
                one = given.elements[i] if alike and not stars else given  # type: ignore[attr-defined]
                yield from self._bind(element, one, at)
        elif isinstance(target, Starred):
            yield from self._bind(target.expression, given, at)
        elif isinstance(target, (Name, Attribute)):
            if isinstance(target, Name):
                keys: list[Key] = [target]
            else:
                keys = self._keys(target)
            for key in keys:
                yield self._into(key, given, at)
        elif isinstance(target, Subscript):
            yield from self._write(target, [given], at)

    def _into(self, key: Key, given: Expression, at: Place) -> Flow:
        solver, of_field = self.solver, isinstance(key, tuple)

        def flow() -> None:
            raw = solver.transfer.of(given, at)
            out = raw if at.block is None else solver.seen_outside(given, at)
            if of_field:
                raw, out = _outside(raw), _outside(out)
            solver.cells.flow(key, raw, out)
            for other in self.roots(given, at):
                solver.cells.join(key, other)

        return flow

    def _keys(self, target: Expression) -> list[Key]:
        """The cell of an attribute that is set: of the class that it is set in, or of any."""
        if not isinstance(target, Attribute):
            return []
        owner = target.object.value
        if isinstance(owner, Tensor) or target.name in ("data", "grad"):
            return []
        classes: list[Any] = [None]
        if isinstance(owner, lattice.Object):
            classes = [owner.cls]
        elif isinstance(owner, lattice.Module) and owner.classes and not owner.open:
            classes = [r for r in owner.refs if not isinstance(r, str)] or [None]
        keys: list[Key] = [(cls, target.name) for cls in classes]
        self.solver.known.update(keys)  # type: ignore[arg-type]
        return keys

    # --- writes ----------------------------------------------------------------------------------

    def _write(self, subject: Expression, given: Iterable[Expression], at: Place) -> Iterator[Flow]:
        """What is written into a tensor or a container becomes part of it."""
        solver, given = self.solver, list(given)

        def flow() -> None:
            raw = solver.transfer.given(given, at)
            held = not isinstance(getattr(subject, "value", None), Tensor)
            out = raw if at.block is None else NONE
            if at.block is not None and held:  # of a container: what it is given
                for one in given:
                    out |= solver.seen_outside(one, at)
            for key in self.roots(subject, at):
                of_field = isinstance(key, tuple)
                solver.cells.flow(
                    key, _outside(raw) if of_field else raw, _outside(out) if of_field else out
                )
                for one in given if held else ():
                    for other in self.roots(one, at):
                        solver.cells.join(key, other)

        yield flow

    def _call(self, node: Call, at: Place) -> Iterator[Flow]:
        function, func = node.function.value, node.function
        out = node.keyword("out")
        if out is not None:
            yield from self._write(out, node.arguments, at)
        if isinstance(func, Attribute) and func.name in _REGISTERS and len(node.arguments) > 1:
            yield from self._register(node, func, at)
        elif (
            isinstance(func, Attribute) and is_inplace(func.name) and func.name != "requires_grad_"
        ):
            written: list[Expression] = [func.object]
            if isinstance(function, (Torch, lattice.External)):
                written = node.arguments[:1]
            for one in written:
                given = without_index(node, func.name) if one is func.object else node.arguments
                yield from self._write(one, [a for a in given if a is not one], at)
        elif isinstance(func, Attribute) and func.name in GROWING:
            yield from self._write(func.object, node.arguments, at)
        elif not isinstance(function, (Torch, lattice.External, lattice.Static)):
            yield self._effects(node, at)

    def _register(self, node: Call, func: Attribute, at: Place) -> Iterator[Flow]:
        name, value = node.arguments[0], node.arguments[1]
        if not isinstance(name, Constant) or not isinstance(name.constant, str):
            return
        owner = func.object.value
        refs = owner.refs if isinstance(owner, lattice.Module) and not owner.open else [None]
        for cls in [r for r in refs if not isinstance(r, str)] or [None]:
            key = (cls, name.constant)
            self.solver.known.add(key)
            if func.name == "register_parameter":
                yield self._param(key)
            else:
                yield self._into(key, value, at)

    def _effects(self, node: Call, at: Place) -> Flow:
        """What functions that are called write into what they are given."""
        solver = self.solver

        def flow() -> None:
            for target in solver.targets(node):
                if not isinstance(target.function, Function):
                    continue
                for parameter, sources in solver.written(target.function):
                    found = solver.transfer.put_in(node, target, sources, at)
                    for name, argument in solver.calls.arguments(node, target):
                        if name == parameter.name:
                            for key in self.roots(argument, at):
                                of_field = isinstance(key, tuple)
                                made = _outside(found) if of_field else found
                                solver.cells.flow(key, made, made if at.block is None else NONE)

        return flow

    # --- what shares memory ----------------------------------------------------------------------

    def roots(self, node: Node | None, at: Place) -> Iterator[Key]:
        """The names and fields whose memory an expression may share. Writes through `.data` and
        `.detach()` leave histories alone.
        """
        if isinstance(node, Name):
            bound = self.solver.transfer.bound_inside(node)
            if isinstance(bound, Expression):
                yield from self.roots(bound, at)
            elif bound is None:
                yield from (d for d, _ in self.solver.definitions_of(node, at.scope))
        elif isinstance(node, Attribute):
            owner = node.object.value
            if isinstance(owner, (lattice.Module, lattice.Object)):
                yield from (k for k in self.solver.fields(node) or () if isinstance(k, tuple))
            elif node.name != "data":
                yield from self.roots(node.object, at)
        elif isinstance(node, (Subscript, Starred, nodes.NamedExpression)):
            inner = node.object if isinstance(node, Subscript) else node.expression
            yield from self.roots(inner, at)
        elif isinstance(node, (Conditional, Boolean, Display, nodes.Dictionary)):
            for child in node.children():
                yield from self.roots(child, at)
        elif isinstance(node, Call):
            yield from self._roots_of_call(node, at)

    def _roots_of_call(self, node: Call, at: Place) -> Iterator[Key]:
        function, func = node.function.value, node.function
        if isinstance(function, Torch):
            if function.name.rpartition(".")[2] in self.solver.views:
                for argument in node.arguments[:1]:
                    yield from self.roots(argument, at)
            return
        if isinstance(func, Attribute) and isinstance(function, lattice.Method):
            view = func.name in self.solver.views or is_inplace(func.name)
            if isinstance(function.receiver, Tensor) and not view or func.name == "detach":
                return
            yield from self.roots(func.object, at)
        elif isinstance(function, (lattice.Function, lattice.Module)):
            for argument in node.arguments:
                yield from self.roots(argument, at)


def _outside(sources: Sources) -> Sources:
    """Sources as another function sees them: its parameters are inputs."""
    return frozenset(INPUT if isinstance(s, Parameter) else s for s in sources)
