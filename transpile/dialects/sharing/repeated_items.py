"""Which containers may hold one module in two places: it has its params under the first of them.

layer = nn.Linear(6, 6)
self.layers = nn.ModuleList([layer, layer])     params["layers"] has "0" alone
self.layers[1](x)                               params["layers"][self.layers.name(1)]

A list of Python's that repeats a module hands that on to the container which is made of it.
"""

from collections.abc import Iterator

from ...facts.bindings.activity import bound
from ...facts.values.lattice import Module, Sequence, Value, is_param
from ...model.expressions import Attribute, Call, Comprehension, Name, Subscript
from ...model.names import dotted, names_in, target_names, text
from ...model.node import Expression, Node
from ...model.operators import Binary
from ...model.program import Function
from ...model.statements import Assign, For, While
from ..reports import Reports
from .placement import ADDING, Placed, Plan

APART = (
    "has params of its own here, so that training makes them differ; tie them, or add their "
    "gradients"
)
TWO = (
    "is an array of its own here, so that training makes them differ; keep it once, or add their "
    "gradients"
)


def report_repeated(plan: Plan, reports: Reports, modules: bool = True) -> None:
    """Report the containers that have one param in several places, each with an array of its own;
    `modules`: also those that have one module."""
    for name, node in repeated(plan):
        param = any(map(is_held_param, node.walk()))
        if modules or param:
            what = "param" if param else "module"
            why = f"{name} has one {what} in several places: each {TWO if param else APART}"
            reports.report("shared-module", node, why)


def is_held_param(node: Node) -> bool:
    value = node.value if isinstance(node, Expression) else None
    return is_param(value.element if isinstance(value, Sequence) else value)


def repeated(plan: Plan) -> Iterator[tuple[str, Node]]:
    """The attributes of all classes of a project under which a module may stand twice, with what
    puts it there again."""
    for cls in plan.project.classes():
        if plan.modules.is_module(cls):
            for method in plan.modules.home(cls).methods(cls).values():
                if method in plan.conventions.building and method.parameters:
                    yield from _Repeats(method, plan).attributes()


class _Repeats:
    """The lists and containers of one function that builds, by what is put into them."""

    def __init__(self, function: Function, plan: Plan) -> None:
        self.function, self.me = function, function.receiver
        self.placed = Placed(self.me, plan)
        self._seen: dict[str, set[str]] = {}

    def attributes(self) -> Iterator[tuple[str, Node]]:
        """The attributes of `self` of which that is so."""
        found = set[str]()
        for node in self.function.body.walk():
            for name, value in self._put(node):
                if self._adds(name, value, found):
                    found.add(name)
                    if name.startswith(f"{self.me}."):
                        yield name.split(".")[1], value

    def _put(self, node: Node) -> Iterator[tuple[str, Expression]]:
        """What a statement puts into what: `layers` of a local list, or of `self.layers`."""
        if isinstance(node, Assign) and node.expression is not None:
            for target in node.targets:
                if (name := dotted(target)) is not None:
                    if not node.operator:
                        self._seen.pop(name, None)
                    yield name, node.expression
        elif isinstance(node, Call) and isinstance(node.function, Attribute):
            name = dotted(node.function.object)
            if node.function.name in ADDING and name is not None:
                yield from ((name, argument) for argument in node.arguments)

    def _adds(self, name: str, value: Expression, repeating: set[str]) -> bool:
        """Whether this puts a module where it stands already."""
        seen = self._seen.setdefault(name, set())
        twice = any(self._is_trained(held) for n in value.walk() for held in _repeated(n))
        grown = not isinstance(value.parent, Assign) or bool(value.parent.operator)
        for use in self.placed.given(value, name, self.me):
            item = text(use.node)
            below = item.startswith((f"{name}.", f"{name}["))
            again = item in seen or below or grown and _is_same_in_turns(use.node, self.function)
            twice = twice or item in repeating or again and self._is_trained(use.node)
            seen.add(item)
        return twice

    def _is_trained(self, node: Expression) -> bool:
        """Whether it is trained as one: `act=nn.SiLU()` and `kernel=[1, 3, 3, 1]` are not."""
        param = is_param(node.value) or any(map(is_param, _items(node.value)))
        return param or _is_one(node.value) and self.placed.plan.may_have(node)


def _repeated(node: Node) -> list[Expression]:
    """What is repeated: `[layer] * 3`, `layers + layers`, `[layer for _ in range(3)]`"""
    if isinstance(node, Binary):
        twice = node.operator == "+" and text(node.left) == text(node.right) != ""
        sides = [node.left, node.right] if node.operator == "*" else [node.left]
        if node.operator == "*" or twice:
            return [side for side in sides if any(map(_is_one, _items(side.value)))]
    if isinstance(node, Comprehension) and isinstance(node.element, (Name, Attribute, Subscript)):
        own = {name for clause in node.clauses for name in target_names(clause.target)}
        return [] if own & names_in(node.element) else [node.element]
    return []


def _items(value: Value | None) -> tuple[Value | None, ...]:
    """What a list, or a container, has."""
    if isinstance(value, Module):
        return value.element, *(part for _, part in value.items or ())
    return (value.element, *(value.items or ())) if isinstance(value, Sequence) else ()


def _is_one(value: Value | None) -> bool:
    """Whether it is what is trained as one, or a list of such."""
    return isinstance(value, (Module, Sequence)) or is_param(value)


def _is_same_in_turns(node: Expression, function: Function) -> bool:
    """Whether it stands in a loop that does not make it."""
    named = names_in(node)
    for around in node.ancestors():
        if around is function:
            return False
        if isinstance(around, (For, While)):
            made = {n for s in around.body.walk() if isinstance(s, Assign) for n in bound(s)}
            made.update(target_names(around.target) if isinstance(around, For) else ())
            return not named & made
    return False
