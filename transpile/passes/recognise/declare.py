"""What constructors set on self becomes declarations.

    self.w = nn.Parameter(v)                  Declare self.w = v, param
    self.register_buffer("h", v)              Declare self.h = v, buffer
    self.scale = torch.ones(3)                Declare self.scale = torch.ones(3), constant
    self.add_module("fc", nn.Linear(3, 4))    Declare self.fc = nn.Linear(3, 4), submodule
    self.a = self.b = nn.ReLU()               a Declare for each
    super().__init__()                        nothing, where it is that of nn.Module
    self.register_buffer("h", v)              self.h = v, while the model runs

Plain fields stay as they are. What is set under a computed name stays a call of setattr.
"""

from __future__ import annotations

from collections.abc import Callable

from ...facts.borrowed_params import is_lent
from ...facts.modules import SUBMODULE
from ...facts.values.joins import is_function
from ...facts.values.lattice import (
    NONE,
    NUMPY,
    UNKNOWN,
    Method,
    Module,
    Sequence,
    Static,
    Tensor,
    is_param,
)
from ...model.constants import is_constant
from ...model.copy import clone
from ...model.effects import BUFFER, CONSTANT, MIXED, PARAM, Declare, NewArray
from ...model.expressions import Attribute, Call, Constant, Display
from ...model.names import everywhere, in_scope, leaves, text
from ...model.node import Expression, Node
from ...model.operators import Compare, Conditional, sides
from ...model.program import Class, Function
from ...model.statements import Assign, ExpressionStatement
from .attribute_kinds import Kinds
from .context import Scene
from .registered import registered, set_while_running
from .split_targets import declared, named, pairs, split
from .stores import is_tie, own_name, registration


def declare(scene: Scene, kinds: Kinds) -> None:
    """Collect the declarations of one function."""
    function = scene.scope
    if isinstance(function, Class) and scene.project.is_module(function):
        _unmade(scene, kinds, function)
    if isinstance(function, Function) and not scene.building:
        for statement in function.nodes(ExpressionStatement):
            set_while_running(scene, statement)
        for assign in function.nodes(Assign) if scene.cls is not None else ():
            _emptied(scene, kinds, assign)
    if not isinstance(function, Function) or not scene.building:
        return
    stripped: set[Call] = set()
    if scene.cls is not None:
        if function.name == "__init__":  # before the statement that these come before is another
            _missing(scene, kinds, function, scene.cls)
        for assign in function.nodes(Assign):
            if _assign(scene, kinds, assign):
                stripped.update(_parameters(scene, assign.expression))
        for statement in function.nodes(ExpressionStatement):
            stripped.update(_parameters(scene, registered(scene, kinds, statement)))
    for call in function.nodes(Call):
        made = registration(call, scene.own) if scene.cls is not None else None
        if made is not None and not isinstance(call.parent, ExpressionStatement):
            scene.changes.unconverted("dynamic-attribute", call, _WITHIN)
        if scene.stages.is_parameter(call) and call.arguments:
            _parameter(scene, call, call in stripped or _is_stored(scene, call))


# --- assignments ---------------------------------------------------------------------------------


def _assign(scene: Scene, kinds: Kinds, assign: Assign) -> bool:
    """`self.a = v`; whether it is declared."""
    value = assign.expression
    if value is None or assign.operator:
        return False
    targets = [t for target in assign.targets for t in leaves(target)]
    if len(targets) == 1 and assign.targets == targets:
        kind = _kind(scene, kinds, targets[0], value)
        if kind is not None:
            held = scene.of(value)
            if kind == BUFFER and isinstance(held, Sequence) and is_param(held.element):
                scene.changes.unconverted("module-value", value, _PARAMS)
                return True
            here = _here(scene, kinds, value, kind)
            if kind == PARAM and is_lent(scene.values, value) and _may_be_none(scene, value):
                scene.changes.wrap(value, _if_there)
            scene.changes.become(assign, lambda a: _declaration(a, kind, here, kinds, scene.cls))
        return kind is not None
    wanted = [_kind(scene, kinds, t, v) for t, v in pairs(assign)]
    if not any(wanted):
        return False
    found = dict(zip(targets, wanted))
    scene.changes.change(assign, lambda a: split(scene, kinds, a, found))
    return True


_SNAPSHOT = (  # `self.w = self.net[0].weight`
    "this param of another module is kept as it begins, neither trained nor loaded: read it there"
)


def _kind(scene: Scene, kinds: Kinds, target: Expression, value: Expression) -> str | None:
    """What a target is declared as; None for what is no array or submodule of self."""
    name = own_name(target, scene.own)
    if name is None or scene.cls is None or is_tie(scene.values, value, scene.own):
        return None
    known, held = scene.of(value), scene.values.attribute(scene.cls, name)
    if isinstance(known, Module) and not known.is_self:
        return SUBMODULE
    part = isinstance(known, Method) and known.receiver == UNKNOWN  # `load().features`
    if kinds.is_wrapped(scene.cls, name):
        if part or known in (UNKNOWN, NONE) or is_function(known):
            return SUBMODULE
    made = known == UNKNOWN and isinstance(value, Call)  # `norm(n)` beside `nn.Sequential()`
    if (known == NONE or made) and isinstance(held, Module) and not held.is_self:
        return SUBMODULE
    kind = kinds.of(scene.cls, name)
    elsewhere = isinstance(value, Attribute) and own_name(value, scene.own) is None
    if kind == CONSTANT and elsewhere and is_param(known):
        if not known.buffer or _is_read_running(scene, name):  # type: ignore[attr-defined]
            scene.changes.report("tied-weight", value, _SNAPSHOT)
    numbers = isinstance(known, Static) and known != NONE
    begins = known == NUMPY and kind == PARAM  # of a param that follows
    return None if numbers and not begins and kind not in (BUFFER, "mixed") else kind


def _is_read_running(scene: Scene, name: str) -> bool:
    """Whether a model that runs reads an attribute of this name: one that others are built by, as
    the degrees of masked layers are, is as good as its beginning."""
    reads = (n for f in scene.stages.running for n in everywhere(f, Attribute))
    return any(n.name == name for n in reads)


def _may_be_none(scene: Scene, value: Expression) -> bool:
    return scene.values.may_be_none(value) is not False


def _if_there(value: Expression) -> Expression:
    """`layer.bias if layer.bias is not None else None`, of `layer = nn.Linear(4, 4, bias=bias)`"""
    none = Constant(None)
    none.value = NONE
    return Conditional(value, Compare([clone(value), clone(none)], ["is not"]), none)


def _declaration(assign: Assign, kind: str, here: str, kinds: Kinds, cls: Class | None) -> Declare:
    target, value = assign.targets[0], assign.expression
    assert isinstance(target, Attribute) and value is not None and cls is not None
    made = declared(target, value, kind, kinds, cls)
    made.here, made.annotation = here, assign.annotation
    return made.adopt()


def _here(scene: Scene, kinds: Kinds, value: Expression, kind: str) -> str:
    """The kind of what one way sets, of an attribute that is a param on some way."""
    if kind not in (PARAM, MIXED):
        return kind
    found = {_side(scene, kinds, side) for side in sides(value)}
    return found.pop() or kind if len(found) == 1 else kind


def _side(scene: Scene, kinds: Kinds, side: Expression) -> str:
    known = scene.of(side)
    if kinds.makes_parameter(side) or kinds.is_local_param(side):
        return PARAM
    if isinstance(known, Tensor) and not known.assumed:
        return PARAM if known.param and not known.buffer else CONSTANT
    return CONSTANT if isinstance(known, Static) and known != NONE else ""


# --- params --------------------------------------------------------------------------------------


def _parameters(scene: Scene, value: Expression | None) -> list[Call]:
    """The calls of nn.Parameter that a value is, on some way."""
    found = [value] if not isinstance(value, Display) else list(value.elements)
    made = [side for one in found for side in sides(one)]
    return [s for s in made if isinstance(s, Call) and scene.stages.is_parameter(s)]


def _is_stored(scene: Scene, call: Call) -> bool:
    """`self.fc.weight = nn.Parameter(v)`: the param of another module gets a value."""
    statement = call.parent
    if not isinstance(statement, Assign) or len(statement.targets) != 1:
        return False
    target = statement.targets[0]
    if not isinstance(target, Attribute) or own_name(target, scene.own) is not None:
        return False
    base = scene.of(target.object)
    return isinstance(base, Module) and not base.is_bare


def _parameter(scene: Scene, call: Call, declared: bool) -> None:
    """The value of `nn.Parameter(v)` where that is said otherwise, else an array that is made."""
    flag = call.keyword("requires_grad")
    if flag is not None and not is_constant(flag, True):
        known = isinstance(flag, Constant)
        trained = "not trained in torch" if known else f"trained in torch by {text(flag)}"
        where = "" if known else "where that is false, "
        message = f"this parameter is {trained}: {where}leave it out of what the optimizer updates"
        scene.changes.report("frozen-param", call, message)
    if declared:
        scene.changes.replace(call, _first)
    else:
        scene.changes.become(call, _array)


def _first(call: Call) -> Expression:
    given = zip(call.keywords, call.arguments)
    return next(a for w, a in given if w in (None, "data"))


_array: Callable[[Call], NewArray] = lambda call: NewArray(  # noqa: E731
    call.function, call.arguments, call.keywords, PARAM
)


def _emptied(scene: Scene, kinds: Kinds, assign: Assign) -> None:
    """Refuse to set a param to None while the model runs: it is no longer one of the model's."""
    for target, value in pairs(assign) if assign.expression is not None else ():
        name = own_name(target, scene.own)
        if name is not None and scene.cls is not None and scene.of(value) == NONE:
            if kinds.of(scene.cls, name) == PARAM:
                scene.changes.unconverted("dynamic-attribute", value, f"{text(target)} {_EMPTIED}")


_EMPTIED = (
    "is a param, and a built model keeps those it has: set it to None in the constructor, or build "
    "a model without it"
)
_WITHIN = (
    "what a function registers here is found under no name: call self.register_buffer, or set the "
    "attribute, where the constructor does"
)
_PARAMS = (
    "what is set anew later is state, and would begin with copies of these params: fetch them "
    "where they are read"
)
_UNMADE = (
    "is set while the model runs, and not in a constructor of this class: set it to None there"
)


def _unmade(scene: Scene, kinds: Kinds, cls: Class) -> None:
    """Report the buffers that forward passes make of a class without a constructor."""
    if "__init__" not in scene.project.methods(cls):
        for name in kinds.undeclared(cls):
            scene.changes.report("unsupported", cls, f"{cls.name}.{name} {_UNMADE}")


def _missing(scene: Scene, kinds: Kinds, function: Function, cls: Class) -> None:
    """Buffers that forward passes make begin as None, or as the class has them."""
    made = []
    for name in kinds.undeclared(cls):
        above = (scene.project.assigned(c) for c in scene.project.ancestors(cls))
        start = next((known[name] for known in above if name in known), None)
        if start is not None and not isinstance(start, Constant):
            scene.changes.report("unsupported", function, f"{cls.name}.{name} {_UNMADE}")
            continue
        first = Constant(None) if start is None else clone(start)
        first.value = NONE if start is None else start.value
        own = named(scene.own or "self", Module(frozenset([cls]), is_self=True))
        declared_ = Declare(Attribute(own, name), first, kinds.of(cls, name) or BUFFER, name)
        declared_.persistent = False
        made.append(declared_)
    if not made:
        return
    first_call = next((s for s in function.body.body if _calls_own(scene, cls, s)), None)
    if first_call is None:
        scene.changes.change(function.body, lambda body: body.append(made))
    else:  # `self.reset()`, which may give them values
        scene.changes.insert_before(first_call, made)


def _calls_own(scene: Scene, cls: Class, statement: Node) -> bool:
    """Whether a statement calls a method of the object's that the user wrote."""
    methods = {name for c in scene.project.ancestors(cls) for name in scene.project.methods(c)}
    return any(own_name(call.function, scene.own) in methods for call in in_scope(statement, Call))
