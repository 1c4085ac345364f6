"""Calls of torch's functions, by the rules that stand for them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from collections.abc import Sequence as TypingSequence
from typing import Any

import libcst as cst

from ..rule_bodies import flags, gives_dim
from ..rulebook import Definition, Parameter
from ..values import MISSING, UNKNOWN, Instance, Mapping, Module, Sequence, Static, Tensor, Torch, Value, least_dims
from . import constructors
from .frame import Argument, Frame

_INT = Static(MISSING, "int")
_SHAPE = Static(MISSING, "shape")
_PARALLEL = frozenset({"torch.nn.DataParallel", "torch.nn.parallel.DataParallel", "torch.nn.parallel.DistributedDataParallel"})


def call(frame: Frame, name: str, args: list[Argument], node: cst.Call) -> Value:
    """The result of calling a function or class of torch's."""
    rulebook = frame.facts.rulebook
    if name == "torch.Size":
        return _SHAPE
    if name == "torch.device":
        return Static(MISSING, "device")
    if name in ("torch.div", "torch.floor_divide") and len(args) > 1 and all(_is_int(a.value) for a in args[:2]):
        rounded = len(args) > 2 or name == "torch.floor_divide"
        return _INT if rounded else Static(MISSING, "float")  # of sizes it is a number
    if static_size(frame.facts.of, name, node):
        return _INT
    if name in _PARALLEL:  # there is no rule, but a net that is rebound by it under an `if` stays a module
        return dataclasses.replace(args[0].value, open=True) if args and isinstance(args[0].value, Module) else Module(open=True)
    definition = rulebook.layer(name)
    if definition is not None and rulebook.is_module(definition):
        return constructors.layer(frame, name, definition, args)
    if definition is not None and definition.name in rulebook.drawing:
        return Instance(frozenset([definition.name]))
    if definition is not None:
        return frame.facts.results.of(definition)
    rules = rulebook.find(name) or rulebook.find(name.removesuffix("_"))
    return _by_rule(frame, overload(rules, len(args), {a.keyword for a in args}), args) if rules else UNKNOWN


def _is_int(value: Value) -> bool:
    return isinstance(value, Static) and value.type == "int"


def _by_rule(frame: Frame, rule: Definition, args: list[Argument]) -> Value:
    results = frame.facts.results
    result = with_dims(frame, rule, rule.parameters, args)
    if args and not any(_holds_tensor(a.value) for a in args):
        plain = results.plain(rule)
        if not _holds_tensor(plain):
            return plain if all(isinstance(a.value, Static) for a in args) else _vague(plain)
    if args and isinstance(args[0].value, Module):
        return args[0].value  # weight_norm(conv) and the like keep what they are given
    return results.cast(result, args)


def with_dims(frame: Frame, rule: Definition, parameters: TypingSequence[Parameter], args: list[Argument], receiver: Value = UNKNOWN, sized: bool = False) -> Value:
    """What a rule returns, with how many dims it has at least: as many as it is given sizes, `torch.zeros(2, 3)`, or as its arguments have."""
    given = max(map(least_dims, [receiver, *(a.value for a in args)]))
    along = gives_dim(parameters, [(a.keyword, a.value) for a in args])
    result = frame.facts.results.of(rule, flags(parameters, args), given, along)
    listed = [a.value for a in args[:1] if isinstance(a.value, Sequence)]  # `torch.tensor([1, 2])`, `x.view((2, 3))`
    if sized or any(p.kind == "sizes" for p in parameters) or listed:
        sizes = sum(1 for a in args if a.keyword is None) if not listed else 1 if listed[0].items is None else len(listed[0].items)
        return dataclasses.replace(result, dims=max(result.dims, sizes)) if isinstance(result, Tensor) else result
    return result


def _holds_tensor(value: Value) -> bool:
    if isinstance(value, Sequence):
        return any(map(_holds_tensor, value.items)) if value.items is not None else _holds_tensor(value.element)
    return isinstance(value, (Tensor, Module)) or isinstance(value, Mapping) and _holds_tensor(value.element)


def _vague(value: Value) -> Value:
    """What is known of a result where nothing is known of what it is made from."""
    if isinstance(value, Sequence):
        return Sequence(UNKNOWN, tuple(UNKNOWN for _ in value.items) if value.items is not None else None, value.tuple)
    return UNKNOWN


def overload(rules: tuple[Definition, ...], count: int, keywords: set[str | None]) -> Definition:
    """The first overload whose parameters are enough in number and have these keywords; else the most common."""
    wanted = {k for k in keywords if k is not None} - {"axis", "keepdims", "out", "inplace", "device"}
    for definition in rules:
        parameters = definition.parameters
        loose = any(p.kind in ("sizes", "rest") for p in parameters)
        required = sum(1 for p in parameters if p.default is None and p.kind == "positional")
        if (loose or required <= count <= len(parameters) + 2) and wanted <= {p.name for p in parameters}:
            return definition
    return rules[0]


# Reductions that torch's tracer wants of sizes: how many sizes each takes, and what one of them must be known to be.
_REDUCTIONS: dict[str, tuple[int, Value]] = {
    "min": (2, _INT),
    "max": (2, _INT),
    "minimum": (2, _INT),
    "maximum": (2, _INT),
    "prod": (1, _SHAPE),
}
_CASTS = (Torch("torch.as_tensor"), Torch("torch.tensor"))


def static_size(of: Callable[[Any], Value], name: str, node: cst.Call) -> list[Any]:
    """The sizes that a reduction over nothing else is of, or nothing.

    Torch's tracer wants `torch.min(torch.as_tensor(n), torch.as_tensor(x.shape[0]))`; others write
    `torch.prod(torch.tensor(x.shape[1:])).item()`.
    """
    count, expected = _REDUCTIONS.get(name.removeprefix("torch."), (0, UNKNOWN))
    if not count or len(node.args) != count:
        return []
    casts = [
        a.value for a in node.args if isinstance(a.value, cst.Call) and a.keyword is None and len(a.value.args) == 1
    ]
    if len(casts) != count or not all(of(c.func) in _CASTS for c in casts):
        return []
    sizes = [c.args[0].value for c in casts]
    return sizes if any(of(s) == expected for s in sizes) and not any(isinstance(of(s), Tensor) for s in sizes) else []
