"""What the parameters of a function are when its body begins: by annotations, defaults, calls and what it does with them."""

from __future__ import annotations

import dataclasses
from typing import Any

import libcst as cst

from .. import tree
from ..values import (
    ARRAY_TYPE,
    BACKWARD_CONTEXT,
    FUNCTION,
    MISSING,
    NONE,
    NUMPY,
    PLACED,
    UNKNOWN,
    Class,
    External,
    Function,
    Mapping,
    Module,
    Sequence,
    Static,
    Tensor,
    Torch,
    Value,
    is_anything,
    join,
    least_dims,
)
from .annotations import annotated
from .evidence import gone_over_for_dicts, is_asked, may_be_numpy, used_as_dicts, used_as_tensors, with_dims
from .frame import Env, Frame
from .numpy_names import is_bound_to_numpy

_PLACES = frozenset({"cuda", "cpu", "to", "half", "bfloat16", "double", "float", "eval", "train", "requires_grad_"})  # methods of modules that give the module


def bound(frame: Frame) -> Env:
    """The names of a function when its body begins."""
    info = frame.info
    assert info is not None
    env: Env = {}
    if info.takes_self and info.owner is not None and info.self_name:
        env[info.self_name] = _self(frame)
    known = frame.facts.known_parameters(info)
    evidence, dicts, loaders = used_as_tensors(frame.facts, info), used_as_dicts(frame.facts, info), gone_over_for_dicts(info)
    for parameter in info.parameters():
        name = parameter.name.value
        given = _given(frame, name, known.get(name))
        numpy = given == NUMPY or is_bound_to_numpy(frame.facts, info, parameter, UNKNOWN)
        env[name] = _parameter(frame, parameter, given, name in evidence and not (numpy and may_be_numpy(frame.facts, info, name)))
        if name in dicts and is_anything(env[name]):
            env[name] = Mapping(Tensor(assumed=True))
        elif name in loaders and is_anything(env[name]):
            env[name] = UNKNOWN
        if not _constructs(frame) and is_bound_to_numpy(frame.facts, info, parameter, env[name]):
            env[name] = NUMPY
    shown, forward = with_dims(info), info.owner is not None and info.owner.is_module and info.name == "forward"
    env.update({name: dataclasses.replace(value, dims=max(value.dims, shown.get(name, 0), int(forward))) for name, value in env.items() if isinstance(value, Tensor)})
    if (context := _context(frame)) is not None:
        env[context] = BACKWARD_CONTEXT
    p = info.node.params
    if isinstance(p.star_arg, cst.Param):
        unseen = UNKNOWN if _constructs(frame) or frame.foreign else Tensor(assumed=True)
        env[p.star_arg.name.value] = Sequence(known.get("*") or unseen, None, True)
    if p.star_kwarg is not None:
        env[p.star_kwarg.name.value] = Mapping(placed=any(f"**{word}" in known for word in PLACED))
    return env


def _given(frame: Frame, name: str, seen: Value | None) -> Value | None:
    """What calls give for a parameter; of those that only may mean this method, arrays of NumPy's alone."""
    assert frame.info is not None
    handed = frame.facts.handed_over(frame.info, name)
    return NUMPY if handed == NUMPY and seen is None and not is_asked(frame.info, name) else seen


def _context(frame: Frame) -> str | None:
    """The name of the ctx that forward and backward of a torch.autograd.Function take."""
    info = frame.info
    if info is None or info.owner is None or not info.is_static or info.name not in ("forward", "backward", "setup_context"):
        return None
    names = [p.name.value for p in info.parameters()] if info.owner.is_autograd_function else []
    return names[0] if names else None


def _self(frame: Frame) -> Value:
    assert frame.info is not None and frame.info.owner is not None
    owner = frame.info.owner
    if frame.info.is_classmethod:
        return Class(owner)
    if owner.is_module:
        return Module(frozenset([owner]), is_self=True)
    return External(f"self:{owner.name}")


def _constructs(frame: Frame) -> bool:
    assert frame.info is not None
    return frame.info.name in ("__init__", "__new__")


def _parameter(frame: Frame, parameter: cst.Param, seen: Value | None, as_tensor: bool) -> Value:
    default = frame.expression(parameter.default, {}) if parameter.default is not None else None
    declared = annotated(frame, parameter.annotation.annotation) if parameter.annotation is not None else None
    if declared is not None and not _is_meant_as_class(frame, declared, default, seen):
        return join(declared, NONE) if default == NONE else declared
    if default is not None and default != NONE:
        return _with_default(frame, default, seen, as_tensor)
    if _constructs(frame):
        return Module(open=True) if seen is None and _is_cast_and_called(frame, parameter.name.value) else _of_constructor(seen)
    stranger = frame.module in frame.facts.strangers and not isinstance(seen, Tensor)  # a file without torch, and no tensor is given
    value = _as_given(seen, UNKNOWN) if stranger else _of_function(seen, as_tensor)
    return join(value, NONE) if default == NONE else value


def _is_cast_and_called(frame: Frame, name: str) -> bool:
    """Whether a constructor puts what it is given somewhere, `self.net = net.to(device).eval()`, `net.half()`, and methods call it: a function has no such methods."""
    info, cls = frame.info, frame.cls
    if info is None or cls is None or not cls.is_module:
        return False
    for call in tree.nodes(info.node.body, cst.Call):
        if tree.dotted(call.func) == f"{info.self_name}.add_module" and len(call.args) == 2 and _is_cast_of(call.args[1].value, name):
            return True
    assigned = [a for a in tree.nodes(info.node.body, cst.Assign) if _is_cast_of(a.value, name) or tree.dotted(a.value) == name]
    kept = [(a, t) for a in assigned for t in (tree.code(t.target) for t in a.targets) if t.startswith(f"{info.self_name}.") and (cls, t.partition(".")[2]) in frame.facts.wrapped]
    if not kept:
        return False
    named = {name, *(t for _, t in kept)}  # `net.eval()` or `self.net.eval()` as a statement: what is no module gives another here, which nobody takes
    return any(_is_cast_of(a.value, name) for a, _ in kept) or any(_is_cast_of(n.value, one) for n in tree.nodes(info.node.body, cst.Expr) for one in named)


def _is_cast_of(value: Any, name: str) -> bool:
    """`net.to(device).eval()` of this name."""
    asked = isinstance(value, cst.Call)
    while isinstance(value, cst.Call) and isinstance(value.func, cst.Attribute) and value.func.attr.value in _PLACES:
        value = value.func.value
    return asked and tree.dotted(value) == name


def _is_meant_as_class(frame: Frame, declared: Value, default: Value | None, seen: Value | None) -> bool:
    """Whether an annotation says module where classes of modules are given: `act_layer: nn.Module = nn.ReLU`."""
    given = seen if default is None or default == NONE else default
    return isinstance(declared, Module) and given is not None and (isinstance(given, Class) or frame.facts.makes_modules(given))


def _with_default(frame: Frame, default: Value, seen: Value | None, as_tensor: bool) -> Value:
    """A parameter is of the kind of its default, whatever else of the kind calls give it."""
    if isinstance(default, Static):
        value: Value = Static(MISSING, default.type, loose=True) if seen is None or isinstance(seen, Static) else Static()
    else:
        value = of_kind(frame, default)
    if value == FUNCTION:
        plain = seen is None or seen == FUNCTION or isinstance(seen, Function) or isinstance(seen, Torch) and of_kind(frame, seen) == FUNCTION
        return FUNCTION if plain else UNKNOWN
    if isinstance(default, (Torch, Class, Module, Function)):
        return value
    if seen is not None and not isinstance(seen, Static):
        value = join(value, seen)
    if isinstance(value, Static) and as_tensor and not _constructs(frame) and frame.module not in frame.facts.strangers:
        return Tensor()
    return value


def of_kind(frame: Frame, default: Value) -> Value:
    """What may be given where a default stands: another function, another layer, other numbers, also in lists and dicts."""
    rulebook = frame.facts.rulebook
    if isinstance(default, Static):
        return Static(MISSING, default.type, loose=True) if default != NONE else default
    if isinstance(default, Torch):
        if rulebook.constant(f"{default.name}[dtype]"):
            return ARRAY_TYPE
        layer = rulebook.layer(default.name)
        if layer is not None:
            return Class(("open", default.name)) if rulebook.is_module(layer) else UNKNOWN
        return FUNCTION if rulebook.is_function(default.name) else UNKNOWN
    if isinstance(default, Class):
        return Class(("open", default.ref))
    if isinstance(default, Module):
        return dataclasses.replace(default, open=True, items=None, element=None)
    if isinstance(default, Function):
        return UNKNOWN
    if isinstance(default, Sequence):
        items = None if default.items is None else tuple(of_kind(frame, item) for item in default.items)
        return Sequence(of_kind(frame, default.element), items, default.tuple, loose=True)
    if isinstance(default, Mapping):
        return Mapping(of_kind(frame, default.element), default.placed)
    return default


def _of_constructor(seen: Value | None) -> Value:
    """What a constructor takes is a hyperparameter: another call may give another value."""
    if isinstance(seen, Static):
        return Static(MISSING, seen.type, loose=True)
    if isinstance(seen, Module) and seen.classes:
        return dataclasses.replace(seen, open=True, items=None)
    return UNKNOWN


def _of_function(seen: Value | None, as_tensor: bool) -> Value:
    """What other functions take is taken for a tensor where nothing says otherwise."""
    if as_tensor:
        overruled = seen is None or seen == UNKNOWN or isinstance(seen, Static) and seen.type != "None"
        seen = Tensor() if overruled or seen is None else join(seen, Tensor(dims=least_dims(seen)))
    return _as_given(seen, Tensor(assumed=True))


def _as_given(seen: Value | None, unseen: Value) -> Value:
    """What calls give, a number as one of its type; `unseen` where they give nothing."""
    if seen is None or seen == NONE:
        return unseen
    return Static(MISSING, seen.type, loose=True) if isinstance(seen, Static) else seen
