"""Calls of modules, of their methods, and of what has effects: `Apply`; building one is `New`."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ...facts.calls import applied
from ...facts.program import ProgramFacts
from ...facts.values import lattice
from ...facts.values.attribute_names import ORDINARY, container_method, torch_method
from ...facts.values.calls import is_super
from ...facts.values.lattice import UNKNOWN, Method, Module, Torch, Value, holds_module, is_param
from ...facts.values.solve import with_callers
from ...model.effects import Apply, New
from ...model.expressions import Attribute, Call, Constant, Name, Starred
from ...model.names import dotted, everywhere, is_docstring
from ...model.node import Expression
from ...model.operators import Compare, asks_for_none
from ...model.program import Class, Function
from ...model.statements import Return
from .context import Scene
from .forward import CALL, is_renamed
from .unknown_classes import made_of_unknown


class Effectful:
    """The functions that may do more than give a value: run modules, read arrays of them, draw;
    `makers`: the calls of what is not known that make modules."""

    def __init__(self, facts: ProgramFacts) -> None:
        self.facts = facts
        functions = list(facts.project.functions())
        direct = [f for f in functions if self._is_direct(f)]
        self.functions = with_callers(facts.values.calls, direct, functions)
        self.makers = made_of_unknown(facts)

    def _is_direct(self, function: Function) -> bool:
        of, project = self.facts.values.of, self.facts.project
        for node in everywhere(function, Attribute):
            value = of(node)
            if isinstance(of(node.object), Module):
                if node.name == "training" or is_param(value):
                    return True
        for call in everywhere(function, Call):
            if isinstance(of(call.function), Module) or self.facts.draws.call(call):
                return True
        owner = project.owner(project.outermost(function))
        return owner is not None and project.is_module(owner)


_APPLIED = "apply() changes modules, which a constructor alone can: do there what it does"


def call(scene: Scene, node: Call, effectful: Effectful) -> None:
    """See to one call."""
    if node.__class__ is not Call or is_super(node):
        return
    function = node.function
    value = scene.of(function)
    if isinstance(function, Attribute) and is_super(function.object):
        if scene.cls is not None:
            _through_super(scene, node, function)
    elif holds_module(value):  # what may be a list of modules is one of them where it is called
        _run(scene, node)
    elif isinstance(value, Method) and isinstance(value.receiver, Module):
        _method_of_module(scene, node, function, value, value.receiver)
    elif isinstance(value, lattice.Function):
        operator = _asks_for_none(value.function) if scene.building else None
        if operator is not None and _is_array_alone(scene, node):
            # its array may not be made yet: `exists(m.bias)` in what a walk runs
            scene.changes.become(
                node, lambda n: Compare([n.arguments[0], Constant(None)], [operator])
            )
        else:
            _function(scene, node, value, effectful)
    elif (run := _of_object(scene, value)) is not None:
        if _ran(scene, run) & effectful.functions:
            _object(scene, node, run)
    elif any(effectful.functions.intersection(ran) for ran in applied(scene.project, function)):
        _run(scene, node)
    elif _makes_module(scene, node, value):
        scene.changes.become(node, _new)
    elif node in effectful.makers:
        scene.changes.change(node, _of_unknown)
    elif isinstance(value, lattice.Class) and _is_given_module(scene, node):
        _run(scene, node)
    elif classes := _asked(scene, function, value):
        scene.changes.change(node, _of_one(classes))


def _asks_for_none(function: Function) -> str | None:
    """`is not`, of a function that returns `value is not None` of the one that it is given."""
    body = [s for s in function.body.body if not is_docstring(s)]
    tested = body[0].expression if len(body) == 1 and isinstance(body[0], Return) else None
    given = [p.name for p in function.parameters]
    if not asks_for_none(tested) or len(tested.operands) > 2:
        return None
    own = dotted(tested.operands[0]) in given and len(given) == 1 and not function.decorators
    return tested.operators[0] if own else None


def _is_array_alone(scene: Scene, call: Call) -> bool:
    """Whether all that a call is given is an array of a module."""
    given = call.arguments[0] if len(call.arguments) == 1 and not any(call.keywords) else None
    held = isinstance(given, Attribute) and isinstance(scene.of(given.object), Module)
    return held and is_param(scene.of(given))  # type: ignore[arg-type]


def _asked(scene: Scene, function: Expression, value: Value) -> frozenset[Class]:
    """The project's modules that have what a constructor asks of a class that it is given:
    `block(dim)` beside `block.expansion`. Other classes may be given from outside."""
    if value != UNKNOWN or not isinstance(function, Name) or not scene.building:
        return frozenset()
    scope, project = scene.scope, scene.project
    given = {p.name for p in scope.parameters} if isinstance(scope, Function) else set()
    read = [n for n in scope.nodes(Attribute) if isinstance(n.object, Name)]
    asked = {n.name for n in read if isinstance(n.object, Name) and n.object.id == function.id}
    if function.id not in given or not asked:
        return frozenset()
    return frozenset(
        cls
        for cls in project.classes()
        if project.is_module(cls)
        and asked <= {n for one in project.ancestors(cls) for n in project.assigned(one)}
    )


def _of_one(classes: frozenset[Class]) -> Callable[[Call], None]:
    """A New of one of these classes."""

    def change(call: Call) -> None:
        call.function.value = lattice.Class(lattice.OneOf(classes))
        made = _new(call)
        made.value = Module(classes)
        call.become(made)

    return change


def _of_unknown(call: Call) -> None:
    made = _new(call)
    made.value = Module(open=True)
    call.become(made)


def _run(scene: Scene, node: Call) -> None:
    scene.changes.become(node, _apply(scene, node))


def _apply(scene: Scene, node: Call) -> Callable[[Call], Apply]:
    training = scene.modes.get(node)
    return lambda n: Apply(n.function, n.arguments, n.keywords, training=training)


def _new(node: Call) -> New:
    return New(node.function, node.arguments, node.keywords)


def _change(scene: Scene, node: Call, edit: Callable[[Attribute], object]) -> None:
    """An Apply whose function was changed first."""
    apply = _apply(scene, node)

    def change(call: Call) -> None:
        assert isinstance(call.function, Attribute)
        edit(call.function)
        call.become(apply(call))

    scene.changes.change(node, change)


def _through_super(scene: Scene, node: Call, function: Attribute) -> None:
    """`super().forward(x)`; a `__call__` of nn.Module runs the forward of this class."""
    found = scene.project.above(scene.cls, function.name) if scene.cls is not None else None
    if function.name == "forward":
        renamed = not isinstance(found, Function) or is_renamed(scene.project, found)
        if renamed:
            _change(scene, node, lambda f: f.rename(CALL))
            return
    if function.name in ("train", "eval", "register_buffer", "register_parameter", "apply"):
        return  # torch's own
    _run(scene, node)


def _method_of_module(
    scene: Scene, node: Call, function: Expression, value: Method, receiver: Module
) -> None:
    """A method of a module that is none of one function of the user's."""
    if value.name == "forward" and isinstance(function, Attribute):
        if function.name == "forward":
            _change(scene, node, _to_object)
        else:  # `self.f(x)`, where `self.f = self.fc.forward`
            _run(scene, node)
    elif value.name == "apply" and scene.building:
        _run(scene, node)  # it runs a function on all modules below
    elif value.name == "apply" and scene.stage == "traced" and node.arguments:
        scene.changes.unconverted("module-walk", node, _APPLIED)
    elif _is_of_project(scene, value.name, receiver):
        _run(scene, node)
    elif receiver.is_self and _is_part_of_layer(scene, value.name):
        _run(scene, node)


def _is_of_project(scene: Scene, name: str, receiver: Module) -> bool:
    """Whether classes of the project have the method of a module of which it is not known which of
    several it is."""
    project = scene.project
    if container_method(name):  # `update` of a list of memories, or of one of them
        theirs = (ref for ref in receiver.classes if isinstance(ref, Class))
        return any(project.find(cls, name) is not None for cls in theirs)
    if torch_method(name) and not name.startswith("_"):  # `_layers` is the project's
        return False
    owners = scene.values.facts.owners.get(name, ())
    several = receiver.open or len(receiver.classes) > 1
    return several and any(project.is_module(cls) for cls in owners)


def _is_part_of_layer(scene: Scene, name: str) -> bool:
    """Whether `self._sa_block` is what a layer of torch's has that the class is below."""
    found = scene.modules.find(scene.cls, name) if scene.cls is not None else None
    owner = found.owner if found is not None else None
    return owner is not None and scene.modules.is_library(owner)


def _to_object(function: Attribute) -> None:
    """`self.net` for `self.net.forward`."""
    function.replace(function.object)


def _function(scene: Scene, node: Call, value: lattice.Function, effectful: Effectful) -> None:
    """A call of a function of the user's."""
    function, project = node.function, scene.project
    if isinstance(function, Attribute) and is_renamed(project, value.function):
        if function.name == "forward":
            of_object = isinstance(scene.of(function.object), Module)
            edit = _to_object if of_object else lambda f: f.rename(CALL)
            _change(scene, node, edit)
            return
    owner = project.owner(value.function)
    of_module = owner is not None and project.is_module(owner)
    if of_module or _ran(scene, value) & effectful.functions or _is_given_module(scene, node):
        _run(scene, node)


def _ran(scene: Scene, value: lattice.Function) -> set[Function]:
    """What a call of a function may run: of a method, also what classes below have in its place."""
    found = {value.function}
    if value.owner is not None and not value.base:
        found.update(scene.project.overriding(value.owner, value.function.name))
    return found


def _of_object(scene: Scene, value: Value) -> lattice.Function | None:
    """What runs where an object is called that is no module, `noise(x)`, or a method of one of
    which only the name is known, `self.sampler.draw(x)`: that of the class that all others with
    such a method extend."""
    if isinstance(value, lattice.Object):
        method = scene.project.find(value.cls, CALL)
        return lattice.Function(method, value.cls) if method is not None else None
    if not isinstance(value, Method) or value.receiver != UNKNOWN:
        return None
    if value.name in ORDINARY or torch_method(value.name):
        return None
    owners = scene.values.facts.owners.get(value.name, ())
    above = [c for c in owners if all(c in scene.project.order(o) for o in owners)]
    if len(above) != 1 or scene.project.is_module(above[0]):
        return None
    return lattice.Function(scene.project.methods(above[0])[value.name], above[0])


def _object(scene: Scene, node: Call, value: lattice.Function) -> None:
    apply = _apply(scene, node)

    def change(call: Call) -> None:
        call.function.value = value
        call.become(apply(call))

    scene.changes.change(node, change)


def _makes_module(scene: Scene, node: Call, value: Value) -> bool:
    """Whether a call builds a module: of a class, or of what may be one, `norm_layer(dim)`."""
    made = scene.of(node)
    if isinstance(value, (lattice.Class, Torch)):
        if scene.values.facts.makes_modules(value):
            return True
        return isinstance(value, lattice.Class) and isinstance(made, Module)
    return value == UNKNOWN and isinstance(made, Module)


def _is_given_module(scene: Scene, node: Call) -> bool:
    return any(holds_module(scene.of(argument)) for argument in _arguments(node))


def _arguments(node: Call) -> Iterator[Expression]:
    for argument in node.arguments:
        yield argument.expression if isinstance(argument, Starred) else argument
