"""Calls of Python's builtins, its standard library, numpy and einops."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from ..computed_names import pattern
from ..values import (
    CHECKS,
    FUNCTION,
    GENERATORS,
    MISSING,
    NONE,
    NUMPY,
    PLACED,
    UNKNOWN,
    Class,
    External,
    Mapping,
    Method,
    Module,
    Sequence,
    Static,
    Tensor,
    Torch,
    Value,
    element_of,
    join,
    sequence,
)
from . import attributes, containers
from .environments import NUMBERS
from .frame import Argument, Frame
from .vocabulary import MEANS

_INT = Static(MISSING, "int")


def call(frame: Frame, name: str, args: list[Argument]) -> Value:
    """The result of calling a function that is neither the user's nor torch's."""
    if not name.startswith("builtins."):
        return _partial(frame, args) if name == "functools.partial" else _of_library(frame, name, [a.value for a in args])
    short = name.removeprefix("builtins.")
    if short in _ALWAYS:
        return _ALWAYS[short]
    builtin = _BUILTINS.get(short)
    return builtin(frame, short, args) if builtin is not None else UNKNOWN


# ------------------------------------------------------------------ builtins


def _first(args: list[Argument]) -> Value:
    return args[0].value if args else UNKNOWN


def _literal(args: list[Argument]) -> str | None:
    """The name that getattr and the like ask for, where it is known."""
    name = args[1].value if len(args) > 1 else UNKNOWN
    return name.const if isinstance(name, Static) and isinstance(name.const, str) else None


def _hasattr(frame: Frame, name: str, args: list[Argument]) -> Value:
    first, literal = _first(args), _literal(args)
    if isinstance(first, Torch) and len(args) == 2 and literal is not None:
        return Static(frame.facts.rulebook.knows(f"{first.name}.{literal}"), "bool")
    return Static(MISSING, "bool")


def _getattr(frame: Frame, name: str, args: list[Argument]) -> Value:
    first, literal = _first(args), _literal(args)
    if len(args) < 2:
        return UNKNOWN
    if isinstance(first, Module):
        return attributes.of_module(frame, first, literal) if literal is not None else attributes.computed(frame, first, pattern(args[1].node))
    if isinstance(first, Torch) and literal is not None:
        path = f"{first.name}.{literal}"
        return args[2].value if len(args) > 2 and not frame.facts.rulebook.knows(path) else Torch(path)
    return UNKNOWN


def _setattr(frame: Frame, name: str, args: list[Argument]) -> Value:
    first = _first(args)
    if len(args) < 3 or not isinstance(first, Module) or not first.is_self or frame.cls is None:
        return UNKNOWN
    value = args[2].value
    if _literal(args) is None and value == NONE and frame.facts.computed(frame.cls, pattern(args[1].node)) is None:
        return NONE  # what else may be there is seen later
    if _literal(args) is None and value != NONE and not isinstance(value, (Module, Tensor)):
        value = Module(open=True)
    containers.set_named(frame, frame.cls, args[1], value)
    return NONE


def _number(frame: Frame, name: str, args: list[Argument]) -> Value:
    """`int(x)` of a tensor stays one: jit does not know it."""
    first = _first(args)
    traced = isinstance(first, Tensor) and not first.assumed and not frame.facts.on_host(frame.info)
    return Tensor(kind=NUMBERS[name], number=True) if traced else Static(MISSING, name)


def _listed(frame: Frame, name: str, args: list[Argument]) -> Value:
    if not args:
        return Sequence(UNKNOWN, ())
    first, is_tuple = args[0].value, name == "tuple"
    if isinstance(first, Sequence):
        return dataclasses.replace(first, tuple=is_tuple, items=first.items if name in ("list", "tuple") else None)
    if isinstance(first, Static):
        return Sequence(_INT, None, is_tuple) if first.type in ("shape", "range") else Static(MISSING, "")
    return Sequence(element_of(first), None, is_tuple) if first != UNKNOWN else UNKNOWN


def _zip(frame: Frame, name: str, args: list[Argument]) -> Value:
    return Sequence(sequence([element_of(a.value) for a in args], True))


def _enumerate(frame: Frame, name: str, args: list[Argument]) -> Value:
    return Sequence(sequence([_INT, element_of(_first(args))], True))


def _reduced(frame: Frame, name: str, args: list[Argument]) -> Value:
    """`max(x, y)`, `sum(losses)`, `next(layers)`."""
    spread = [element_of(a.value) if isinstance(a.value, Sequence) else a.value for a in args]
    tensors = [v for v in spread if isinstance(v, Tensor)]
    if name == "next" and tensors and tensors[0] is spread[0]:
        return tensors[0]
    if tensors:
        numbers = {v.number if isinstance(v, Tensor) else True for v in spread}
        number = True if numbers == {True} else None if None in numbers else False
        return Tensor(assumed=all(v.assumed for v in tensors), kind="b" if name in ("any", "all") else None, number=number)
    if spread and all(isinstance(v, Static) for v in spread):
        return _number_among(name, spread)
    return spread[0] if name == "next" and spread else UNKNOWN


def _number_among(name: str, values: list[Value]) -> Static:
    """What `min(n, m)`, `round(x)` or `sum(sizes)` of numbers is."""
    if name == "round" and len(values) == 1:
        return _INT
    found: Value | None = None
    for value in values:
        found = join(found, value)
    kept = name in ("min", "max", "abs", "sum") and isinstance(found, Static) and found.type in ("int", "float") and not found.wide
    return dataclasses.replace(found, const=MISSING) if kept and isinstance(found, Static) else Static()


def _dict(frame: Frame, name: str, args: list[Argument]) -> Value:
    first = _first(args)
    held: Value | None = first.element if isinstance(first, Mapping) else None
    if isinstance(first, Sequence) and isinstance(pair := first.element, Sequence) and pair.items is not None and len(pair.items) == 2:
        held = pair.items[1]  # `dict([("a", x)])`, `dict(zip(names, xs))`
    placed = any(isinstance(a.value, Mapping) and a.value.placed for a in args)
    for keyword, star, value, _ in args:
        if keyword is not None and not star:
            held = join(held, value)
            placed = placed or keyword in PLACED
    return Mapping(held or UNKNOWN, placed)


_ALWAYS: dict[str, Value] = {
    **dict.fromkeys(("isinstance", "callable", "issubclass"), Static(MISSING, "bool")),
    **dict.fromkeys(("str", "repr"), Static(MISSING, "str")),
    **dict.fromkeys(("len", "id"), _INT),
    "type": Static(MISSING, ""),
    "range": Static(MISSING, "range"),
    "slice": Static(),
    "map": Sequence(UNKNOWN),
    "print": NONE,
}
_BUILTINS: dict[str, Callable[[Frame, str, list[Argument]], Value]] = {
    **dict.fromkeys(("int", "float", "bool"), _number),
    **dict.fromkeys(("list", "tuple", "sorted", "reversed", "iter", "set"), _listed),
    **dict.fromkeys(("abs", "min", "max", "sum", "round", "pow", "divmod", "any", "all", "next"), _reduced),
    "hasattr": _hasattr,
    "getattr": _getattr,
    "setattr": _setattr,
    "zip": _zip,
    "enumerate": _enumerate,
    "dict": _dict,
}


# ------------------------------------------------------------------ libraries


def _of_library(frame: Frame, name: str, values: list[Value]) -> Value:
    first = values[0] if values else UNKNOWN
    if name.endswith(("OrderedDict", "defaultdict")):
        if isinstance(first, Sequence) and isinstance(first.element, Sequence) and first.element.items:
            return Mapping(first.element.items[-1])
        return Mapping(first.element if isinstance(first, Mapping) else UNKNOWN)
    if name.endswith("deepcopy") or name == "copy.copy":
        return first
    if name.startswith("math."):
        if any(isinstance(v, Tensor) and not v.assumed for v in values):
            return Tensor(kind="b" if name in CHECKS and len(values) <= 2 else None)
        return Static(MISSING, "bool" if name in CHECKS else "float")
    if name.startswith("itertools.") and values:
        return Sequence(UNKNOWN)
    if name in GENERATORS:
        return External(name)
    if name.startswith("einops."):
        return Tensor() if "Rearrange" not in name and "Reduce" not in name else Module(frozenset(), open=True)
    if frame.facts.numpy_on_arrays(name, values):
        return Tensor(host=True)
    made = name.split(".")[0] == "numpy" and not name.startswith("numpy.random")
    if not made and _may_be_layer(frame, name):
        return UNKNOWN
    if any(isinstance(v, Tensor) for v in values):
        return NUMPY if made and not frame.facts.in_forward(frame.info) else Tensor(assumed=True)
    if made:
        return _of_numbers(frame, name, values)
    return UNKNOWN


def _of_numbers(frame: Frame, name: str, values: list[Value]) -> Static:
    """What a function of NumPy's makes: of Python's numbers a number of its own, of what is not known perhaps one."""
    name = name.removeprefix("numpy.")
    if name in MEANS and len(values) == 1:
        return dataclasses.replace(NUMPY, wide=True)
    if name not in frame.facts.rulebook.table("FLOATS") or not values:
        return NUMPY
    if all(isinstance(v, Static) and v.type in NUMBERS for v in values):
        return Static(MISSING, "float", wide=True)
    return dataclasses.replace(NUMPY, wide=all(v == UNKNOWN or isinstance(v, Method) or isinstance(v, Static) and (v.wide or v != NUMPY) for v in values))


def _may_be_layer(frame: Frame, name: str) -> bool:
    """Whether a call may make a layer of another library's, whatever it is given: `DropPath(rates[i])`, and what constructors call."""
    return name.rpartition(".")[2][:1].isupper() or frame.info is not None and frame.info.name == "__init__"


def _partial(frame: Frame, args: list[Argument]) -> Value:
    """`functools.partial` of a class makes what the class does; of a function of torch's, without draws, a function of arrays."""
    rulebook, function = frame.facts.rulebook, _first(args)
    name = function.ref if isinstance(function, Class) else function.name if isinstance(function, Torch) else None
    if isinstance(name, str) and rulebook.layer(name):
        return Class(rulebook.variant(name, [(a.keyword, a.value.const if isinstance(a.value, Static) else MISSING) for a in args[1:]]))
    if isinstance(function, Class):
        return function
    if not isinstance(function, Torch):
        return UNKNOWN
    rules = rulebook.find(function.name)
    return FUNCTION if rules and not any(p.name == "key" for p in rules[0].parameters) else UNKNOWN
