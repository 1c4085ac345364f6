"""Arrays and submodules that are registered by calls: `self.register_buffer("h", v)`."""

from ...facts.modules import SUBMODULE
from ...facts.values.calls import is_super
from ...facts.values.lattice import NONE, Module, Torch
from ...model.classes import PLAIN_MODULE
from ...model.effects import BUFFER, MIXED, PARAM, Declare, NewArray
from ...model.expressions import Attribute, Call, Name
from ...model.names import text
from ...model.node import Expression
from ...model.program import Class
from ...model.statements import Assign, ExpressionStatement
from .attribute_kinds import Kinds
from .context import Scene
from .split_targets import named
from .stores import ADDS, Registration, own_name, registration


def registered(scene: Scene, kinds: Kinds, statement: ExpressionStatement) -> Expression | None:
    """`self.register_buffer("h", v)` and the like; gives the value that is declared."""
    call = statement.expression
    if not isinstance(call, Call) or scene.cls is None:
        return None
    if _is_plain_constructor(scene, call, scene.cls):
        scene.changes.remove(statement)
        return None
    made = registration(call, scene.own, others=True)
    if made is not None and made.holder is not None:
        held = scene.of(made.holder)
        if isinstance(held, Module) and held.is_bare:
            _computed(scene, kinds, statement, made)
        return None
    if made is None:
        return None
    if made.text is not None and own_name(made.value, scene.own) == made.text:
        scene.changes.remove(statement)  # `self.register_parameter("w", self.w)`: it stands there
        return None
    if made.text is None or not made.text.isidentifier():
        _computed(scene, kinds, statement, made)
        return None
    kind = _registered_kind(scene, kinds, made, scene.cls)
    if kind is None:
        return None
    drawn = kinds.is_drawn(scene.cls, made.text)
    scene.changes.replace(statement, lambda s: _registered(scene, s, kind, drawn))
    return made.value


def set_while_running(scene: Scene, statement: ExpressionStatement) -> None:
    """`self.register_buffer("h", v)` in a forward pass sets `self.h`."""
    made = registration(statement.expression, scene.own)
    if made is None or made.method != "register_buffer" or not (made.text or "").isidentifier():
        return

    def assigned(statement: ExpressionStatement) -> Assign:
        again = registration(statement.expression, scene.own)
        assert again is not None and again.text is not None and scene.own is not None
        own = named(scene.own, Module(frozenset([scene.cls]), is_self=True))
        target = Attribute(own, again.text)
        target.value = again.value.value
        return Assign([target], again.value)

    scene.changes.replace(statement, assigned)


def _registered_kind(scene: Scene, kinds: Kinds, made: Registration, cls: Class) -> str | None:
    name = made.text
    assert name is not None
    if made.method in ADDS or isinstance(scene.of(made.value), Module):
        return SUBMODULE
    return kinds.of(cls, name)


def _registered(scene: Scene, statement: ExpressionStatement, kind: str, drawn: bool) -> Declare:
    """`self.h = v`, made of what the registration has become."""
    made = registration(statement.expression, scene.own)
    assert made is not None and made.text is not None and scene.own is not None
    own = named(scene.own, Module(frozenset([scene.cls]), is_self=True))
    target = Attribute(own, made.text)
    target.value = made.value.value
    declared = Declare(target, made.value, kind, made.text)
    declared.persistent, declared.drawn = made.persistent, drawn
    if kind in (PARAM, MIXED):
        declared.here = BUFFER if made.method == "register_buffer" else PARAM
    return declared


def _computed(
    scene: Scene, kinds: Kinds, statement: ExpressionStatement, made: Registration
) -> None:
    """`self.register_buffer(f"u{i}", v)` as `setattr(self, f"u{i}", NewArray(v))`; so is a local
    param, `setattr(self, name, w)`."""
    kind = {"register_buffer": BUFFER, "register_parameter": PARAM}.get(made.method)
    if made.method == "setattr":
        if not kinds.is_local_param(made.value):
            return
        kind = PARAM
    if kind == BUFFER and _is_param_too(scene, made):
        kind = MIXED

    def make(statement: ExpressionStatement) -> ExpressionStatement:
        again = registration(statement.expression, scene.own, others=True)
        assert again is not None and scene.own is not None
        value = again.value
        if kind is not None and scene.of(value) != NONE and not isinstance(value, NewArray):
            word = Name("Parameter" if kind == PARAM else "Buffer")
            value = NewArray(word, [value], None, kind)
            value.value = again.value.value
        own: Expression = named(scene.own, Module(frozenset([scene.cls]), is_self=True))
        held = own if again.holder is None else again.holder
        return ExpressionStatement(Call(Name("setattr"), [held, again.name, value]))

    scene.changes.replace(statement, make)


def _is_param_too(scene: Scene, made: Registration) -> bool:
    """Whether a method gives this name to a param on another way: `if lr: …register_parameter`."""
    others = (registration(c, scene.own, others=True) for c in scene.scope.nodes(Call))
    params = [o for o in others if o is not None and o.method == "register_parameter"]
    return any(text(one.name) == text(made.name) for one in params)


def _is_plain_constructor(scene: Scene, call: Call, cls: Class) -> bool:
    """`super().__init__()`, where that is the one of nn.Module."""
    function = call.function
    if not isinstance(function, Attribute) or function.name != "__init__":
        return False
    if is_super(function.object):
        return _is_last(scene, cls)
    base = scene.of(function.object)
    return isinstance(base, Torch) and base.name in PLAIN_MODULE


def _is_last(scene: Scene, cls: Class) -> bool:
    """Whether no class that comes after one has a constructor, in whatever class below it."""
    for one in (cls, *scene.project.descendants(cls)):
        order = scene.project.order(one)
        for base in order[order.index(cls) + 1 :]:
            if isinstance(base, Class):
                if "__init__" in scene.project.methods(base):
                    return False
            elif base not in PLAIN_MODULE and base not in ("object", "abc.ABC"):
                return False
    return True
