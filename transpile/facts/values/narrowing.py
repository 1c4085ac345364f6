"""What a test says of names on either side of it: `x is None`, `isinstance(x, PackedSequence)`."""

import dataclasses
from typing import Any

from ...model import program
from ...model.constants import is_none
from ...model.expressions import Call, Constant, Display, Name
from ...model.names import bound_once, dotted, in_scope, names_assigned, target_names
from ...model.node import Expression
from ...model.operators import Boolean, Compare, Unary
from ...model.statements import Assign
from .frame import Env, Frame
from .lattice import (
    MISSING,
    NONE,
    UNKNOWN,
    Class,
    External,
    Mapping,
    Module,
    Sequence,
    Static,
    Tensor,
    Torch,
    Value,
    is_anything,
)

_ISINSTANCE = External("builtins.isinstance")
_NUMBERS = frozenset({"builtins.int", "builtins.float", "builtins.bool"})  # no array stands for one


def narrow(frame: Frame, test: Expression, then: Env, other: Env) -> None:
    """Set in `then` what holds where the test does, in `other` what holds where it does not."""
    if isinstance(test, Compare):
        if len(test.operators) == 1:
            _by_none(test, then, other)
            _by_type(frame, test, then)
    elif isinstance(test, Call):
        _by_call(frame, test, then, other)
    elif isinstance(test, Name):
        _by_name(frame, test, then, other)
    elif isinstance(test, Unary) and test.operator == "not":
        narrow(frame, test.operand, other, then)
    elif isinstance(test, Boolean):
        holds, fails = (then, dict(other)) if test.operator == "and" else (dict(then), other)
        for part in (test.left, test.right):
            narrow(frame, part, holds, fails)


def of_none(test: Expression, env: Env) -> bool | None:
    """What `x is None` and `x is not None` give where x is None; None of other tests."""
    if not isinstance(test, Compare) or test.operators not in (["is"], ["is not"]):
        return None
    left, right = test.operands
    told = isinstance(left, Name) and env.get(left.id) == NONE and is_none(right)
    return test.operators == ["is"] if told else None


def _by_none(test: Compare, then: Env, other: Env) -> None:
    left, right = test.operands
    if not isinstance(left, Name) or not isinstance(right, Constant) or right.constant is not None:
        return
    value = then.get(left.id)
    if value == UNKNOWN or isinstance(value, (Sequence, Mapping)):  # which None is merged into
        if test.operators[0] in ("is", "is not"):
            (then if test.operators[0] == "is" else other)[left.id] = NONE
    elif isinstance(value, (Tensor, Module)):
        some = dataclasses.replace(value, none=False) if value.none else value
        if test.operators[0] == "is":
            other[left.id] = some
        elif test.operators[0] == "is not":
            then[left.id] = some


def _by_type(frame: Frame, test: Compare, then: Env) -> None:
    """`type(x) is PackedSequence`"""
    left, right = test.operands
    if not isinstance(left, Call) or dotted(left.function) != "type" or len(left.arguments) != 1:
        return
    if test.operators[0] in ("is", "=="):
        _to_kinds(frame, left.arguments[0], [right], then)


def _by_call(frame: Frame, test: Call, then: Env, other: Env) -> None:
    """`isinstance(x, (list, tuple))`, `torch.is_tensor(x)`"""
    function = frame.facts.of(test.function)
    if function == _ISINSTANCE and len(test.arguments) == 2:
        subject, asked = test.arguments
        kinds = _kinds(asked)
        _to_kinds(frame, subject, kinds, then)
        _without_classes(frame, subject, kinds, other)
        _without_list(frame, subject, kinds, other)
        if frame.facts.of(asked) == Torch("torch.Tensor"):
            _without_tensor(subject, other)
    elif function == Torch("torch.is_tensor") and test.arguments:
        _without_tensor(test.arguments[0], other)


def _kinds(asked: Expression) -> list[Expression]:
    listed = isinstance(asked, Display) and asked.kind != "set"
    return asked.elements if listed else [asked]  # type: ignore[attr-defined]


def _without_list(frame: Frame, subject: Expression, kinds: list[Expression], other: Env) -> None:
    """Where a list would be none, `if not isinstance(nets, list): nets = [nets]`, it is an item."""
    known = other.get(subject.id) if isinstance(subject, Name) else None
    if isinstance(known, Sequence):
        kind = External("builtins.tuple" if known.tuple else "builtins.list")
        if kind in map(frame.facts.of, kinds):
            other[subject.id] = known.element  # type: ignore[attr-defined]


def _without_tensor(subject: Expression, other: Env) -> None:
    """What is no tensor may still be a number, which is an array here."""
    known = other.get(subject.id) if isinstance(subject, Name) else None
    if isinstance(known, Tensor):
        other[subject.id] = dataclasses.replace(known, number=True)  # type: ignore[attr-defined]


def _to_kinds(frame: Frame, subject: Expression, kinds: list[Expression], then: Env) -> None:
    """Of a name that was taken for a tensor it is known now that it is something else."""
    if not isinstance(subject, Name) or subject.id not in then:
        return
    value = then[subject.id]
    if isinstance(value, Module) and value.open and not value.is_self:
        then[subject.id] = _of_classes(frame, value, kinds)
        return
    if isinstance(value, Module) and not value.is_self:
        kept = _instances(frame, value, kinds)
        then[subject.id] = dataclasses.replace(value, classes=kept) if kept else value
        return
    if not isinstance(value, Tensor) and not is_anything(value):
        return
    found = [_instance(frame, frame.facts.of(k)) for k in kinds]
    if UNKNOWN in found:  # a tensor is one of several things, at most
        then[subject.id] = UNKNOWN
    elif len(set(found)) == 1 and found[0] is not None:
        then[subject.id] = found[0]
    elif all(isinstance(v, Static) for v in found):
        then[subject.id] = Static()


def _of_classes(frame: Frame, value: Module, kinds: list[Expression]) -> Module:
    """What a walk over modules of any class meets, where it asks for the user's: `m.fc.weight` of a
    Block."""
    found = [frame.facts.of(kind) for kind in kinds]
    refs = [k.ref for k in found if isinstance(k, Class) and isinstance(k.ref, program.Class)]
    if len(refs) < len(kinds) or not all(map(frame.facts.project.is_module, refs)):
        return value
    return Module(frozenset(refs))


def _instances(frame: Frame, value: Module, kinds: list[Expression]) -> frozenset[Any]:
    """Those of the classes of a module that are among the kinds, or may be: `l` is a Masked where
    `isinstance(l, Masked)` is asked of a Masked or a ReLU. Nothing where a kind is not known."""
    project, kept = frame.facts.project, set[Any]()
    for kind in map(frame.facts.of, kinds):
        if isinstance(kind, Torch):
            kept |= {c for c in value.classes if _may_be(project, c, kind.name)}
        elif isinstance(kind, Class) and isinstance(kind.ref, program.Class):
            above = {*project.ancestors(kind.ref), *project.foreign_bases(kind.ref)}
            kept |= {c for c in value.classes if _extends(project, c, kind.ref)}
            kept |= {kind.ref} if above & value.classes else set()
        else:
            return frozenset()
    return frozenset(kept)


def _extends(project: Any, ref: Any, cls: program.Class) -> bool:
    return isinstance(ref, program.Class) and cls in project.ancestors(ref)


def _may_be(project: Any, ref: Any, layer: str) -> bool:
    """Whether a module may be a layer of torch's; these have classes of their own above them."""
    if not isinstance(ref, program.Class) or layer == "torch.nn.Module":
        return True
    classes = (ref, *project.descendants(ref))
    return any(b != "torch.nn.Module" for c in classes for b in project.foreign_bases(c))


def _without_classes(
    frame: Frame, subject: Expression, kinds: list[Expression], other: Env
) -> None:
    """What a module is not, it is not of the classes that are below that."""
    value = other.get(subject.id) if isinstance(subject, Name) else None
    if not isinstance(value, Module) or value.open or value.is_self:
        return
    project, found = frame.facts.project, list(map(frame.facts.of, kinds))
    gone = {k.name for k in found if isinstance(k, Torch)}
    asked = [k.ref for k in found if isinstance(k, Class) and isinstance(k.ref, program.Class)]
    gone |= {c for c in value.classes for k in asked if _extends(project, c, k)}
    if kept := value.classes - gone:
        other[subject.id] = dataclasses.replace(value, classes=kept)  # type: ignore[attr-defined]


def _instance(frame: Frame, kind: Value) -> Value | None:
    """The instances of a class that has nothing to do with tensors; None for any other class."""
    rulebook, project = frame.facts.rulebook, frame.facts.project
    if isinstance(kind, Torch):
        layer = rulebook.layer(kind.name)
        return UNKNOWN if layer is not None and not rulebook.is_module(layer) else None
    if isinstance(kind, Class) and isinstance(kind.ref, program.Class):
        bases = project.foreign_bases(kind.ref)
        torch = project.is_module(kind.ref) or any(b.startswith("torch.") for b in bases)
        return None if torch else UNKNOWN
    if kind == External("builtins.dict"):
        return Mapping(Tensor(assumed=True))
    if isinstance(kind, External):
        number = kind.name in _NUMBERS and frame.facts.on_host(frame.function)
        if kind.name == "builtins.str" or number:
            return Static(MISSING, kind.name.removeprefix("builtins."))
    return None


def _by_name(frame: Frame, test: Name, then: Env, other: Env) -> None:
    """`packed = isinstance(x, PackedSequence)`, where neither name is set again."""
    for call in _tests(frame).get(test.id, ()):
        narrow(frame, call, then, other)


def _tests(frame: Frame) -> dict[str, list[Call]]:
    """The calls that names of a function stand for, of arguments that nothing sets."""
    function, memory = frame.function, frame.facts.memory
    if function is None:
        return {}
    found: Any = memory.get(("tests", function))
    if found is None:
        found = memory["tests", function] = {}
        once, assigned = bound_once(function), set(names_assigned(function.body))
        for node in in_scope(function.body, Assign):
            names = [name for target in node.targets for name in target_names(target)]
            made = node.expression
            if len(names) == 1 and names[0] in once and isinstance(made, Call) and made.arguments:
                first = made.arguments[0]
                if isinstance(first, Name) and first.id not in assigned:
                    found.setdefault(names[0], []).append(made)
    return found  # type: ignore[no-any-return]
