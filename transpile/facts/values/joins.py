"""The least value that covers two."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from .class_values import is_given, is_open, makers_of, named_classes
from .lattice import (
    CLOSED_LAMBDA,
    FUNCTION,
    GENERATORS,
    INITIALISER,
    LAMBDA,
    MISSING,
    NONE,
    REFUSED,
    UNKNOWN,
    Class,
    External,
    Function,
    Functions,
    Instance,
    Mapping,
    Method,
    Module,
    OneOf,
    Open,
    Sequence,
    Static,
    Tensor,
    Torch,
    Value,
    is_initialiser,
)


def join(a: Value | None, b: Value | None) -> Value:
    """The least value that covers both; None stands for nothing yet."""
    if a is b:
        return a or UNKNOWN
    if a is None or b is None:
        return a or b or UNKNOWN
    if a == b:
        return _equal(a, b)
    if a == NONE or b == NONE:
        return _or_none(b if a == NONE else a)
    if a.__class__ is b.__class__:
        joined = _ALIKE.get(a.__class__)
        found = joined(a, b) if joined is not None else None
        if found is not None:
            return found
    return _of_two_kinds(a, b)


def _equal(a: Value, b: Value) -> Value:
    if isinstance(a, Static) and isinstance(b, Static) and (b.loose or b.wide):
        if a.loose >= b.loose and a.wide >= b.wide:
            return a
        return dataclasses.replace(a, loose=a.loose or b.loose, wide=a.wide or b.wide)
    if isinstance(a, Tensor) and isinstance(b, Tensor):
        if b.dims < a.dims or b.single < a.single:
            dims = min(a.dims, b.dims)
            return dataclasses.replace(a, dims=dims, single=a.single and b.single)
    return _with_sites(a, b)


def _with_sites(a: Value, b: Value) -> Value:
    """A container that is made at one of several places."""
    holders = (Module, Sequence, Mapping)
    if not isinstance(a, holders) or not isinstance(b, holders) or b.sites <= a.sites:
        return a
    return dataclasses.replace(a, sites=a.sites | b.sites)


def _or_none(value: Value) -> Value:
    if isinstance(value, (Tensor, Module)):
        return value if value.none else dataclasses.replace(value, none=True)
    return Static() if isinstance(value, Static) else value


def _tensors(a: Tensor, b: Tensor) -> Value:
    return Tensor(
        a.assumed and b.assumed,
        a.none or b.none,
        a.kind if a.kind == b.kind else None,
        a.param and b.param,
        a.buffer and b.buffer,
        a.number if a.number is b.number else None,
        a.host and b.host,
        a.python or b.python,
        min(a.dims, b.dims),
        a.empty or b.empty,
        a.single and b.single,
        a.width | b.width,
    )


def _statics(a: Static, b: Static) -> Value:
    kind = a.type if a.type == b.type else ""
    return Static(MISSING, kind, a.loose or b.loose, a.wide or b.wide)


def _modules(a: Module, b: Module) -> Value:
    element = join(a.element, b.element) if a.element or b.element else None
    if a.is_bare and b.is_bare:
        parts = _parts(a, b)
        none, sites = a.none or b.none, a.sites | b.sites
        return dataclasses.replace(a, items=parts, none=none, element=element, sites=sites)
    flags = a.flags
    if flags != b.flags:
        flags = frozenset((name, None) for name, _ in a.flags | b.flags)
    return Module(
        a.classes | b.classes,
        a.open or b.open,
        None if element == UNKNOWN else element,
        a.items if a.items == b.items else None,
        a.none or b.none,
        a.inplace if a.inplace is b.inplace else None,
        a.is_self and b.is_self,
        a.whole and b.whole,
        flags,
        (a.open or b.open) and all(m.checked or not m.open for m in (a, b)),
        a.still and b.still,
        a.function or b.function,
        a.sites | b.sites,
    )


def _parts(a: Module, b: Module) -> tuple[tuple[str, Value], ...]:
    """What two bare modules hold: `down.upsample = …` may be under an `if`, as its call is."""
    first, second = dict(a.items or ()), dict(b.items or ())
    return tuple((n, join(first.get(n), second.get(n))) for n in {**first, **second})


def _instances(a: Instance, b: Instance) -> Value:
    return Instance(a.classes | b.classes if a.classes and b.classes else frozenset())


def _sequences(a: Sequence, b: Sequence) -> Value:
    items = None
    if a.items is not None and b.items is not None and len(a.items) == len(b.items):
        items = tuple(join(x, y) for x, y in zip(a.items, b.items))
    if a.items == ():
        element = b.element
    else:
        element = a.element if b.items == () else join(a.element, b.element)
    return Sequence(element, items, a.tuple and b.tuple, sites=a.sites | b.sites)


def _mappings(a: Mapping, b: Mapping) -> Value:
    placed, sites = a.placed or b.placed, a.sites | b.sites
    if UNKNOWN in (a.element, b.element):  # `{}`, which modules or arrays are put into
        filled = b.element if a.element == UNKNOWN else a.element
        return Mapping(filled if isinstance(filled, (Module, Tensor)) else UNKNOWN, placed, sites)
    return Mapping(join(a.element, b.element), placed, sites)


def _methods(a: Method, b: Method) -> Value | None:
    return Method(join(a.receiver, b.receiver), a.name) if a.name == b.name else None


def _names(a: Torch, b: Torch) -> Value | None:
    one, other = sorted((_anywhere(a.name), _anywhere(b.name)))
    same = one == other or other.startswith(f"{one}[")  # with more, `InstanceNorm1d[…]`
    return Torch(other, a.function) if same else None


def _anywhere(name: str) -> str:
    """A type of tensors, wherever they are: torch.FloatTensor for torch.cuda.FloatTensor."""
    if name.startswith("torch.cuda.") and name.endswith("Tensor"):
        return "torch." + name.removeprefix("torch.cuda.")
    return name


_ALIKE: dict[type, Callable[[Any, Any], Value | None]] = {
    Tensor: _tensors,
    Static: _statics,
    Module: _modules,
    Instance: _instances,
    Sequence: _sequences,
    Mapping: _mappings,
    Method: _methods,
    Torch: _names,
}


def _of_two_kinds(a: Value, b: Value) -> Value:
    holders = (Module, Sequence)
    if isinstance(a, holders) and isinstance(b, holders):
        held, other = _held(a), _held(b)
        if isinstance(held, Module) and isinstance(other, Module):
            return Sequence(join(held, other))  # `self.flows if forward else reversed(…)`
    if is_initialiser(a) and is_initialiser(b):
        return INITIALISER
    if a in (LAMBDA, CLOSED_LAMBDA) and b in (LAMBDA, CLOSED_LAMBDA):
        return LAMBDA
    if is_plain_function(a) and is_plain_function(b):
        return FUNCTION
    if is_plain_function(b if a == LAMBDA else a) and LAMBDA in (a, b):
        return LAMBDA
    first, second = named_classes(a), named_classes(b)
    makers = frozenset([*makers_of(a), *makers_of(b)])
    if first and second or (first or second) and makers_of(a if second else b):
        made = one_of(first | second, makers)
        opened = is_open(a) or is_open(b)
        return Class(Open(made, any(is_beyond(v) for v in (a, b)))) if opened else Class(made)
    if (first or second) and any(_is_foreign_class(v) for v in (a, b)):
        return Class(Open(one_of(first | second)))
    if isinstance(a, (Function, Functions)) and isinstance(b, (Function, Functions)):
        return Functions(_functions(a) | _functions(b))
    for one, other in ((a, b), (b, a)):
        if isinstance(one, Tensor) and one.assumed:
            return Tensor(assumed=True, python=True) if isinstance(other, Static) else other
        if isinstance(one, Tensor) and isinstance(other, Static):
            return _with_number(one, other)
        if isinstance(one, External) and one.name in GENERATORS and other == UNKNOWN:
            return one  # `random.Random() if rng is None else rng`
    for one, other in ((a, b), (b, a)):
        if isinstance(one, Module) and other == REFUSED:
            return one
        if isinstance(one, Module) and is_plain_function(other):
            checked = one.checked or not one.open
            return dataclasses.replace(one, open=True, checked=checked, function=True)
        if isinstance(one, Module):
            open_ = not isinstance(other, (Tensor, Static, Sequence, Mapping))
            return dataclasses.replace(one, open=True, checked=False) if open_ else UNKNOWN
    return UNKNOWN


def is_plain_function(value: Value | None) -> bool:
    """Whether it is a function of arrays alone, which holds no modules."""
    if isinstance(value, Torch):
        return value.function
    return value in (FUNCTION, CLOSED_LAMBDA)


def is_function(value: Value | None) -> bool:
    """Whether it is a function, or one of several, and no method."""
    if isinstance(value, Functions):
        return all(map(is_function, value.several))
    own = isinstance(value, Function) and value.owner is None
    return own or value == LAMBDA or is_plain_function(value)


def _held(value: Module | Sequence) -> Value | None:
    """What a module or a list holds; of a module of which nothing is known, any."""
    return Module(open=True) if value == Module(open=True) else value.element


def _is_foreign_class(value: Value) -> bool:
    """Whether it is a class of another library's, by its name: `apex.normalization.FusedNorm`."""
    return isinstance(value, External) and value.name.rpartition(".")[2][:1].isupper()


def is_beyond(value: Value | None) -> bool:
    """Whether what is given for a class is none that is known: `lambda n: nn.GroupNorm(2, n)`."""
    known = value in (None, NONE) or named_classes(value) or makers_of(value)
    return not known or is_given(value)


def one_of(classes: frozenset[Any], makers: frozenset[Function] = frozenset()) -> Any:
    """What stands for a class that is one of these, or what one of these functions makes."""
    alone = len(classes) == 1 and not makers
    return next(iter(classes)) if alone else OneOf(classes, makers)


def _functions(value: Function | Functions) -> frozenset[Function]:
    return value.several if isinstance(value, Functions) else frozenset([value])


def _with_number(one: Tensor, other: Static) -> Value:
    """A number that becomes a tensor in a loop."""
    number = one.number if other.type in ("int", "float", "bool") else one.number and None
    return dataclasses.replace(one, param=False, number=number, python=True)


def sequence(items: list[Value], is_tuple: bool = False) -> Sequence:
    """A list or tuple of these."""
    element: Value | None = None
    for item in items:
        element = join(element, item)
    return Sequence(element or UNKNOWN, tuple(items), is_tuple)
