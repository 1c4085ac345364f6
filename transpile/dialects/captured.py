"""What a module keeps and cannot have here as its own: functions that hold the module itself, or
modules below it, and params of other modules.

    m = self.mlp
    self.mlpf = lambda x: m.down(m.act(m.up(x)))
    self.head = Head(self.tokens.weight)          # which keeps it: self.decoder.weight = weight

A model is taken apart and put together again, by `jit`, by `grad`, when weights are loaded: the
function would go on with the modules of before, and the head would train an array of its own,
without a word. So they are refused.
"""

from collections.abc import Iterator

from ..facts.modules import Modules
from ..facts.values.lattice import Module, is_param
from ..model.diagnostics import Diagnostic
from ..model.effects import BoundMethod, New, Read, Support, Unconverted, Write
from ..model.expressions import Attribute, Call, Lambda, Name
from ..model.names import dotted
from ..model.node import Expression, Node
from ..model.program import Class, Function
from ..model.project import Project
from ..model.statements import Assign
from ..passes.pass_ import place, source_of
from .growing import is_name
from .placed import parameter_for

WHY = "a function that is kept on a module holds modules, which are others once the model is traced"
GIVEN = (
    "a param that the constructor of another module keeps, where it would be an array of its own: "
    "tie it behind both, `self.head.weight = self.tokens.weight`"
)
DECORATED = (
    "the decorator of a constructor sets attributes, and is given the key, or the streams, among "
    "the arguments: set them in the constructor"
)


def refuse(project: Project, modules: Modules) -> list[Diagnostic]:
    """Let each such function raise where it is made."""
    told = []
    for cls in [c for c in project.classes() if modules.is_module(c)]:
        for method in project.methods(cls).values():
            for assign in method.nodes(Assign):
                for found in list(_captured(assign, method, cls, modules)):
                    told.append(Diagnostic(*place(found), "module-value", WHY))
                    found.replace(Unconverted("module-value", source_of(found)))
            for found in dict.fromkeys(_set_by_decorator(method, cls, project)):
                told.append(Diagnostic(*place(found), "unsupported", DECORATED))
                found.replace(Unconverted("unsupported", source_of(found)))
            for node in [n for n in method.body.walk() if isinstance(n, New)]:
                for found in list(_kept_params(node, modules)):
                    told.append(Diagnostic(*place(found), "tied-weight", GIVEN))
                    found.replace(Unconverted("tied-weight", source_of(found)))
    return told


def _set_by_decorator(method: Function, cls: Class, project: Project) -> Iterator[Expression]:
    """What the decorator of a constructor sets on the module, from all that this is given: with
    the key, or the streams, among them."""
    names = map(dotted, method.decorators if method.name == "__init__" else ())
    found = (project.resolve(cls.file, name) for name in names if name and cls.file is not None)
    for decorator in [f for f in found if isinstance(f, Function)]:
        for wrapper in [f for f in decorator.body.walk() if isinstance(f, Function)]:
            me = wrapper.parameters[0].name if wrapper.parameters else None
            for assign in wrapper.nodes(Assign):
                parts = [t for t in assign.targets if isinstance(t, Attribute)]
                if assign.expression is not None and any(dotted(t.object) == me for t in parts):
                    yield assign.expression


def _kept_params(new: New, modules: Modules) -> Iterator[Expression]:
    """The params among the arguments of a module that its constructor keeps as they are."""
    value = new.value
    classes = modules.classes_of(value.refs) if isinstance(value, Module) else []
    made = [modules.find(c, "__init__") for c in classes if c.file in modules.project.names]
    for argument in new.arguments:
        if isinstance(argument, (Name, Read)) and _is_param(argument):
            inits = (f for f in made if f is not None)
            if any(_keeps(f, parameter_for(new, argument, f)) for f in inits):
                yield argument


def _is_param(node: Expression) -> bool:
    if isinstance(node, Read):
        return node.kind == "param"
    return is_param(node.value)


def _keeps(init: Function, name: str) -> bool:
    """Whether a constructor sets an attribute to what it is given, or hands it on to another."""
    for node in (n for n in init.body.walk() if isinstance(n, Name) and n.id == name):
        around = node.parent
        if isinstance(around, Write) and around.value is node:
            return True
        if isinstance(around, Assign) and type(around) is Assign and around.expression is node:
            return any(isinstance(target, Attribute) for target in around.targets)
        if isinstance(around, New) and not isinstance(around.function, Support):
            return True
    return False


def _captured(
    assign: Assign, method: Function, cls: Class, modules: Modules
) -> Iterator[Expression]:
    self_name = method.parameters[0].name if method.parameters else ""
    kept = any(isinstance(t, Attribute) and is_name(t.object, self_name) for t in assign.targets)
    if not kept or assign.expression is None:
        return
    for node in _held(assign.expression):
        if isinstance(node, Lambda):
            held = _holds(node.body, self_name)
        elif isinstance(node, (BoundMethod, Attribute)):
            names = {n for c in modules.lineage(cls) for n in modules.home(c).methods(c)}
            held = is_name(node.object, self_name) and node.name in names
        else:
            inner = [f for f in method.nodes(Function) if is_name(node, f.name)]
            held = any(_holds(f.body, self_name) for f in inner)
        if held:
            yield node


def _held(value: Expression) -> Iterator[Expression]:
    """The functions that a value may hold: in a call they are used at once, but in `partial`."""
    if isinstance(value, Call):
        if (dotted(value.function) or "").rpartition(".")[2] == "partial":
            for argument in value.arguments:
                yield from _held(argument)
    elif isinstance(value, (Lambda, BoundMethod, Attribute, Name)):
        yield value
    else:
        for child in value.children():
            if isinstance(child, Expression):
                yield from _held(child)


def _holds(body: Node, self_name: str) -> bool:
    return any(
        isinstance(n, Name) and (n.id == self_name or isinstance(n.value, Module))
        for n in body.walk()
    )
