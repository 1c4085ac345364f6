"""What a module keeps and cannot have here as its own: functions, and objects of plain classes,
that hold the module itself, or modules below it, and params of other modules.

    m = self.mlp
    self.mlpf = lambda x: m.down(m.act(m.up(x)))
    self.head = Head(self.tokens.weight)          # which keeps it: self.decoder.weight = weight

A model is taken apart and put together again, by `jit`, by `grad`, when weights are loaded: the
function would go on with the modules of before, and the head would train an array of its own,
without a word. So they are refused.
"""

from collections.abc import Iterator
from typing import TypeGuard

from ..facts.modules import Modules
from ..facts.values.class_values import functions_of
from ..facts.values.lattice import LAMBDA, External, Functions, Module, classes_of, is_param
from ..facts.values.lattice import Class as ClassValue
from ..facts.values.lattice import Function as Bound
from ..model.effects import BoundMethod, Declare, New, Read, Support, Write
from ..model.expressions import Attribute, Call, Display, Lambda, Name
from ..model.names import dotted, is_name, last_word
from ..model.node import Expression, Node
from ..model.program import Class, Function
from ..model.project import Project
from ..model.statements import Assign, ExpressionStatement
from .reports import Reports
from .sharing.placement import parameter_for

WHY = "a function that is kept on a module holds modules, which are others once the model is traced"
OBJECT = (
    "an object, or a set, that is kept on a module holds this one, which is another once the model "
    "is traced: keep the module itself"
)
GIVEN = (
    "a param that the constructor of another module keeps, where it would be an array of its own: "
    "tie it behind both, `self.head.weight = self.tokens.weight`"
)
DECORATED = (
    "the decorator of a constructor sets attributes, and is given the key, or the streams, among "
    "the arguments: set them in the constructor"
)


def refuse(project: Project, modules: Modules, reports: Reports) -> None:
    """Let each such function raise where it is made."""
    refuse_objects(project, modules, reports)
    refuse_given(project, modules, reports, (Name, Read))
    for cls in [c for c in project.classes() if modules.is_module(c)]:
        for method in project.methods(cls).values():
            for kept in _kept(method, modules):
                for found in list(_holding(kept, method, modules)):
                    reports.unconverted("module-value", found, WHY)
                for found in [n for n in kept.walk() if _is_in_set(n)]:
                    reports.unconverted("module-value", found, OBJECT)
            for found in dict.fromkeys(_set_by_decorator(method, cls, project)):
                reports.unconverted("unsupported", found, DECORATED)


def refuse_given(
    project: Project, modules: Modules, reports: Reports, kinds: tuple[type[Expression], ...]
) -> None:
    """Let each param raise that the constructor of another module is given and keeps, or a method
    that sets it somewhere: `self.head.tie(self.tokens.weight)`. `kinds`: what is asked of what a
    constructor is given."""
    classes = filter(modules.is_module, project.classes())
    for method in [m for cls in classes for m in project.methods(cls).values()]:
        for node in [n for n in method.body.walk() if isinstance(n, Call)]:
            asked = kinds if isinstance(node, New) else (Name, Read)
            for given in [a for a in _kept_by(node, modules) if isinstance(a, asked)]:
                if _is_param(given):
                    reports.unconverted("tied-weight", given, GIVEN)


def refuse_objects(project: Project, modules: Modules, reports: Reports) -> None:
    """Let the modules in objects of plain classes raise that a module keeps, and asks for when it
    runs: `self.parts = Parts(self.encoder)`."""
    running = [f for f in project.functions() if f.name != "__init__"]
    used = {n.name for f in running for n in f.nodes(Attribute)}
    classes = filter(modules.is_module, project.classes())
    for method in [m for cls in classes for m in project.methods(cls).values()]:
        for made in [n for n in method.body.walk() if isinstance(n, Call)]:
            for found in list(_kept_by_object(made, modules)):
                if not used.isdisjoint(_names_of(made)):
                    reports.unconverted("module-value", found, OBJECT)


def _names_of(made: Call) -> set[str]:
    """The attributes that a statement keeps something under: `self.a = [made]`,
    `self.all.append(made)`."""
    statement = made.nearest(Assign, Declare, ExpressionStatement)
    if isinstance(statement, Assign):
        return {t.name for t in statement.targets if isinstance(t, Attribute)}
    call = getattr(statement, "expression", None)
    if not isinstance(call, Call) or made not in call.arguments:
        return set()
    word = dotted(call.function) or ""
    return {word.split(".")[-2]} if word.endswith(".append") else set()


def _kept_by_object(made: Call, modules: Modules) -> Iterator[Expression]:
    """The modules that an object of a plain class keeps, of the project's or another library's."""
    called = made.function.value
    inits: list[Function | None] = []
    if isinstance(called, External):
        library, _, name = called.name.rpartition(".")
        inits = [None] if name[:1].isupper() and library != "collections" else []
    elif called is not None:
        classes = [c for c in classes_of(called) if isinstance(c, Class)]
        inits = [modules.find(c, "__init__") for c in classes if not modules.is_module(c)]
    for given in [a for a in made.arguments if isinstance(a.value, Module)]:
        if any(init is None or _keeps(init, parameter_for(made, given, init)) for init in inits):
            yield given


def _set_by_decorator(method: Function, cls: Class, project: Project) -> Iterator[Expression]:
    """What the decorator of a constructor sets on the module, from all that this is given: with
    the key, or the streams, among them."""
    names = map(dotted, method.decorators if method.name == "__init__" else ())
    found = (project.resolve(cls.file, name) for name in names if name and cls.file is not None)
    for decorator in [f for f in found if isinstance(f, Function)]:
        for wrapper in [f for f in decorator.body.walk() if isinstance(f, Function)]:
            me = wrapper.receiver
            for assign in wrapper.nodes(Assign):
                parts = [t for t in assign.targets if isinstance(t, Attribute)]
                if assign.expression is not None and any(dotted(t.object) == me for t in parts):
                    yield assign.expression


def _kept_by(call: Call, modules: Modules) -> list[Expression]:
    """The arguments that the constructor of a module, or another function, keeps as they are."""
    value = call.value
    if isinstance(call, New):
        classes = modules.classes_of_value(value)
        made = [modules.find(c, "__init__") for c in classes if c.file in modules.project.names]
        runs = {f for f in made if f is not None}
    else:
        runs = _called(call)
    return [a for a in call.arguments if any(_keeps(f, parameter_for(call, a, f)) for f in runs)]


def _is_param(node: Expression) -> bool:
    if isinstance(node, Read):
        return node.kind == "param"
    return is_param(node.value) and not node.value.buffer


def _keeps(function: Function, name: str, seen: frozenset[Function] = frozenset()) -> bool:
    """Whether a constructor, or a function that it calls, sets an attribute to what it is given, or
    hands it on to another constructor."""
    names, reads = {name}, [n for n in function.body.walk() if isinstance(n, Name)]
    for node in reads:
        around = node.parent
        if node.id not in names:
            continue
        if isinstance(around, Write) and around.value is node and not around.detached:
            return True
        declared = isinstance(around, Declare) and around.kind in ("field", "submodule")
        plain = type(around) is Assign or declared
        if isinstance(around, Assign) and plain and around.expression is node:
            if any(isinstance(target, Attribute) for target in around.targets):
                return True
            names.update(target.id for target in around.targets if isinstance(target, Name))
        if isinstance(around, New) and not isinstance(around.function, Support):
            return True
        if isinstance(around, Call) and node in around.arguments:
            for called in _called(around) - seen - {function}:
                if _keeps(called, parameter_for(around, node, called), seen | {function}):
                    return True
    return False


def _called(call: Call) -> set[Function]:
    """The functions of the project that a call is known to run."""
    return {one.function for one in functions_of(call.function.value)}


def _kept(method: Function, modules: Modules) -> Iterator[Expression]:
    """What a method keeps on a module: `self.f = f`, `self.fs.append(f)`, `Block(f)`."""
    self_name = method.receiver
    for assign in method.nodes(Assign, Declare):
        kept = any(
            isinstance(t, Attribute) and is_name(t.object, self_name) for t in assign.targets
        )
        if kept and assign.expression is not None:
            yield assign.expression
    for call in method.nodes(Call):
        word = dotted(call.function) or ""
        if word.startswith(f"{self_name}.") and word.endswith(".append"):
            yield from call.arguments
    for new in method.nodes(New):
        yield from _kept_by(new, modules)


def _holding(kept: Expression, method: Function, modules: Modules) -> Iterator[Expression]:
    """The functions in something kept that hold modules."""
    for node in _held(kept):
        if isinstance(node, Lambda):
            held = _holds(node.body, method)
        elif isinstance(node, Name) and (inner := _named(node, method)):
            held = any(_holds(f.body, method) for f in inner)
        else:
            given = isinstance(node.value, Module) and isinstance(node.parent, Call)
            bound = _is_bound(node, modules) and not (node is kept and _is_of_class(node))
            held = given and node is not kept or bound
        if held:
            yield node


def _is_of_class(node: Expression) -> bool:
    """`self.detect = Detect.forward`, which is given its module by each call."""
    return isinstance(node, Attribute) and isinstance(node.object.value, ClassValue)


def _is_in_set(node: Node) -> TypeGuard[Expression]:
    """`self.skipped = {self.head}`, which knows its modules by what they are."""
    around = node.parent
    in_set = isinstance(around, Display) and around.kind == "set"
    return in_set and isinstance(node, Expression) and isinstance(node.value, Module)


def _named(name: Name, method: Function) -> list[Function]:
    """The functions of a method that have a name."""
    return [f for f in method.nodes(Function) if f.name == name.id]


def _is_bound(node: Expression, modules: Modules) -> bool:
    """Whether a value may be a method with its module: `self.f`, `self.sub.f`, `chosen(self)`"""
    return any(
        one.owner is not None
        and modules.is_module(one.owner)
        and not modules.project.is_static(one.function)
        for one in functions_of(node.value)
    )


def _held(value: Expression) -> Iterator[Expression]:
    """What of a value may be a function: in a call they are used at once, but where this gives a
    function back, `partial(f, self.fc)`."""
    if isinstance(value, Call):
        partial = last_word(value.function) == "partial"
        if partial or isinstance(value.value, (Bound, Functions)) or value.value == LAMBDA:
            for argument in value.arguments:
                yield from _held(argument)
        else:
            yield value  # which may be one that it gives back
    elif isinstance(value, (Lambda, BoundMethod, Attribute, Name)):
        yield value
    else:
        for child in value.children():
            if isinstance(child, Expression):
                yield from _held(child)


def _holds(body: Node, method: Function) -> bool:
    self_name = method.receiver
    return any(
        isinstance(n, Name) and (n.id == self_name or isinstance(n.value, Module))
        for n in body.walk()
    )
