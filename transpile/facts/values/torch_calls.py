"""Calls of torch's functions, by the rules that stand for them."""

import ast
import dataclasses
from collections.abc import Callable
from collections.abc import Sequence as TypingSequence
from typing import Any

from ...model.expressions import Call
from ...model.names import dotted
from ...model.node import Expression
from . import constructors, zero_dim
from .call_flags import flags, gives_dim
from .frame import Argument, Frame
from .lattice import (
    BOOL,
    FLOAT,
    GENERATORS,
    INT,
    MISSING,
    SHAPE,
    UNKNOWN,
    External,
    Instance,
    Mapping,
    Module,
    Sequence,
    Static,
    Tensor,
    Torch,
    Value,
    is_initialiser,
    least_dims,
)

_PARALLEL = frozenset(
    f"torch.nn.{n}"
    for n in ("DataParallel", "parallel.DataParallel", "parallel.DistributedDataParallel")
)
_SIZES = frozenset({"size", "sizes", "shape"})
_LAX = frozenset({"axis", "keepdims", "out", "inplace", "device"})  # keywords that say no overload
_COPIES = frozenset(  # of the dtype of the first that they are given
    "atleast_1d atleast_2d block_diag clone cpu cuda diag flip fliplr flipud gather index_fill"
    " index_put index_select masked_fill masked_scatter pad repeat repeat_interleave roll rot90"
    " scatter take_along_dim tile tril triu".split()
)
_LIKE = frozenset({"full_like", "ones_like", "zeros_like"})
_JOINS = frozenset({"cat", "concat", "concatenate", "stack"})
_TO = frozenset({"to", "type", "type_as"})


def call(frame: Frame, name: str, args: list[Argument], node: Call) -> Value:
    """The result of calling a function or class of torch's."""
    rulebook = frame.facts.rulebook
    of_sizes = _of_sizes(frame, name, args, node)
    if of_sizes is not None:
        return of_sizes
    if name in GENERATORS:
        return External(name)
    name = constructors.variant(frame, node.function, name, args)
    if name in _PARALLEL:  # refused, so that what comes out of an `if` is the net of before
        first = args[0].value if args else None
        return first if isinstance(first, Module) else Module(open=True)
    definition = rulebook.layer(name)
    if definition is not None:
        if definition.name in ("Parameter", "Buffer"):
            return Tensor(param=True, single=bool(args) and zero_dim.is_single(args[0].value))
        if rulebook.is_module(definition):
            return constructors.layer(frame, name, definition, args)
        if definition.name in rulebook.drawing:
            return Instance(frozenset([definition.name]))
        return frame.facts.results.of(definition)
    rules = rulebook.find(name) or rulebook.find(name.removesuffix("_"))
    if not rules:
        return _by_class(frame, name)
    first = args[0].value if args else None
    if isinstance(first, Tensor) and any(is_initialiser(Torch(n)) for n in rules[0].torch_names):
        return first  # it gives back what it has written
    result = _by_rule(frame, overload(rules, args), args)
    word = name.removeprefix("torch.").removeprefix("nn.functional.")
    if word == "arange" and isinstance(result, Tensor) and all(_is_whole(a) for a in args):
        return dataclasses.replace(result, kind="i")
    result = zero_dim.of_call(rulebook, word, args, result)
    if Torch(name) in _CASTS and isinstance(result, Tensor) and isinstance(first, Sequence):
        return _of_list(result, first, any(a.keyword == "dtype" for a in args))
    if isinstance(first, Sequence) and word in _JOINS:
        return of_mask(frame, first.element, "clone", [], result)
    if word == "where" and len(args) == 3 and all(_is_bool(a.value) for a in args[1:]):
        return of_mask(frame, args[0].value, "clone", [], result)
    return result if first is None else of_mask(frame, first, word, args[1:], result)


def _of_list(result: Tensor, given: Sequence, cast: bool) -> Tensor:
    """`torch.tensor([[True, False]])` has two dims, and is a mask."""
    dims, element = 0, Value()
    while isinstance(given, Sequence):
        dims += 1
        element = given.element if not given.items else given.items[0]
        given = element  # type: ignore[assignment]
    mask = isinstance(element, Static) and element.type == "bool" and not cast
    return dataclasses.replace(
        result, dims=max(dims, result.dims), kind="b" if mask else result.kind
    )


def _by_class(frame: Frame, name: str) -> Value:
    """A method of a layer's class: `nn.Embedding.from_pretrained(table)` makes one."""
    owner, _, method = name.rpartition(".")
    definition = frame.facts.rulebook.layer(owner)
    node = frame.facts.rulebook.method(definition.name, method) if definition is not None else None
    marks = {ast.unparse(d) for d in node.decorator_list} if node is not None else set()
    if "classmethod" in marks:
        return Module(frozenset([owner]))
    return frame.facts.results.method(node) if node and "staticmethod" in marks else UNKNOWN


def _of_sizes(frame: Frame, name: str, args: list[Argument], node: Call) -> Value | None:
    """What torch's functions make of sizes and places: numbers of Python's."""
    if name == "torch.Size":
        return SHAPE
    if name == "torch.device":
        return Static(MISSING, "device")
    if name in ("torch.div", "torch.floor_divide") and len(args) > 1:
        if all(isinstance(a.value, Static) and a.value.type == "int" for a in args[:2]):
            return INT if len(args) > 2 or name == "torch.floor_divide" else FLOAT
    return INT if static_size(frame.facts.of, name, node) else None


def _by_rule(frame: Frame, rule: Any, args: list[Argument]) -> Value:
    results = frame.facts.results
    result = with_dims(frame, rule, rule.parameters, args)
    if args and not any(_holds_tensor(a.value) for a in args):
        plain = results.plain(rule)
        if not _holds_tensor(plain):
            return plain if all(isinstance(a.value, Static) for a in args) else _vague(plain)
    if args and isinstance(args[0].value, Module):
        return args[0].value  # weight_norm(conv) and the like keep what they are given
    return results.cast(result, args)


def with_dims(
    frame: Frame,
    rule: Any,
    parameters: TypingSequence[Any],
    args: list[Argument],
    receiver: Value = UNKNOWN,
    sized: bool = False,
) -> Value:
    """What a rule returns, with how many dims it has at least: as many as it is given sizes."""
    given = max(map(least_dims, [receiver, *(a.value for a in args)]))
    along = gives_dim(parameters, [(a.keyword, a.value) for a in args])
    result = frame.facts.results.of(rule, flags(parameters, args), given, along)
    if not isinstance(result, Tensor):
        return result
    first = args[0].value if args else None
    loose = sized or any(p.kind == "sizes" for p in parameters)
    if isinstance(first, Sequence) and (loose or any(p.name in _SIZES for p in parameters)):
        sizes = 1 if first.items is None else len(first.items)  # `x.view((2, 3))`
    elif loose:
        sizes = sum(1 for a in args if a.keyword is None)
    else:
        return result
    return dataclasses.replace(result, dims=sizes) if sizes > result.dims else result


def of_mask(frame: Frame, receiver: Value, name: str, args: list[Argument], result: Value) -> Value:
    """A view or copy of bytes is of bytes, one of bools of bools: `mask.byte().detach()`, and each
    of several: `mask.chunk(2)`."""
    if isinstance(result, Sequence):
        element = of_mask(frame, receiver, name, args, result.element)
        each = result.items and tuple(of_mask(frame, receiver, name, args, v) for v in result.items)
        return dataclasses.replace(result, element=element, items=each)
    if not isinstance(receiver, Tensor) or not isinstance(result, Tensor):
        return result
    if name in _COPIES or name.endswith("_"):
        kind = receiver.kind if result.kind is None and name in _COPIES else result.kind
        result = dataclasses.replace(result, width=receiver.width | result.width, kind=kind)
    if receiver.kind not in ("u", "b") or result.kind is not None:
        return result
    casts = receiver.kind == "b" and name in _TO and not all(_is_device(a) for a in args)
    view = name in frame.facts.rulebook.table("VIEWS") and not casts
    same = name in _COPIES or name.endswith("_") or view
    same = same or name in _LIKE and not any(a.keyword == "dtype" for a in args)
    return dataclasses.replace(result, kind=receiver.kind) if same else result


def _is_bool(value: Value) -> bool:
    return value == BOOL or isinstance(value, Tensor) and value.kind == "b"


def _is_whole(argument: Argument) -> bool:
    """Whether a number is whole for certain, or no number: a place."""
    value = argument.value
    whole = isinstance(value, Static) and value.type == "int" and not value.loose
    return whole and not argument.star or _is_device(argument)


def _is_device(argument: Argument) -> bool:
    """Whether an argument of a cast only says where the tensor is to be."""
    if argument.keyword in ("device", "non_blocking"):
        return True
    named = argument.node is not None and (dotted(argument.node) or "").endswith("device")
    return named or argument.value == Static(MISSING, "device")


def _holds_tensor(value: Value) -> bool:
    if isinstance(value, Sequence):
        held = value.items if value.items is not None else (value.element,)
        return any(map(_holds_tensor, held))
    if isinstance(value, Mapping):
        return _holds_tensor(value.element)
    return isinstance(value, (Tensor, Module))


def _vague(value: Value) -> Value:
    """What is known of a result where nothing is known of what it is made from."""
    if isinstance(value, Sequence):
        items = None if value.items is None else tuple(UNKNOWN for _ in value.items)
        return Sequence(UNKNOWN, items, value.tuple)
    return UNKNOWN


def overload(rules: tuple[Any, ...], args: TypingSequence[Argument], own: int = 0) -> Any:
    """The first overload that types select, `max(x, 1)`; else the first with enough parameters and
    these keywords; else the most common. `own`: the arguments in front of these."""
    if len(rules) == 1:
        return rules[0]
    typed = next((d for d in rules if _is_selected(d, args, own)), None)
    if typed is not None:
        return typed
    count, wanted = len(args) + own, {a.keyword for a in args} - {None} - _LAX
    for definition in rules:
        parameters = definition.parameters
        loose = any(p.kind in ("sizes", "rest") for p in parameters)
        required = sum(1 for p in parameters if p.default is None and p.kind == "positional")
        if loose or required <= count <= len(parameters) + 2:
            if wanted <= {p.name for p in parameters}:
                return definition
    return rules[0]


def _is_selected(definition: Any, args: TypingSequence[Argument], own: int) -> bool:
    """Whether a definition takes these arguments, and what is known of one selects it."""
    named = {p.name: p for p in definition.parameters}
    places = [p for p in definition.parameters if p.kind == "positional"]
    selected = False
    for i, argument in enumerate(args, own):
        place = places[i] if i < len(places) else None
        parameter = named.get(argument.keyword) if argument.keyword is not None else place
        if parameter is None or argument.star:
            return False
        if parameter.accepts:
            if _word(argument.value) not in parameter.accepts:
                return False
            selected = True
    return selected


def _word(value: Value) -> str:
    """The word of the rule files for what a value certainly is."""
    if isinstance(value, Tensor):
        return "" if value.assumed or value.none else "Tensor"
    is_int = isinstance(value, Static) and value.type == "int" and not value.loose
    return "int" if is_int else ""


# Reductions that torch's tracer wants of sizes: how many each takes, and what one must be.
_REDUCTIONS: dict[str, tuple[int, Value]] = {
    "min": (2, INT),
    "max": (2, INT),
    "minimum": (2, INT),
    "maximum": (2, INT),
    "prod": (1, SHAPE),
}
_CASTS = (Torch("torch.as_tensor"), Torch("torch.tensor"))


def static_size(of: Callable[[Any], Value], name: str, node: Call) -> list[Expression]:
    """The sizes that a reduction over nothing else is of, or nothing.

    Torch's tracer wants `torch.min(torch.as_tensor(n), torch.as_tensor(x.shape[0]))`.
    """
    count, expected = _REDUCTIONS.get(name.removeprefix("torch."), (0, UNKNOWN))
    if not count or len(node.arguments) != count or any(node.keywords):
        return []
    sizes = []
    for cast in node.arguments:
        if (
            not isinstance(cast, Call)
            or len(cast.arguments) != 1
            or of(cast.function) not in _CASTS
        ):
            return []
        sizes.append(cast.arguments[0])
    known = any(of(s) == expected for s in sizes) and not any(
        isinstance(of(s), Tensor) for s in sizes
    )
    return sizes if known else []
