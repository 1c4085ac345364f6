"""What the layers use becomes nodes: reads and writes of arrays, the mode, keys, calls, walks."""

from collections.abc import Callable
from typing import Any

from ...facts.values import lattice
from ...facts.values.calls import is_super
from ...facts.values.lattice import UNKNOWN, Value
from ...model.constants import is_none
from ...model.copy import clone
from ...model.edits import Edits, block_of
from ...model.effects import Apply, Declare, Key, Mode, Read, Walk, Write
from ...model.expressions import Attribute, Call, Display, Name
from ...model.names import dotted
from ...model.node import Expression
from ...model.program import Function
from ...model.statements import Assign, ExpressionStatement, For
from .layer_methods import Method, held_value


def used(method: Method, edits: Edits) -> None:
    """The nodes of one function."""
    function = method.function
    for node in function.nodes(Attribute):
        kind = method.array(node)
        if method.is_self(node.object) and node.name == "training":
            edits.become(node, lambda node: Mode(node.object))
        elif kind is not None and not isinstance(node.parent, Declare):
            edits.change(node, _read(kind))
    for call in function.nodes(Call):
        if dotted(call.function) == "draw_key":
            edits.replace(call, Key())
        else:
            value = _called(method, call)
            if value is not None:
                edits.change(call, _apply(value))
    for assign in function.nodes(Assign):
        target = assign.targets[0]
        if isinstance(target, Attribute) and method.array(target) is not None:
            plain = assign.operator == "" and len(assign.targets) == 1
            if plain and not is_none(assign.expression):  # `self.bias = None` is no array
                edits.change(assign, _write)

    for loop in function.nodes(For):
        over = loop.iterable
        if isinstance(over, Call) and dotted(over.function) == "self.named_parameters":
            edits.change(loop, _walk)


def _walk(loop: For) -> None:
    """The names of the params are for `assign` alone: the values stand for their places."""
    assert isinstance(loop.target, Display)
    value: Any = loop.target.elements[1]
    for statement in [n for n in loop.body.walk() if isinstance(n, ExpressionStatement)]:
        call = statement.expression
        if isinstance(call, Call) and dotted(call.function) == "assign":
            write = Write(clone(value), clone(call.arguments[2]))
            block_of(statement).substitute(statement, [write])
    walked = Attribute(Name("self"), "parameters")
    walked.value = lattice.Method(lattice.Module(is_self=True), "parameters")
    loop.target.replace(clone(value))
    loop.iterable.replace(Call(walked, []))
    loop.become(Walk(loop.target, loop.iterable, loop.body, loop.orelse))


def _read(kind: str) -> Callable[[Attribute], None]:
    return lambda node: node.become(Read(node.object, node.name, kind))


def _write(assign: Assign) -> None:
    target, value = assign.targets[0], assign.expression
    assert isinstance(target, Read) and value is not None
    assign.become(Write(target, value))


def _called(method: Method, call: Call) -> Value | None:
    """What a call of the project's code runs: a method, a submodule, a local of unknown class."""
    function = call.function
    if isinstance(function, Name):
        given = {p.name for p in method.function.parameters} | {"module", "layer"}
        if function.id in given | _of_layers(method):
            return lattice.Module(open=True)
        found = method.resolve(function)
        return lattice.Function(found) if isinstance(found, Function) else None
    if not isinstance(function, Attribute) or method.cls is None:
        return None
    if is_super(function.object):
        found = method.project.above(method.cls, function.name)
        own = isinstance(found, Function)
        return lattice.Function(found, method.cls, base=True) if own else None  # type: ignore[arg-type]
    if not method.is_self(function.object):
        return None
    found = method.modules.find(method.cls, function.name)
    if found is not None:
        return lattice.Function(found, method.cls)
    child = method.children.get(function.name)
    return None if child is None else held_value(child.values)


def _of_layers(method: Method) -> set[str]:
    """The names that loops over `self.layers` bind, whose layers were given to the constructor."""
    found = set()
    for loop in method.function.nodes(For):
        layers, name = _counted(loop.iterable, loop.target)
        if not isinstance(layers, Attribute) or not method.is_self(layers.object):
            continue
        if layers.name in method.children and isinstance(name, Name):
            layers.value = held_value(method.children[layers.name].values)
            name.value = lattice.Module(open=True)
            found.add(name.id)
    return found


def _counted(iterable: Expression, target: Expression) -> tuple[Expression, Expression]:
    """The layers and the name in `for i, layer in enumerate(self.layers)`, as without numbers."""
    if isinstance(iterable, Call) and dotted(iterable.function) == "enumerate":
        if isinstance(target, Display) and len(target.elements) == 2:
            return iterable.arguments[0], target.elements[1]
    return iterable, target


def _apply(value: Value) -> Callable[[Call], None]:
    def edit(call: Call) -> None:
        call.function.value = value if value is not None else UNKNOWN
        call.become(Apply(call.function, call.arguments, call.keywords))

    return edit
