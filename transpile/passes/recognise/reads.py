"""Arrays of modules and the mode: `self.weight` is a Read, `self.training` a Mode.

Stores stay as they are, with Reads as targets; one param that is given another is a Tie.
"""

from functools import partial
from typing import Any

from ...facts.modules import FIELD, is_number
from ...facts.values.computed_names import may_be, pattern
from ...facts.values.lattice import Function, Method, Module, Tensor, Torch, Value
from ...model.effects import (
    BUFFER,
    MIXED,
    PARAM,
    BoundMethod,
    Declare,
    Mode,
    NewArray,
    Read,
    Tie,
    Unconverted,
)
from ...model.expressions import Attribute, Call, Constant
from ...model.names import dotted, is_called, is_target, text
from ...model.node import Node
from ...model.positions import source_of
from ...model.program import Class
from ...model.program import Function as Definition
from ...model.statements import Assign, Delete, ExpressionStatement
from .context import Scene
from .forward import CALL, is_renamed
from .stores import is_replaced

# What runs, or wraps, a module that it is given: `checkpoint(self.block, x)`.
_RUNNING = frozenset({"checkpoint", "map", "vmap", "partial"})


def attribute(scene: Scene, node: Attribute) -> None:
    """See to one attribute."""
    if node.__class__ is not Attribute or _is_declared(node):
        return
    base, value = scene.of(node.object), scene.of(node)
    called = is_called(node)
    if isinstance(base, Module):
        if node.name == "training":
            if not is_target(node) and scene.building:
                scene.changes.replace(node, Constant(True))  # torch's modules begin in training
            elif not is_target(node):
                scene.changes.become(node, lambda n: Mode(n.object))
            return
        kind = None if called else array_kind(scene, base, value, node.name)
        if kind is not None and not isinstance(node.parent, Delete):
            scene.changes.become(node, lambda n: Read(n.object, n.name, kind))
        elif not called and not is_target(node):
            _as_value(scene, node, value)
    elif scene.building and _is_filled(scene, node):
        scene.changes.become(node, lambda n: Read(n.object, n.name, PARAM))
    elif isinstance(value, Function) and not called and is_renamed(scene.project, value.function):
        scene.changes.change(node, lambda n: n.rename(CALL))  # `Net.forward`


def _is_declared(node: Node) -> bool:
    return isinstance(node.parent, Declare) and is_target(node)


# --- arrays --------------------------------------------------------------------------------------


def array_kind(scene: Scene, base: Module, value: Value, name: str) -> str | None:
    """The kind of an array of a module; None for what is no array."""
    kinds = {kind for ref in base.refs for kind in _kinds_of(scene, ref, name)}
    if len(kinds) > 1 or kinds and any(_is_number(scene, ref, name) for ref in base.refs):
        return MIXED
    if kinds:
        return kinds.pop()
    if isinstance(value, Tensor) and value.param and not _is_property(scene, base, name):
        made = {kind for ref in base.refs for kind in _computed_kinds(scene, ref, name)}
        if len(made) == 1:
            return made.pop()
        return BUFFER if value.buffer else _usual_kind(scene, name)
    return None


def _is_property(scene: Scene, base: Module, name: str) -> bool:
    """Whether a property gives an array of another name: `self.u` for `self.sn_u`."""
    found = (scene.project.find(ref, name) for ref in base.refs if isinstance(ref, Class))
    return any(one is not None and scene.project.is_property(one) for one in found)


def _kinds_of(scene: Scene, ref: Any, name: str) -> set[str]:
    """The kinds that an array has in a class, its bases and the classes below."""
    cls = scene.modules.class_of(ref)
    if cls is None:
        return set()
    family = scene.project.family(cls) if isinstance(ref, Class) else (cls,)
    found = (scene.modules.arrays(one).get(name) for one in family)
    return {array.kind for array in found if array is not None}


def _is_number(scene: Scene, ref: Any, name: str) -> bool:
    """Whether a class has a number of Python's where others have an array: `self.scale = 2.0`."""
    cls = scene.modules.class_of(ref)
    own = scene.modules.fields(cls).get(name) if cls is not None else None
    return own is not None and own.kind == FIELD and any(map(is_number, own.values))


def _computed_kinds(scene: Scene, ref: Any, name: str) -> set[str]:
    """The kinds of the arrays that constructors make under computed names: `self.u0` of `u{i}`."""
    cls = scene.modules.class_of(ref)
    family = scene.project.family(cls) if cls is not None and isinstance(ref, Class) else ()
    found = set()
    for made in (m for one in family for f in _methods(scene, one) for m in f.nodes(NewArray)):
        call = made.parent
        if isinstance(call, Call) and dotted(call.function) == "setattr":
            if may_be(pattern(call.arguments[1]), name):
                found.add(made.kind)
    return found


def _methods(scene: Scene, cls: Class) -> list[Definition]:
    return list(scene.project.methods(cls).values())


def _usual_kind(scene: Scene, name: str) -> str:
    """What an array of this name is in torch's layers: a param, where nothing else is known."""
    return BUFFER if scene.modules.library.kinds.get(name) == {BUFFER} else PARAM


def _is_filled(scene: Scene, node: Attribute) -> bool:
    """Whether a constructor gives it first values, `nn.init.zeros_(layer.fc.weight)`: that says of
    what is given that it is a module."""
    if node.name not in scene.modules.library.kinds:
        return False
    return text(node) in {
        text(call.arguments[0])
        for call in scene.scope.nodes(Call)
        if call.arguments and isinstance(of := scene.of(call.function), Torch)
        if of.name.startswith("torch.nn.init.") and isinstance(call.arguments[0], Attribute)
    }


# --- methods and modules as values ---------------------------------------------------------------


def _as_value(scene: Scene, node: Attribute, value: Value) -> None:
    """`f = self.up`, `checkpoint(self.block, x)`"""
    project = scene.project
    if isinstance(value, Function):
        owner = project.owner(value.function)
        if owner is None or project.is_property(value.function):
            return
        renamed = is_renamed(project, value.function)
        scene.changes.change(node, lambda n: _bind(n, renamed))
    elif isinstance(value, Method) and value.name == "forward":  # of a layer of torch's
        scene.changes.change(node, partial(_to_module, run=_is_run(node.parent)))
    elif isinstance(value, Module) and _is_run(node.parent):
        scene.changes.change(node, lambda n: _bind(n, False))


def _is_run(call: Node | None) -> bool:
    name = dotted(call.function) if isinstance(call, Call) else None
    return (name or "").rpartition(".")[2] in _RUNNING


def _to_module(node: Attribute, run: bool) -> None:
    """`self.fc` for `self.fc.forward`"""
    module = node.object
    node.replace(module)
    if run and isinstance(module, Attribute):
        _bind(module, False)


def _bind(node: Attribute, renamed: bool) -> None:
    if renamed:
        node.rename(CALL)
    node.become(BoundMethod(node.object, node.name))


# --- ties ----------------------------------------------------------------------------------------


_REPLACED = "another module may be put later where one of the two arrays is: each has its own then"


def tie(scene: Scene, assign: Assign) -> None:
    """`self.head.weight = self.tokens.weight`, of two params."""
    source = assign.expression
    if not scene.building or assign.operator or len(assign.targets) != 1:
        return
    if assign.__class__ is Assign and isinstance(source, Attribute):
        target = assign.targets[0]
        if isinstance(target, Attribute) and _is_param(scene, target) and _is_param(scene, source):
            if is_replaced(source) or is_replaced(target.object) or _is_left(scene, target, source):
                scene.changes.report("tied-weight", source, _REPLACED)
                scene.changes.replace(assign, _refused)
            else:
                scene.changes.become(assign, _tied)


def _is_left(scene: Scene, target: Attribute, source: Attribute) -> bool:
    """Whether a class below sets another module where one of the two is, and does not tie it:
    `super().__init__(); self.fc = nn.Linear(d, d)` below `self.fc.weight = self.a.weight`."""
    held = [(dotted(part) or "").split(".")[1:] for part in (target, source)]
    modules = scene.modules
    for cls in modules.below(scene.cls) if scene.cls is not None else ():
        stored = set[str]()
        for method in modules.home(cls).methods(cls).values():
            me = f"{scene.project.self_name(method)}."
            targets = [t for a in method.nodes(Assign, Declare) for t in a.targets]
            stored |= {path.removeprefix(me) for t in targets if (path := dotted(t) or "")}
        if any(path[0] in stored for path in held if len(path) > 1):
            if ".".join(held[0]) not in stored:
                return True
    return False


def _is_param(scene: Scene, node: Attribute) -> bool:
    base, value = scene.of(node.object), scene.of(node)
    if not isinstance(base, Module):
        return False
    if is_target(node):  # what it gets is what it is from here on
        value = Tensor(param=True)
    return array_kind(scene, base, value, node.name) == PARAM


def _refused(assign: Assign) -> ExpressionStatement:
    return ExpressionStatement(Unconverted("tied-weight", source_of(assign)))


def _tied(assign: Assign) -> Tie:
    target, source = assign.targets[0], assign.expression
    assert isinstance(source, Read)
    if not isinstance(target, Read):  # which no constructor declares: it is the other's alone
        assert isinstance(target, Attribute)
        made = Read(target.object, target.name, PARAM)
        target.become(made)
        target = made
    return Tie(target, source)
