"""Which calls of torch's draw, and what is computed of a draw: `argsort(randperm(n))`."""

from __future__ import annotations

from collections.abc import Iterator, Set
from functools import cached_property

from ..model.expressions import Attribute, Call, Name
from ..model.names import binds, dotted, everywhere, is_own
from ..model.node import Expression, Node
from ..model.program import Function
from ..model.project import Project
from ..model.rulebook import Rulebook
from ..model.statements import Assign
from .shapes.syntactic_sizes import is_size
from .values import Values
from .values.lattice import Function as FunctionValue
from .values.lattice import Instance, Method, Tensor, Torch
from .values.solve import with_callers


class Draws:
    """Asked of torch's program, before anything is edited."""

    def __init__(self, project: Project, values: Values, rulebook: Rulebook) -> None:
        self.project, self.values, self.rulebook = project, values, rulebook

    def call(self, call: Call) -> bool:
        """Whether a call of torch's draws: `torch.rand(n)`, `x.normal_()`, `p.sample()`."""
        value, name = self.values.of(call.function), ""
        if isinstance(value, Torch):
            name = value.name
        elif isinstance(value, Method) and isinstance(value.receiver, Instance):
            return value.name in ("sample", "rsample", "sample_n")
        elif isinstance(value, Method) and isinstance(value.receiver, Tensor):
            name = f"torch.Tensor.{value.name}"
        rules = (self.rulebook.find(name) or self.rulebook.find(name.rstrip("_"))) if name else ()
        return any(p.name == "key" for r in rules if not r.is_class for p in r.parameters)

    def value(self, value: Expression, function: Function, own: Set[str]) -> bool:
        """Whether a value comes of a draw in a function, or of these attributes of self, which do:
        `p = randperm(n)`, then `argsort(p)`. A shape alone does not."""
        me = function.receiver
        todo, names = [value], set[str]()
        while todo:
            for node in _computed(todo.pop()):
                if isinstance(node, Call) and (self.call(node) or self._runs(node)):
                    return True
                if isinstance(node, Attribute) and is_own(node, me) and node.name in own:
                    return True
                if isinstance(node, Name) and node.id not in names:
                    names.add(node.id)
                    given = (a for a in everywhere(function, Assign) if node.id in binds(a))
                    todo += [a.expression for a in given if a.expression is not None]
                    todo += [a for c in everywhere(function, Call) for a in _filling(c, node.id)]
        return False

    def _runs(self, call: Call) -> bool:
        value = self.values.of(call.function)
        return isinstance(value, FunctionValue) and value.function in self._drawing

    @cached_property
    def _drawing(self) -> set[Function]:
        functions = list(self.project.functions())
        direct = [f for f in functions if any(map(self.call, everywhere(f, Call)))]
        return with_callers(self.values.calls, direct, functions)


def _computed(node: Node) -> Iterator[Node]:
    """The parts that a value is computed from; of an array's size, none."""
    if not isinstance(node, Expression) or not is_size(node):
        yield node
        for child in node.children():
            yield from _computed(child)


def _filling(call: Call, name: str) -> list[Expression]:
    """What a call puts into a list: `parts.append(v)`."""
    method = call.function
    grows = isinstance(method, Attribute) and method.name in ("append", "extend", "insert")
    return call.arguments if grows and dotted(method.object) == name else []  # type: ignore[attr-defined]
