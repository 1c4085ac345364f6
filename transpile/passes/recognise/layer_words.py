"""The layers' own words become nodes: `Parameter(v)`, `Buffer(v)`, `self.training`, `draw_key()`.

    self.weight = Parameter(jnp.ones(n))    a Declare of a param
    self.running_mean = mean                a Write
    dropout(x, self.p, key=draw_key())      a Key
    self.out_proj(x)                        an Apply
    for name, p in self.named_parameters():
        assign(self, name, v)               a Walk over params, and a Write of p

So the layers, which `rules/layers` writes once with `self`, come to the form that the passes make
of the user's classes, and go through the same dialects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ...facts.modules import SUBMODULE, Field, Library, Modules
from ...facts.values import lattice
from ...facts.values.calls import is_super
from ...facts.values.lattice import UNKNOWN, Value
from ...model.copy import clone
from ...model.edits import Edits, block_of
from ...model.effects import (
    BUFFER,
    PARAM,
    Apply,
    Declare,
    Key,
    Mode,
    New,
    NewArray,
    Read,
    Walk,
    Write,
)
from ...model.expressions import Attribute, Call, Constant, Display, Name, is_none
from ...model.names import dotted
from ...model.node import Expression, Node
from ...model.operators import Conditional, sides
from ...model.program import Class, File, Function
from ...model.project import Project
from ...model.statements import Assign, ExpressionStatement, For

_WORDS = {"Parameter": PARAM, "Buffer": BUFFER}


def library(files: Iterable[File]) -> Library:
    """The layers of these files, with nodes for the words; a file's path is below the folder."""
    project = Project("layers")
    for file in files:
        project.add(file.path, file)
    project.link()
    classes = {name: cls for cls in project.classes() for name in _torch_names(cls)}
    made = Library(project, classes)
    modules = Modules(project, made)
    functions = list(project.functions())
    for step in (_declared, _used):
        for function in functions:
            edits = Edits(function)
            step(_Method(function, project, modules), edits)
            edits.commit()
    for cls in dict.fromkeys(classes.values()):
        for array in modules.arrays(cls).values():
            made.kinds.setdefault(array.name, set()).add(array.kind)
    return made


def _torch_names(cls: Class) -> Iterable[str]:
    """The names in `@layer("torch.nn.Linear", …)`."""
    for mark in cls.decorators:
        if isinstance(mark, Call) and dotted(mark.function) == "layer":
            yield from (a.constant for a in mark.arguments if isinstance(a, Constant))


class _Method:
    """A function of the layer files, and what names mean in it."""

    def __init__(self, function: Function, project: Project, modules: Modules) -> None:
        self.function, self.project, self.modules = function, project, modules
        self.cls = function.owner
        self.self_name = project.self_name(project.method(function) or function)

    @property
    def children(self) -> dict[str, Field]:
        return self.modules.children(self.cls) if self.cls is not None else {}

    def resolve(self, node: Expression) -> Any:
        name, file = dotted(node), self.function.file
        return self.project.resolve(file, name) if name and file is not None else None

    def is_self(self, node: Node | None) -> bool:
        return isinstance(node, Name) and node.id == self.self_name and self.cls is not None

    def builds(self, node: Node | None) -> lattice.Class | None:
        """The layer that a call builds, or in whose place it builds another that is given:
        `norm_layer(dim)` of a parameter with LayerNorm for its default."""
        if not isinstance(node, Call):
            return None
        found = self.resolve(node.function)
        if isinstance(found, Class) and self._is_layer(found):
            return lattice.Class(found)
        name = dotted(node.function)
        defaults = (p.default for p in self.function.parameters if p.name == name and p.default)
        found = next(map(self.resolve, defaults), None)
        known = isinstance(found, Class) and self._is_layer(found)
        return lattice.Class(lattice.Open(found)) if known else None

    def _is_layer(self, cls: Class) -> bool:
        return any(base.endswith("layer.Module") for base in self.project.foreign_bases(cls))

    def is_called(self, name: str) -> bool:
        """Whether a method of the class calls what it keeps under a name."""
        methods = self.project.methods(self.cls).values() if self.cls is not None else ()
        calls = (call for method in methods for call in method.nodes(Call))
        return any(dotted(call.function) == f"{self.self_name}.{name}" for call in calls)

    def array(self, node: Attribute) -> str | None:
        """The kind of the array that `self.name` is, declared here or in a class below; or that of
        `self.part.name`."""
        if self.cls is None:
            return None
        part = node.object
        if isinstance(part, Attribute) and self.is_self(part.object):
            child = self.modules.children(self.cls).get(part.name)
            held = _held(child.values) if child is not None else None
            refs = held.refs if isinstance(held, lattice.Module) else []
            kinds = {
                self.modules.arrays(c)[node.name].kind
                for c in refs
                if node.name in self.modules.arrays(c)
            }
            return kinds.pop() if len(kinds) == 1 else None
        if not self.is_self(node.object):
            return None
        for cls in (self.cls, *self.project.descendants(self.cls)):
            found = self.modules.arrays(cls).get(node.name)
            if found is not None:
                return found.kind
        return None


# --- declarations ---------------------------------------------------------------------------------


def _declared(method: _Method, edits: Edits) -> None:
    for assign in method.function.nodes(Assign):
        target, value = assign.targets[0], assign.expression
        if not isinstance(target, Attribute) or not method.is_self(target.object) or value is None:
            continue
        kind = _kind(method, target, value)
        if kind is None:
            continue
        calls = [n for n in sides(value) if isinstance(n, Call) and _word(n) is not None]
        for call in calls:
            edits.replace(call, lambda call: call.arguments[0])
        persistent = not any(_is_false(call.keyword("persistent")) for call in calls)
        edits.change(assign, _declare(kind, target.name, persistent))
    for call in method.function.nodes(Call):
        built = method.builds(call)
        if built is not None:
            edits.change(call, _new(built))
        elif _word(call) is not None and not isinstance(_outside(call), Assign):
            edits.change(call, _array(_WORDS[_word(call) or ""]))


def _kind(method: _Method, target: Attribute, value: Expression) -> str | None:
    words = {_word(leaf) for leaf in sides(value)} - {None}
    if words:
        return _WORDS[words.pop() or ""]
    if isinstance(value, Name) and method.is_called(target.name):
        given = {p.name for p in method.function.parameters}
        return SUBMODULE if value.id in given else None
    return SUBMODULE if any(method.builds(leaf) for leaf in sides(value)) else None


def _word(node: Any) -> str | None:
    name = dotted(node.function) if isinstance(node, Call) else None
    return name if name in _WORDS else None


def _outside(call: Node) -> Node | None:
    """What a value is a leaf of: the statement of `self.w = Parameter(v) if b else None`."""
    around = call.parent
    while isinstance(around, Conditional):
        around = around.parent
    return around


def _is_false(node: Expression | None) -> bool:
    return isinstance(node, Constant) and node.constant is False


def _declare(kind: str, name: str, persistent: bool) -> Callable[[Assign], None]:
    def edit(assign: Assign) -> None:
        assert assign.expression is not None
        made = Declare(assign.targets[0], assign.expression, kind, name)
        made.persistent = persistent
        assign.become(made)

    return edit


def _new(built: lattice.Class) -> Callable[[Call], None]:
    def edit(call: Call) -> None:
        call.function.value = built
        made = New(call.function, call.arguments, call.keywords)
        made.value = lattice.Module(lattice.named_classes(built), open=lattice.is_open(built))
        call.become(made)

    return edit


def _array(kind: str) -> Callable[[Call], None]:
    return lambda call: call.become(NewArray(call.function, call.arguments, call.keywords, kind))


# --- uses -----------------------------------------------------------------------------------------


def _used(method: _Method, edits: Edits) -> None:
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


def _called(method: _Method, call: Call) -> Value | None:
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
    return None if child is None else _held(child.values)


def _of_layers(method: _Method) -> set[str]:
    """The names that loops over `self.layers` bind, whose layers were given to the constructor."""
    found = set()
    for loop in method.function.nodes(For):
        layers, name = _counted(loop.iterable, loop.target)
        if not isinstance(layers, Attribute) or not method.is_self(layers.object):
            continue
        if layers.name in method.children and isinstance(name, Name):
            layers.value = _held(method.children[layers.name].values)
            name.value = lattice.Module(open=True)
            found.add(name.id)
    return found


def _counted(iterable: Expression, target: Expression) -> tuple[Expression, Expression]:
    """The layers and the name in `for i, layer in enumerate(self.layers)`, as without numbers."""
    if isinstance(iterable, Call) and dotted(iterable.function) == "enumerate":
        if isinstance(target, Display) and len(target.elements) == 2:
            return iterable.arguments[0], target.elements[1]
    return iterable, target


def _held(values: list[Expression]) -> Value:
    held = [v.value for v in values if isinstance(v.value, lattice.Module)]
    if len(held) < len(values):
        return lattice.Module(open=True)
    classes = frozenset[Any]().union(*(value.classes for value in held))
    return lattice.Module(classes, open=any(value.open for value in held))


def _apply(value: Value) -> Callable[[Call], None]:
    def edit(call: Call) -> None:
        call.function.value = value if value is not None else UNKNOWN
        call.become(Apply(call.function, call.arguments, call.keywords))

    return edit
