"""What a call may run, with which arguments; who calls a function; what is reachable.

    self.fns = [clip_, scale]         FNS = {"clip": clip_}         step = partial(clip_, 2.0)
    self.fns[0](x)                    FNS[name](x)                  step(x)

Names, attributes, tables, parameters and results are looked through, not other libraries.
"""

from collections.abc import Iterable, Iterator

from ..model import expressions as nodes
from ..model.expressions import Call, Lambda, Starred
from ..model.node import Expression
from ..model.program import Class, Function
from ..model.project import Project
from ..model.statements import Return
from .origins import Origin, Origins, Target, asked, is_partial
from .values import Values, lattice
from .values.solve import reachable

__all__ = ["Calls", "Target"]


class Calls(Origins):
    """The call graph, and what the expressions that are called may stand for."""

    def __init__(self, values: Values) -> None:
        super().__init__(values)
        self.graph = values.calls
        self._found: dict[Expression, list[Target]] = {}

    # --- queries ---------------------------------------------------------------------------------

    def targets(self, call: Call) -> list[Target]:
        """The functions and lambdas that a call may run; those of other libraries are not known."""
        return self.meant(call.function)

    def meant(self, node: Expression) -> list[Target]:
        """The functions and lambdas that an expression may stand for."""
        if node not in self._found:
            self._found[node] = list(dict.fromkeys(self._targets(node, set())))
        return self._found[node]

    def methods(self, node: nodes.Attribute) -> list[Function]:
        """The methods of plain objects that `self.transform.frame` may be, by the calls of their
        classes that made these.
        """
        classes = dict.fromkeys(self._objects(node.object, set()))
        found = (self.project.find(cls, node.name) for cls in classes)
        return [f for f in found if f is not None]

    def _objects(self, node: Expression, seen: set[Origin]) -> Iterator[Class]:
        """The classes of plain objects that an expression may be, also what functions give."""
        for made, _ in self.origins(Origin(node), seen):
            value = self.values.of(made.function) if isinstance(made, Call) else None
            if isinstance(value, lattice.Class) and isinstance(value.ref, Class):
                if not self.project.is_module(value.ref):
                    yield value.ref
            elif isinstance(made, Call):
                for result in self._results(made, seen):
                    yield from self._objects(result, seen)

    def _results(self, call: Call, seen: set[Origin]) -> Iterator[Expression]:
        """What the functions return that a call runs, or the methods of plain objects."""
        function = call.function
        if isinstance(self.values.of(function), lattice.Function):
            for target in self._targets(function, seen):
                yield from self.results(target)
        elif isinstance(function, nodes.Attribute):
            for cls in self._objects(function.object, seen):
                if (found := self.project.find(cls, function.name)) is not None:
                    yield from self.results(Target(found))

    def reachable(self, functions: Iterable[Function]) -> set[Function]:
        """These functions and all that they call."""
        return reachable(self.graph, functions)

    # --- the way back ----------------------------------------------------------------------------

    def _targets(self, node: Expression, seen: set[Origin]) -> Iterator[Target]:
        for made, _ in self.origins(Origin(node), seen):
            value = self.values.of(made)
            if isinstance(made, Lambda):
                yield Target(made)
            elif isinstance(value, lattice.Function):
                yield from self._meant_by(value, made)
            elif isinstance(made, Call) and not isinstance(value, lattice.Module):
                yield from self._of_call(made, seen)
            elif isinstance(made, nodes.Attribute) and made is not node:
                if made.name != "forward" and is_of_object(value):
                    yield from self._methods(made.name)

    def _methods(self, name: str) -> Iterator[Target]:
        owners = self.values.facts.owners.get(name, ())
        return (Target(self.project.methods(cls)[name]) for cls in owners)

    def _meant_by(self, value: lattice.Function, node: Expression) -> list[Target]:
        """A function; of a method also those of subclasses that override it."""
        function, owner, others = value.function, value.owner, list[Function]()
        if owner is not None and self.project.owner(function) is not None and not value.base:
            others = self.project.overriding(owner, function.name)
        given = -1 if self.is_unbound(value, node) else 0
        return [Target(f, given) for f in dict.fromkeys([function, *others])]

    def _of_call(self, node: Call, seen: set[Origin]) -> Iterator[Target]:
        """What a call makes that can be called: `partial(f, 2)`, an object with `__call__`."""
        value, name = self.values.of(node.function), asked(node)
        if name is not None:
            yield from self._methods(name)
        elif is_partial(node):
            words = list(zip(node.keywords, node.arguments))[1:]
            count = sum(1 for w, a in words if w is None and not isinstance(a, Starred))
            for target in self._targets(node.arguments[0], seen):
                yield target._replace(given=target.given + count)
        elif isinstance(value, lattice.Class) and isinstance(value.ref, Class):
            found = self.project.find(value.ref, "__call__")
            if found is not None:
                yield Target(found)
        else:
            for target in self._targets(node.function, seen):
                for result in self.results(target):
                    yield from self._targets(result, seen)

    def results(self, target: Target) -> list[Expression]:
        """The expressions that a function returns."""
        if isinstance(target.function, Lambda):
            return [target.function.body]
        returns = target.function.nodes(Return)
        return [r.expression for r in returns if r.expression is not None]


def applied(project: Project, function: Expression) -> list[tuple[Function, Function | None]]:
    """What a call of an autograd Function runs, forward and backward: `Scale.apply(x)`, or
    `scale(x)` after `scale = Scale.apply`; of a choice those of each."""
    value = function.value
    owner = value.receiver if isinstance(value, lattice.Method) and value.name == "apply" else None
    refs = lattice.classes_of(owner) if isinstance(owner, lattice.Class) else frozenset()
    classes = [c for c in refs if isinstance(c, Class) and project.is_autograd_function(c)]
    ordered = sorted(classes, key=lambda c: (c.name, c.start))
    found = [(project.find(c, "forward"), project.find(c, "backward")) for c in ordered]
    return [(forward, backward) for forward, backward in found if forward is not None]


def is_of_object(value: lattice.Value) -> bool:
    """Whether an attribute may be a method of a plain object: `step = stepper.step`."""
    known = lattice.Tensor, lattice.Torch, lattice.Static, lattice.Sequence, lattice.Mapping
    if not isinstance(value, lattice.Method):
        return False
    return not isinstance(value.receiver, (*known, lattice.Module))
