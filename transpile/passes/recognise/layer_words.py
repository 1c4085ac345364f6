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

from collections.abc import Callable, Iterable
from typing import Any

from ...facts.library import Library
from ...facts.modules import SUBMODULE, Modules
from ...facts.modules_in_layers import open_reads
from ...facts.values import lattice
from ...facts.values.class_values import is_open, named_classes
from ...model.constants import is_constant
from ...model.edits import Edits
from ...model.effects import BUFFER, PARAM, Declare, New, NewArray
from ...model.expressions import Attribute, Call, Constant, Name
from ...model.names import dotted
from ...model.node import Expression, Node
from ...model.operators import Conditional, sides
from ...model.program import Class, File
from ...model.project import Project
from ...model.statements import Assign
from .layer_methods import Method
from .layer_uses import used

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
    for step in (_declared, used):
        for function in functions:
            edits = Edits(function)
            step(Method(function, project, modules), edits)
            edits.commit()
    for cls in dict.fromkeys(classes.values()):
        for array in modules.arrays(cls).values():
            made.kinds.setdefault(array.name, set()).add(array.kind)
        made.open[cls] = list(open_reads(cls))
    return made


def _torch_names(cls: Class) -> Iterable[str]:
    """The names in `@layer("torch.nn.Linear", …)`."""
    for mark in cls.decorators:
        if isinstance(mark, Call) and dotted(mark.function) == "layer":
            yield from (a.constant for a in mark.arguments if isinstance(a, Constant))


def _declared(method: Method, edits: Edits) -> None:
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
        persistent = not any(is_constant(call.keyword("persistent"), False) for call in calls)
        edits.change(assign, _declare(kind, target.name, persistent))
    for call in method.function.nodes(Call):
        built = method.builds(call)
        if built is not None:
            edits.change(call, _new(built))
        elif _word(call) is not None and not isinstance(_outside(call), Assign):
            edits.change(call, _array(_WORDS[_word(call) or ""]))


def _kind(method: Method, target: Attribute, value: Expression) -> str | None:
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
        made.value = lattice.Module(named_classes(built), open=is_open(built))
        call.become(made)

    return edit


def _array(kind: str) -> Callable[[Call], None]:
    return lambda call: call.become(NewArray(call.function, call.arguments, call.keywords, kind))
