"""What constructors make: instances of the user's classes, and torch's layers."""

import ast
import dataclasses
from collections.abc import Sequence
from typing import Any

from ...model import program
from ...model.node import Expression
from . import class_fields, containers, functions
from .call_flags import flags, usual_flags
from .class_values import makers_of
from .frame import Argument, Frame
from .joins import join
from .lattice import (
    UNKNOWN,
    Class,
    Instance,
    Module,
    Object,
    OneOf,
    Open,
    Static,
    Torch,
    Value,
    classes_of,
)

_OPTIONS = ("bias", "affine", "elementwise_affine")


def construct(frame: Frame, made: Class, args: list[Argument]) -> Value:
    """The instance that calling a class makes."""
    return _instance(frame, made.ref, args)


def _instance(frame: Frame, ref: Any, args: list[Argument]) -> Value:
    if isinstance(ref, Open):
        inner = _of_default(frame, ref.ref, args)
        if isinstance(inner, Module):
            return dataclasses.replace(inner, open=True, items=None, checked=ref.checked)
        return inner
    if isinstance(ref, OneOf):
        return _of_makers(frame, ref, args) if ref.makers else _of_several(frame, ref.classes, args)
    if isinstance(ref, str):
        return _of_partial(frame, ref)
    return _of_class(frame, ref, args) if isinstance(ref, program.Class) else UNKNOWN


def _of_partial(frame: Frame, name: str) -> Value:
    """The layer of torch's that a call of its partial makes; not known where the partial may have
    said that it writes in place, or what its calls return."""
    rulebook, results = frame.facts.rulebook, frame.facts.results
    definition = rulebook.layer(name)
    if definition is None or rulebook.wraps(definition):
        return UNKNOWN
    parameters = results.constructor(definition)
    usual = usual_flags(parameters)
    said = results.deciding(definition, frozenset((n, not value) for n, value in usual.items()))
    plain = not said and all(p.name != "inplace" for p in parameters)
    return Module(frozenset([name])) if plain else UNKNOWN


def _of_default(frame: Frame, ref: Any, args: list[Argument]) -> Value:
    """What the default of a parameter makes, in the place of which others may be given."""
    if isinstance(ref, str):
        return Module(frozenset([ref]), inplace=inplace(args, _limit(frame, ref)))
    return _instance(frame, ref, args)


def _of_makers(frame: Frame, ref: OneOf, args: list[Argument]) -> Value:
    """What one of several classes or functions makes, if all of those make modules."""
    made = _of_several(frame, ref.classes, args)
    for maker in makers_of(Class(ref)):
        found = functions.call(frame, maker, args)
        made = join(made, found) if isinstance(found, Module) else UNKNOWN
    return made


def _of_several(frame: Frame, classes: frozenset[Any], args: list[Argument]) -> Value:
    """An instance of one of several classes, each of which may be given the arguments."""
    rulebook, project = frame.facts.rulebook, frame.facts.project
    layers = [rulebook.layer(one) if isinstance(one, str) else None for one in classes]
    drawing = [d.name for d in layers if d is not None and d.name in rulebook.drawing]
    if drawing:
        return Instance(frozenset(drawing)) if len(drawing) == len(classes) else UNKNOWN
    made = [
        layer is not None if isinstance(one, str) else project.is_module(one)
        for one, layer in zip(classes, layers)
    ]
    for one in classes:
        if not isinstance(one, str):
            _of_class(frame, one, args)
    writes = {inplace(args, _limit(frame, one)) for one in classes}
    if all(made):
        return Module(classes, inplace=writes.pop() if len(writes) == 1 else None)
    return Module(open=True) if any(made) else UNKNOWN


def _of_class(frame: Frame, ref: program.Class, args: list[Argument]) -> Value:
    facts = frame.facts
    constructor = facts.project.find(ref, "__init__")
    if constructor is not None:
        functions.bind_arguments(frame, constructor, args)
        functions.note_call(frame, constructor)
    if not facts.project.is_module(ref):
        if constructor is None:
            class_fields.note(frame, ref, args)
        return Object(ref) if facts.project.is_plain(ref) else UNKNOWN
    if constructor is None:
        containers.fill_own(frame, ref, args)
    return Module(frozenset([ref]), element=facts.contents(ref))


def fill(frame: Frame, made: Class, args: list[Argument]) -> None:
    """Note what a partial of a class gives by name for all that it makes: what it gives by place
    stands before what its calls give."""
    words = [a for a in args if a.keyword]
    for ref in classes_of(made):
        if isinstance(ref, program.Class):
            if constructor := frame.facts.project.find(ref, "__init__"):
                functions.bind_arguments(frame, constructor, words)


def layer(frame: Frame, name: str, definition: Any, args: list[Argument]) -> Value:
    """The torch layer that a constructor makes."""
    parameters = frame.facts.results.constructor(definition)
    made = Module(
        frozenset([name]),
        inplace=inplace(args, _limit(frame, name)),
        whole=_whole(parameters, args),
        still=_still(parameters, args),
        flags=frame.facts.results.deciding(definition, flags(parameters, args)),
    )
    if frame.facts.rulebook.wraps(definition):
        return dataclasses.replace(made, element=_wrapped(args))
    return containers.filled(frame, made, args, definition.name)


def variant(frame: Frame, named: Expression, name: str, args: list[Argument]) -> str:
    """The name of the layer that arguments ask for, which is what has been `named`: one that keeps
    running statistics is another, `InstanceNorm1d[track_running_stats]`."""
    rulebook = frame.facts.rulebook
    for parameter, other in rulebook.variants.get(name, ()):
        (definition,) = rulebook.find(other)
        if not _is_usual(frame.facts.results.constructor(definition), parameter, args):
            frame.facts.put(named, Torch(other))
            return other
    return name


def _is_usual(parameters: Sequence[Any], name: str, args: list[Argument]) -> bool:
    """Whether a parameter has its default, given or not."""
    if any(a.star for a in args):
        return False
    place = next((i for i, p in enumerate(parameters) if p.name == name), None)
    given = [a.value for i, a in enumerate(args) if (a.keyword or i) in (name, place)]
    if not given or place is None:
        return place is not None
    usual, (value, *_) = parameters[place].default, given
    known = isinstance(value, Static) and not value.loose and isinstance(usual, ast.Constant)
    return known and value.const == usual.value  # type: ignore[attr-defined]


def _wrapped(args: list[Argument]) -> Module:
    """The layer that another one stands for: `weight_norm(conv)`."""
    given = [
        a.value for i, a in enumerate(args) if a.keyword == "module" or not a.keyword and not i
    ]
    return given[0] if given and isinstance(given[0], Module) else Module(open=True)


def _still(parameters: Sequence[Any], args: list[Argument]) -> bool:
    """Whether a layer that may draw, as `nn.LSTM` does, is made without: `dropout=0.0`."""
    usual = next((p.default for p in parameters if p.name == "dropout"), None)
    without = isinstance(usual, ast.Constant) and usual.value == 0
    return without and _is_usual(parameters, "dropout", args)


def _whole(parameters: Sequence[Any], args: list[Argument]) -> bool:
    """Whether a layer has every param that it may leave out: `bias` and `affine` are True."""
    if any(a.star for a in args):
        return False
    given = {
        a.keyword or parameters[i].name: a.value
        for i, a in enumerate(args)
        if a.keyword is not None or i < len(parameters)
    }
    for p in parameters:
        if p.name in _OPTIONS:
            value = given.get(p.name)
            default = p.default.value if isinstance(p.default, ast.Constant) else None
            stated = value.const if isinstance(value, Static) else None
            if (default if value is None else stated) is not True:
                return False
    return True


def _limit(frame: Frame, ref: Any) -> int | None:
    """How many arguments a layer of torch's takes by place before `inplace`; None of others."""
    rulebook = frame.facts.rulebook
    definition = rulebook.layer(ref) if isinstance(ref, str) else None
    if definition is None:
        return None
    return sum(1 for p in frame.facts.results.constructor(definition) if p.kind == "positional")


def inplace(args: list[Argument], limit: int | None = None) -> bool | None:
    """Whether a layer is made to write its argument: `inplace=True`, or True where it is last.

    None for `inplace=flag`.
    """
    for i, (keyword, _, value, _) in enumerate(args):
        last = keyword is None and limit is not None and i >= limit
        if keyword == "inplace" or last and isinstance(value, Static) and value.type == "bool":
            known = isinstance(value, Static) and isinstance(value.const, bool)
            return value.const if known else None  # type: ignore[attr-defined]
    return False


def class_of(frame: Frame, module: Value) -> Value:
    """`type(layer)`, `self.__class__`: the class that makes others like it."""
    refs = list(module.classes) if isinstance(module, Module) and not module.open else []
    own = [ref for ref in refs if isinstance(ref, program.Class)]
    if len(refs) != 1 or any(d not in own for r in own for d in frame.facts.project.descendants(r)):
        return Static()
    return Class(refs[0])
