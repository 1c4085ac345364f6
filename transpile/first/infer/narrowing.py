"""What a test says of names on either side of it: `x is None`, `isinstance(x, PackedSequence)`."""

from __future__ import annotations

import dataclasses
from typing import Any

import libcst as cst

from .. import tree
from ..project import ClassInfo
from ..values import (
    MISSING,
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
from .frame import Env, Frame

_NUMBERS = frozenset({"builtins.int", "builtins.float", "builtins.bool"})  # where no array stands for one


def narrow(frame: Frame, test: Any, then: Env, other: Env) -> None:
    """Set in `then` what holds where the test does, and in `other` what holds where it does not; the test has been interpreted."""
    if isinstance(test, cst.Comparison):
        _narrow_none(test, then, other)
        _narrow_type(frame, test, then)
    elif isinstance(test, cst.Call):
        _narrow_instance(frame, test, then)
        _narrow_list(frame, test, other)
        _narrow_number(frame, test, other)
    elif isinstance(test, cst.Name):
        _narrow_by_name(frame, test, then, other)
    elif isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        narrow(frame, test.expression, other, then)
    elif isinstance(test, cst.BooleanOperation):
        holds, fails = (then, dict(other)) if isinstance(test.operator, cst.And) else (dict(then), other)
        for part in (test.left, test.right):
            narrow(frame, part, holds, fails)


def restore(before: Env, then: Env, env: Env, node: cst.CSTNode) -> None:
    """After an `if` both of whose ways lead on, what a test said of a name that neither way sets holds no longer."""
    narrowed = [name for name, value in before.items() if then.get(name) is not value]
    assigned = set(tree.names_assigned(node)) if narrowed else ()
    env.update({name: before[name] for name in narrowed if name not in assigned})


def _narrow_none(test: cst.Comparison, then: Env, other: Env) -> None:
    if len(test.comparisons) != 1 or not isinstance(test.left, cst.Name):
        return
    target, name = test.comparisons[0], test.left.value
    if not isinstance(target.comparator, cst.Name) or target.comparator.value != "None" or name not in then:
        return
    value = then[name]
    if isinstance(value, (Tensor, Module)):
        some = dataclasses.replace(value, none=False)
        if isinstance(target.operator, cst.Is):
            other[name] = some
        elif isinstance(target.operator, cst.IsNot):
            then[name] = some


def _narrow_type(frame: Frame, test: cst.Comparison, then: Env) -> None:
    """`type(x) is PackedSequence`"""
    left: Any = test.left
    if len(test.comparisons) != 1 or not isinstance(left, cst.Call) or tree.dotted(left.func) != "type" or len(left.args) != 1:
        return
    target = test.comparisons[0]
    if isinstance(target.operator, (cst.Is, cst.Equal)):
        _narrow_to(frame, left.args[0].value, [target.comparator], then)


def _narrow_instance(frame: Frame, test: cst.Call, then: Env) -> None:
    if frame.facts.of(test.func) == External("builtins.isinstance") and len(test.args) == 2:
        kinds: Any = test.args[1].value
        _narrow_to(frame, test.args[0].value, [e.value for e in kinds.elements] if isinstance(kinds, (cst.Tuple, cst.List)) else [kinds], then)


def _narrow_list(frame: Frame, test: cst.Call, other: Env) -> None:
    """Where a list would be none, `if not isinstance(nets, list): nets = [nets]`, the name stands for one of its items: a list of these is as before."""
    if frame.facts.of(test.func) != External("builtins.isinstance") or len(test.args) != 2:
        return
    subject, kinds = test.args[0].value, test.args[1].value
    asked = [e.value for e in kinds.elements] if isinstance(kinds, (cst.Tuple, cst.List)) else [kinds]
    known = other.get(subject.value) if isinstance(subject, cst.Name) else None
    if isinstance(known, Sequence) and External("builtins.tuple" if known.tuple else "builtins.list") in map(frame.facts.of, asked):
        other[subject.value] = known.element  # type: ignore[attr-defined]


def _narrow_number(frame: Frame, test: cst.Call, other: Env) -> None:
    """What is no tensor may still be a number, which is an array here: `if torch.is_tensor(v): v = v.item()`."""
    function = frame.facts.of(test.func)
    of_tensors = (
        function == Torch("torch.is_tensor")
        or function == External("builtins.isinstance")
        and len(test.args) == 2
        and frame.facts.of(test.args[1].value) == Torch("torch.Tensor")
    )
    subject: Any = test.args[0].value if of_tensors and test.args else None
    known = other.get(subject.value) if isinstance(subject, cst.Name) else None
    if isinstance(known, Tensor):
        other[subject.value] = dataclasses.replace(known, number=True)


def _narrow_to(frame: Frame, subject: Any, kinds: list[Any], then: Env) -> None:
    """Of a name that was taken for a tensor it is known now that it is something else."""
    if not isinstance(subject, cst.Name) or subject.value not in then:
        return
    value, found = then[subject.value], [_instance(frame, frame.facts.of(k)) for k in kinds]
    if not isinstance(value, Tensor) and not is_anything(value):
        return
    if UNKNOWN in found:  # a tensor is one of several things, at most
        then[subject.value] = UNKNOWN
    elif len(set(found)) == 1 and found[0] is not None:
        then[subject.value] = found[0]
    elif all(isinstance(v, Static) for v in found):
        then[subject.value] = Static()


def _instance(frame: Frame, kind: Value) -> Value | None:
    """What is known of the instances of a class that has nothing to do with tensors or modules; None for any other."""
    if isinstance(kind, Torch):
        layer = frame.facts.rulebook.layer(kind.name)
        return UNKNOWN if layer is not None and not frame.facts.rulebook.is_module(layer) else None
    if isinstance(kind, Class) and isinstance(kind.ref, ClassInfo):
        bases = [b for c in kind.ref.ancestors() for b in c.bases if isinstance(b, str)]
        return None if kind.ref.is_module or any(b.startswith("torch.") for b in bases) else UNKNOWN
    if kind == External("builtins.dict"):
        return Mapping(Tensor(assumed=True))
    if isinstance(kind, External) and (kind.name == "builtins.str" or kind.name in _NUMBERS and frame.facts.on_host(frame.info)):
        return Static(MISSING, kind.name.removeprefix("builtins."))
    return None


def _narrow_by_name(frame: Frame, test: cst.Name, then: Env, other: Env) -> None:
    """`packed = isinstance(x, PackedSequence)`, where neither name is set again."""
    body = frame.info.node.body if frame.info is not None else None
    if body is None or test.value not in tree.bound_once(body):
        return
    assigned = set(tree.names_assigned(body))
    for node in tree.scope_nodes(body, cst.Assign):
        if tree.names_assigned(node) == [test.value] and isinstance(node.value, cst.Call):
            if node.value.args and isinstance(node.value.args[0].value, cst.Name) and node.value.args[0].value.value not in assigned:
                narrow(frame, node.value, then, other)
