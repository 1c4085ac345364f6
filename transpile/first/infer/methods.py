"""Calls of methods: of tensors by the rules, of lists, dicts and numbers by what Python does."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import libcst as cst

from .. import tree
from ..project import ClassInfo
from ..values import (
    BACKWARD_CONTEXT,
    MISSING,
    NONE,
    NUMPY,
    PLACED,
    UNKNOWN,
    Class,
    Function,
    Instance,
    Mapping,
    Method,
    Module,
    Sequence,
    Static,
    Tensor,
    Value,
    both,
    classes_of,
    element_of,
    is_anything,
    join,
    sequence,
)
from . import functions, instances, modules
from .assignments import store
from .evidence import asks_modules, takes
from .frame import Argument, Env, Frame
from .torch_calls import overload, with_dims
from .vocabulary import MEANS, ORDINARY, SHARED, WALKS, plausible

_STRINGS = frozenset("format join lower upper title capitalize replace strip lstrip rstrip removeprefix removesuffix zfill ljust rjust center".split())  # methods that give a string
_COPIES = frozenset({"clone", "cpu", "cuda", "repeat", "repeat_interleave", "roll", "flip"})  # they keep the dtype, as views do
_CASTS = frozenset({"to", "type", "type_as"})
_LONGEST = 64  # of a list that is grown item by item


def call(frame: Frame, function: Method, args: list[Argument], node: cst.Call, env: Env) -> Value:
    """The result of a method, by what its receiver is."""
    by_receiver = _BY_RECEIVER.get(function.receiver.__class__, _of_tensor)
    return by_receiver(frame, function, args, node, env)


def _of_sequence(frame: Frame, function: Method, args: list[Argument], node: cst.Call, env: Env) -> Value:
    receiver, name = function.receiver, function.name
    assert isinstance(receiver, Sequence)
    target = node.func.value if isinstance(node.func, cst.Attribute) else None
    if name in ("append", "insert", "extend", "appendleft") and args:
        if target is not None:
            store(frame, target, _grown(receiver, name, args[-1].value), env)
        return NONE
    if name in ("pop", "popleft"):
        if target is not None and receiver.items is not None:
            store(frame, target, Sequence(receiver.element), env)
        return receiver.element
    if name in ("index", "count"):
        return Static(MISSING, "int")
    return receiver if name == "copy" else UNKNOWN


def _grown(old: Sequence, name: str, added: Value) -> Sequence:
    element = element_of(added) if name == "extend" else added
    before = None if old.items == () or (old.element == UNKNOWN and old.items is None) else old.element
    items = None
    if name == "append" and old.items is not None and len(old.items) < _LONGEST:
        items = (*old.items, element)
    begins = both(old, added if name == "extend" and isinstance(added, (Sequence, Module)) else sequence([element])) if name in ("append", "extend") else None
    return Sequence(join(before, element), items, False, begins if items is None else None)


def _of_mapping(frame: Frame, function: Method, args: list[Argument], node: cst.Call, env: Env) -> Value:
    receiver, name = function.receiver, function.name
    assert isinstance(receiver, Mapping)
    if name == "get":
        return join(receiver.element, args[1].value if len(args) > 1 else NONE)
    if name == "pop":
        return receiver.element
    if name in ("update", "setdefault") and args:
        return _filled(receiver, name, args, node, env, frame)
    if name == "values":
        return Sequence(receiver.element)
    if name == "items":
        return Sequence(sequence([Static(MISSING, "str"), receiver.element], True))
    if name == "keys":
        return Sequence(Static(MISSING, "str"))
    return receiver if name == "copy" else UNKNOWN


def _filled(receiver: Mapping, name: str, args: list[Argument], node: cst.Call, env: Env, frame: Frame) -> Value:
    """`d.update(a=x)`, `d.update({"a": x})` and `d.setdefault("a", x)`: the dict holds x too."""
    held: Value | None = receiver.element if receiver.element != UNKNOWN else None
    if name == "setdefault":
        given = [args[1].value] if len(args) > 1 else [NONE]
    else:
        given = [a.value.element if isinstance(a.value, Mapping) else UNKNOWN if a.keyword is None or a.star else a.value for a in args]
    for value in given:
        held = join(held, value)
    placed = receiver.placed or any(a.keyword in PLACED or isinstance(a.value, Mapping) and a.value.placed for a in args)
    if isinstance(node.func, cst.Attribute) and isinstance(node.func.value, cst.Name):
        store(frame, node.func.value, Mapping(held or UNKNOWN, placed), env)
    return NONE if name == "update" else held or UNKNOWN


def _of_static(frame: Frame, function: Method, args: list[Argument], node: cst.Call, env: Env) -> Value:
    receiver, name = function.receiver, function.name
    assert isinstance(receiver, Static)
    if receiver.type == "shape" and name == "numel" or receiver.type == "int" and name == "item":
        return Static(MISSING, "int")
    if receiver == NUMPY:
        return Sequence(UNKNOWN) if name == "tolist" else Static() if name == "item" else dataclasses.replace(NUMPY, wide=name in MEANS and not args)
    if receiver.type == "str" and name in _STRINGS:
        return Static(MISSING, "str")
    return Static() if receiver.type else UNKNOWN


def _of_tensor(frame: Frame, function: Method, args: list[Argument], node: cst.Call, env: Env) -> Value:
    """Of a tensor, or of an object that a method of this name may tell to be one."""
    receiver, name = function.receiver, function.name
    if is_anything(receiver) and name not in ORDINARY:
        _hand_over(frame, name, args)
    if not isinstance(receiver, Tensor) and frame.foreign:
        return UNKNOWN
    if isinstance(receiver, Tensor) and receiver.host and name not in ("item", "tolist"):
        return dataclasses.replace(receiver, kind=None)
    if receiver == UNKNOWN and name == "to_numpy":
        return NUMPY
    if receiver == UNKNOWN and name in WALKS and not args and not frame.facts.owners.get(name):  # nothing else has these
        frame.facts.set(node.func.value, Module(open=True))  # type: ignore[attr-defined]
        frame.facts.set(node.func, Method(Module(open=True), name))
        return modules.walked(Module(open=True), name)
    if name == "apply" and _takes_modules(frame, receiver, args):
        frame.facts.set(node.func.value, Module(open=True))  # type: ignore[attr-defined]
        return modules.call_method(frame, Method(Module(open=True), name), args, node, env)
    if instances.draws(frame.facts, function, node):
        return Tensor()
    rulebook, results = frame.facts.rulebook, frame.facts.results
    rules = rulebook.find("torch.Tensor." + name)
    if not rules and name.endswith("_"):
        rules = rulebook.find("torch.Tensor." + name[:-1])
    certain = isinstance(receiver, Tensor)
    if not certain or receiver == Tensor(assumed=True):
        positional = [a.value for a in args if a.keyword is None]
        if not plausible(name, positional) or rules and not name.endswith("_") and not any(takes(rule, node) for rule in rules):
            return UNKNOWN
    if rules and name == "item" and not args and frame.facts.on_host(frame.info):
        return Static()
    if rules and name in ("numpy", "tolist") and not args:
        return _of_the_host(frame, receiver, name)
    constructing = frame.info is None or frame.info.name == "__init__"
    if rules and (certain or _may_be_tensor(name, args, constructing)):
        rule = overload(rules, len(args) + 1, {a.keyword for a in args})
        sized = any(p.kind == "sizes" for other in rules for p in other.parameters) and all(isinstance(a.value, Static) for a in args)
        result = with_dims(frame, rule, rule.parameters[1:], args, receiver, sized)
        if name == "item" and isinstance(result, Tensor):
            result = dataclasses.replace(result, kind=receiver.kind if isinstance(receiver, Tensor) else None, number=True)
        if not certain and name in SHARED and isinstance(result, Tensor):
            return dataclasses.replace(result, assumed=True)  # a numpy array has it too
        return _of_mask(frame, receiver, name, args, results.cast(result, args))
    if certain:
        return Tensor(assumed=receiver.assumed)  # type: ignore[attr-defined]  # `env.reset()`, of whatever env is
    if name == "size":
        return Static(MISSING, "int" if args else "shape")
    return UNKNOWN


def _takes_modules(frame: Frame, receiver: Value, args: list[Argument]) -> bool:
    """Whether something unknown is a module, by what goes over it: `net.apply(init_func)`."""
    function = args[0].value if len(args) == 1 and is_anything(receiver) else None
    return isinstance(function, Function) and asks_modules(frame.facts, function.info)


def _hand_over(frame: Frame, name: str, args: list[Argument]) -> None:
    """Note what a call gives to the methods of this name, of the user's classes that are no modules: which object it is, is not known."""
    if any(a.star for a in args):
        return
    for cls in frame.facts.owners.get(name, ()):
        if not cls.is_module:
            method, table = cls.methods[name], frame.facts.handed.setdefault(cls.methods[name], {})
            names = [p.name.value for p in method.parameters()]
            for place, value in [(a.keyword or names[i], a.value) for i, a in enumerate(args) if a.keyword or i < len(names)]:
                frame.facts.note(table, place, value)


def _of_mask(frame: Frame, receiver: Value, name: str, args: list[Argument], result: Value) -> Value:
    """A view or copy of bytes is of bytes, one of bools of bools, and so is what is written in place: `mask.byte().detach()` is a mask where it is an index."""
    if not isinstance(receiver, Tensor) or receiver.kind not in ("u", "b") or not isinstance(result, Tensor) or result.kind is not None:
        return result
    casts = receiver.kind == "b" and name in _CASTS and not all(_is_device(a) for a in args)
    same = name in _COPIES or name.endswith("_") or name in frame.facts.rulebook.table("VIEWS") and not casts
    return dataclasses.replace(result, kind=receiver.kind) if same else result


def _is_device(argument: Argument) -> bool:
    """Whether an argument of a cast only says where the tensor is to be: `mask.to(x.device, non_blocking=True)`."""
    named = isinstance(argument.node, (cst.Name, cst.Attribute)) and (tree.dotted(argument.node) or "").endswith("device")
    return named or argument.value == Static(MISSING, "device") or argument.keyword in ("device", "non_blocking")


def _of_the_host(frame: Frame, receiver: Value, name: str) -> Value:
    """`x.numpy()` and `x.tolist()`: NumPy's array and Python's numbers, but where x is traced what stands for them are arrays."""
    if frame.facts.in_forward(frame.info) and isinstance(receiver, Tensor):
        return Tensor(kind=receiver.kind, host=True) if name == "numpy" else Sequence(Tensor(receiver.assumed, kind=receiver.kind, number=None))
    return NUMPY if name == "numpy" else Sequence(UNKNOWN)


def _may_be_tensor(name: str, args: list[Argument], constructing: bool) -> bool:
    """Whether a method of this name tells that an unknown receiver is a tensor."""
    if name in ("split", "sort", "index", "repeat"):
        first = args[0].value if args else None
        return any(a.keyword == "dim" for a in args) or isinstance(first, Static) and first.type == "int"
    return name not in ORDINARY and not (name in SHARED and constructing)


def _of_class(frame: Frame, function: Method, args: list[Argument], node: cst.Call, env: Env) -> Value:
    """`Round.apply(x)` of a torch.autograd.Function calls its forward; of a choice of Functions that of each."""
    assert isinstance(function.receiver, Class)
    forwards = [one.find("forward") for one in classes_of(function.receiver) if isinstance(one, ClassInfo)]
    given = [a._replace(value=UNKNOWN) if _holds_modules(a.value) else a for a in args]  # it gets them without params
    found: Value | None = None
    for forward in sorted((f for f in forwards if f is not None), key=lambda f: f.qualname):
        functions.bind_arguments(frame, forward, [Argument(None, "", BACKWARD_CONTEXT), *given])
        found = join(found, _taken_for_tensors(functions.result(frame, forward)))
    return UNKNOWN if found is None else found


def _holds_modules(value: Value) -> bool:
    return isinstance(value, Module) or isinstance(value, (Sequence, Mapping)) and _holds_modules(value.element)


def _taken_for_tensors(value: Value) -> Value:
    """What is not known of what a Function gives is a tensor: autograd takes nothing else."""
    if isinstance(value, Sequence):
        items = None if value.items is None else tuple(map(_taken_for_tensors, value.items))
        return dataclasses.replace(value, element=_taken_for_tensors(value.element), items=items)
    return Tensor(assumed=True) if value == UNKNOWN else value


_BY_RECEIVER: dict[type, Callable[[Frame, Method, list[Argument], cst.Call, Env], Value]] = {
    Module: modules.call_method,
    Class: _of_class,
    Instance: instances.call_method,
    Sequence: _of_sequence,
    Mapping: _of_mapping,
    Static: _of_static,
}
