"""Calls of Python's builtins, its standard library, numpy and einops."""

import dataclasses
from collections.abc import Callable

from ...model import program
from ...model.libraries import computes_with_torch
from . import attributes, constructors, containers, partials
from .attribute_names import MEANS, OF_ARRAYS_ALONE
from .computed_names import pattern
from .frame import Argument, Frame
from .joins import join, sequence
from .lattice import (
    BOOL,
    FUNCTION,
    GENERATORS,
    INITIALISER,
    INT,
    MISSING,
    NONE,
    NUMPY,
    PLACED,
    STRING,
    UNKNOWN,
    Class,
    External,
    Mapping,
    Method,
    Module,
    Open,
    Sequence,
    Static,
    Tensor,
    Torch,
    Value,
    element_of,
)
from .numpy_names import computes_with_arrays
from .operators import NUMBERS


def call(frame: Frame, name: str, args: list[Argument]) -> Value:
    """The result of calling a function that is neither the user's nor torch's."""
    short = name.removeprefix("builtins.")
    if short == name:
        if name == "functools.partial":
            return partials.call(frame, args)
        if name.startswith("itertools.") and args:
            return Sequence(containers.gone_over(name, args))
        return _of_library(frame, name, [a.value for a in args])
    if short in _ALWAYS:
        return _ALWAYS[short]
    builtin = _BUILTINS.get(short)
    return builtin(frame, short, args) if builtin is not None else UNKNOWN


# --- builtins ------------------------------------------------------------------------------------


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
    sure = isinstance(first, Tensor) and not (first.none or first.assumed or first.param)
    if isinstance(first, Tensor) and (first.python or first.number is not False):
        return BOOL  # of a number of Python's
    if sure and literal is not None:  # that a module has may be None
        if frame.facts.rulebook.knows(f"torch.Tensor.{literal}"):
            return Static(True, "bool")  # an array of JAX's may have another word for it
        if literal in OF_ARRAYS_ALONE and isinstance(first, Tensor) and not first.host:
            return Static(False, "bool")
    if isinstance(first, Module) and not first.open and first.refs and literal is not None:
        of_user = all(isinstance(ref, program.Class) for ref in first.refs)
        if of_user and all(frame.facts.project.find(ref, literal) for ref in first.refs):
            return Static(True, "bool")  # a method that it has, whatever is set on it
    return BOOL


def _getattr(frame: Frame, name: str, args: list[Argument]) -> Value:
    first, literal = _first(args), _literal(args)
    if len(args) < 2:
        return UNKNOWN
    if isinstance(first, Module):
        if literal is not None:
            return attributes.of_module(frame, first, literal)
        return attributes.computed(frame, first, pattern(args[1].node))
    if isinstance(first, Torch) and literal is not None:
        path = f"{first.name}.{literal}"
        absent = len(args) > 2 and not frame.facts.rulebook.knows(path)
        return args[2].value if absent else Torch(path)
    if first == Torch("torch.nn") and len(args) == 2 and frame.constructs:
        return Class(Open("torch.nn.Module"))
    by_name = {"torch.nn.init": INITIALISER, "torch.nn.functional": FUNCTION}  # rules/by_name.py
    return by_name.get(first.name, UNKNOWN) if isinstance(first, Torch) else UNKNOWN


def _setattr(frame: Frame, name: str, args: list[Argument]) -> Value:
    first, value = _first(args), args[2].value if len(args) > 2 else None
    if not isinstance(first, Module) or value is None:
        return UNKNOWN
    frame.facts.put_in(first, value)
    if not first.is_self or frame.cls is None:
        return UNKNOWN
    if _literal(args) is None:
        if value == NONE and frame.facts.computed(frame.cls, pattern(args[1].node)) is None:
            return NONE  # what else may be there is seen later
        if value != NONE and not isinstance(value, (Module, Tensor)):
            value = Module(open=True)
    containers.set_named(frame, frame.cls, args[1], value)
    return NONE


def _number(frame: Frame, name: str, args: list[Argument]) -> Value:
    """`int(x)` of a tensor stays one: jit does not know it."""
    first = _first(args)
    if isinstance(first, Tensor) and not first.assumed:
        if not frame.facts.on_host(frame.function):
            return Tensor(kind=NUMBERS[name], number=True)
    return Static(MISSING, name)


def _listed(frame: Frame, name: str, args: list[Argument]) -> Value:
    if not args:
        return Sequence(UNKNOWN, ())
    first, is_tuple = args[0].value, name == "tuple"
    if isinstance(first, Sequence):
        items = first.items if name in ("list", "tuple") else None
        return dataclasses.replace(first, tuple=is_tuple, items=items)
    if isinstance(first, Static):
        known = first.type in ("shape", "range")
        return Sequence(INT, None, is_tuple) if known else Static(MISSING, "")
    return Sequence(element_of(first), None, is_tuple) if first != UNKNOWN else UNKNOWN


def _zip(frame: Frame, name: str, args: list[Argument]) -> Value:
    parts: list[Value] = []
    for argument in args:
        value = argument.value
        if argument.star:  # `zip(*(self.kinds, self.layers))`
            if not isinstance(value, Sequence) or value.items is None:
                return UNKNOWN
            parts += map(element_of, value.items)
        else:
            parts.append(element_of(value))
    return Sequence(sequence(parts, True))


def _filter(frame: Frame, name: str, args: list[Argument]) -> Value:
    """`filter(lambda p: p.requires_grad, self.parameters())`"""
    element = element_of(args[1].value) if len(args) == 2 else UNKNOWN
    return Sequence(element) if isinstance(element, (Tensor, Module)) else UNKNOWN


def _enumerate(frame: Frame, name: str, args: list[Argument]) -> Value:
    return Sequence(sequence([INT, element_of(_first(args))], True))


def _reduced(frame: Frame, name: str, args: list[Argument]) -> Value:
    """`max(x, y)`, `sum(losses)`, `next(layers)`."""
    spread = [element_of(a.value) if isinstance(a.value, Sequence) else a.value for a in args]
    tensors = [v for v in spread if isinstance(v, Tensor)]
    if name == "next" and tensors and tensors[0] is spread[0]:
        return tensors[0]
    if tensors:
        numbers = {v.number if isinstance(v, Tensor) else True for v in spread}
        number = True if numbers == {True} else None if None in numbers else False
        kind = "b" if name in ("any", "all") else None
        return Tensor(assumed=all(v.assumed for v in tensors), kind=kind, number=number)
    if spread and all(isinstance(v, Static) for v in spread):
        return _number_among(name, spread)
    if name in ("min", "max") and any(v == INT for v in spread):
        return Static(MISSING, loose=True)  # `min(x.shape[1], self.limit)`: a size among others
    return spread[0] if name == "next" and spread else UNKNOWN


def _number_among(name: str, values: list[Value]) -> Static:
    """What `min(n, m)`, `round(x)` or `sum(sizes)` of numbers is."""
    if name == "round" and len(values) == 1:
        return INT
    found: Value | None = None
    for value in values:
        found = join(found, value)
    if name in ("min", "max", "abs", "sum") and isinstance(found, Static):
        if found.type in ("int", "float") and not found.wide:
            return dataclasses.replace(found, const=MISSING)
    return Static()


def _dict(frame: Frame, name: str, args: list[Argument]) -> Value:
    first = _first(args)
    held: Value | None = first.element if isinstance(first, Mapping) else None
    pair = first.element if isinstance(first, Sequence) else None
    if isinstance(pair, Sequence) and pair.items is not None and len(pair.items) == 2:
        held = pair.items[1]  # `dict([("a", x)])`, `dict(zip(names, xs))`
    placed = any(isinstance(a.value, Mapping) and a.value.placed for a in args)
    for keyword, star, value, _ in args:
        if keyword is not None and not star:
            held = join(held, value)
            placed = placed or keyword in PLACED
    return Mapping(held or UNKNOWN, placed)


_ALWAYS: dict[str, Value] = {
    **dict.fromkeys(("isinstance", "callable", "issubclass"), BOOL),
    **dict.fromkeys(("str", "repr"), STRING),
    **dict.fromkeys(("len", "id"), INT),
    "range": Static(MISSING, "range"),
    "slice": Static(),
    "map": Sequence(UNKNOWN),
    "print": NONE,
}
CHECKS = frozenset(f"math.{n}" for n in ("isclose", "isfinite", "isinf", "isnan"))  # jnp has them
_REDUCED = "abs min max sum round pow divmod any all next".split()
_BUILTINS: dict[str, Callable[[Frame, str, list[Argument]], Value]] = {
    **dict.fromkeys(("int", "float", "bool"), _number),
    **dict.fromkeys(("list", "tuple", "sorted", "reversed", "iter", "set"), _listed),
    **dict.fromkeys(_REDUCED, _reduced),
    "hasattr": _hasattr,
    "getattr": _getattr,
    "setattr": _setattr,
    "zip": _zip,
    "filter": _filter,
    "type": lambda frame, name, args: constructors.class_of(frame, _first(args)),
    "enumerate": _enumerate,
    "dict": _dict,
}


# --- libraries -----------------------------------------------------------------------------------


def _of_library(frame: Frame, name: str, values: list[Value]) -> Value:
    first = values[0] if values else UNKNOWN
    if (held := containers.of_library(name, first)) is not None:
        return held
    if name.endswith("deepcopy") or name == "copy.copy":
        return first
    if name.startswith("math."):
        if any(isinstance(v, Tensor) and not v.assumed for v in values):
            return Tensor(kind="b" if name in CHECKS and len(values) <= 2 else None)
        return Static(MISSING, "bool" if name in CHECKS else "float")
    made = frame.constructs and computes_with_torch(name)
    if name in GENERATORS or made and not any(isinstance(v, Tensor) for v in values):
        return External(name)
    if name.startswith("einops."):
        layer = "Rearrange" in name or "Reduce" in name
        return Module(frozenset(), open=True) if layer else Tensor()
    if computes_with_arrays(frame.facts.rulebook, name, values):
        return Tensor(host=True)
    return _of_arrays(frame, name, values)


def _of_arrays(frame: Frame, name: str, values: list[Value]) -> Value:
    """What NumPy makes, or a library that is given tensors."""
    made = name.split(".")[0] == "numpy" and not name.startswith("numpy.random")
    if not made and (frame.constructs or name.rpartition(".")[2][:1].isupper()):
        return UNKNOWN  # perhaps a layer of another library's: `DropPath(rates[i])`
    if any(isinstance(v, Tensor) for v in values):
        host = made and not frame.facts.in_forward(frame.function)
        return NUMPY if host else Tensor(assumed=True)
    return _of_numbers(frame, name, values) if made else UNKNOWN


def _of_numbers(frame: Frame, name: str, values: list[Value]) -> Static:
    """What a function of NumPy's makes: of Python's numbers a number of its own."""
    name = name.removeprefix("numpy.")
    if name in MEANS and len(values) == 1:
        return dataclasses.replace(NUMPY, wide=True)
    if name not in frame.facts.rulebook.table("FLOATS") or not values:
        return NUMPY
    if all(isinstance(v, Static) and v.type in NUMBERS for v in values):
        return Static(MISSING, "float", wide=True)
    return dataclasses.replace(NUMPY, wide=all(map(_may_be_number, values)))


def _may_be_number(value: Value) -> bool:
    number = isinstance(value, Static) and (value.wide or value != NUMPY)
    return number or value == UNKNOWN or isinstance(value, Method)
