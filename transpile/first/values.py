"""What the analysis knows of an expression's value: a small lattice of frozen dataclasses."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .beginnings import PLACES, Beginning, of_items

if TYPE_CHECKING:
    from .project import ClassInfo, FunctionInfo


@dataclass(frozen=True)
class Value:
    """Nothing is known: the top of the lattice."""


UNKNOWN = Value()


@dataclass(frozen=True)
class Tensor(Value):
    """An array, traced under jit. `assumed`: a parameter that nothing says otherwise of. `none`: may also be None."""

    assumed: bool = False
    none: bool = False
    kind: str | None = None  # "f", "i", "b", "c", or "u" for bytes, where known
    param: bool = False  # an nn.Parameter, or a buffer: lives in params or state
    buffer: bool = False  # such a buffer of a bare module: lives in state
    number: bool | None = False  # in torch a number of Python's, `x.item()`; None where it may be one
    host: bool = False  # NumPy's, before it was traced: its methods are NumPy's, which JAX's arrays have
    python: bool = False  # on some way a number or bool of Python's, of which `~` is another thing
    dims: int = field(default=0, compare=False)  # it has at least so many, as far as the source tells: `x.view(-1, 3)`, x of `b, c = x.shape`


@dataclass(frozen=True)
class Missing:
    """No constant is known."""


MISSING = Missing()


@dataclass(frozen=True)
class Static(Value):
    """Known when the function is traced: numbers, strings, shapes, dtypes, config objects, None."""

    const: Any = MISSING
    type: str = ""  # "int", "float", "bool", "str", "dtype", "device", "None", or "" where unknown
    loose: bool = field(default=False, compare=False)  # an int by a default or a call alone: `scale=1` may be given 0.5
    wide: bool = field(default=False, compare=False)  # NumPy's float, unless it is an array: `np.sqrt(5)`, which JAX counts as float64


NONE = Static(None, "None")
FUNCTION = Static(MISSING, "function")  # of arrays, without params or draws: `partial(F.gelu, approximate="tanh")`
ARRAY_TYPE = Static(MISSING, "array type")  # a parameter whose default is torch.FloatTensor
NUMPY = Static(MISSING, "numpy")  # an array of NumPy's, which is known when the function is traced
BACKWARD_CONTEXT = Static(MISSING, "backward context")  # the ctx of a torch.autograd.Function


BARE = frozenset({"torch.nn.Module"})


@dataclass(frozen=True)
class Module(Value):
    """A submodule: an instance of one of `classes` (torch layers by name, or the user's), or of any other if `open`."""

    classes: frozenset[Any] = frozenset()
    open: bool = False
    element: Value | None = None  # of a container: the join of what it holds
    items: tuple[tuple[str, Value], ...] | None = None  # of a container: name and value of each, where known
    none: bool = False
    inplace: bool | None = False  # writes its argument: nn.ReLU(inplace=True); None where only some of those that it may be do
    is_self: bool = False
    beginning: Beginning | None = None  # of a container whose items are not known
    whole: bool = False  # a layer of torch's that was made with all the params that it can do without: `bias=True`
    flags: frozenset[tuple[str, bool | None]] = frozenset()  # of a layer, that say what its calls return: `return_indices=True`

    @property
    def is_bare(self) -> bool:
        """Whether this is `down = nn.Module()`, whose items are what is set on it: `down.block = block`."""
        return self.classes == BARE and not self.open

    def with_part(self, name: str, value: Value) -> Module:
        """This bare module with something else under a name."""
        return dataclasses.replace(self, items=tuple({**dict(self.items or ()), name: value}.items()))

    @property
    def refs(self) -> list[Any]:
        """The classes in an order of their own: that of a set changes from run to run."""
        return sorted(self.classes, key=str) if len(self.classes) > 1 else list(self.classes)


@dataclass(frozen=True)
class Instance(Value):
    """An object of one of these rule classes, which are no modules and whose methods draw: a distribution; of any where there is none."""

    classes: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Class(Value):
    """A class: the user's, or torch's by dotted name."""

    ref: Any
    bound: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Function(Value):
    """A function or method of the user's."""

    info: FunctionInfo
    owner: ClassInfo | None = None  # for a bound method: the class of its self
    base: bool = False  # called through super()


@dataclass(frozen=True)
class Torch(Value):
    """A name of torch's: a module, function, class or constant."""

    name: str
    function: bool = field(default=False, compare=False)  # of arrays, without params or draws


@dataclass(frozen=True)
class Method(Value):
    """A method of a tensor or of an unknown object, not yet called."""

    receiver: Value
    name: str


@dataclass(frozen=True)
class External(Value):
    """A name of another library's, or a builtin."""

    name: str


@dataclass(frozen=True)
class Sequence(Value):
    """A list or tuple; `items` where its length is known."""

    element: Value = UNKNOWN
    items: tuple[Value, ...] | None = None
    tuple: bool = False
    beginning: Beginning | None = None  # where the items are not known
    loose: bool = field(default=False, compare=False)  # by a default alone: `size=(3, 3)` may be given 3


# Generators of Python and NumPy: an object of such a class goes by the name of the class, and its methods by theirs below it.
GENERATORS = frozenset({"random.Random", "random.SystemRandom", "numpy.random.Generator", "numpy.random.RandomState", "numpy.random.default_rng"})

CHECKS = frozenset({"math.isclose", "math.isfinite", "math.isinf", "math.isnan"})  # which jax.numpy has too

PLACED = frozenset({"device", "dtype"})  # what torch's layers are told about their params


@dataclass(frozen=True)
class Mapping(Value):
    """A dict; `placed` where it may tell layers the device or dtype of their params."""

    element: Value = UNKNOWN
    placed: bool = False


def join(a: Value | None, b: Value | None) -> Value:
    """The least value that covers both; None stands for nothing yet."""
    if a is None or b is None:
        return a or b or UNKNOWN
    if a == b:
        if isinstance(a, Static) and isinstance(b, Static) and (b.loose or b.wide):
            return dataclasses.replace(a, loose=a.loose or b.loose, wide=a.wide or b.wide)
        return b if isinstance(a, Tensor) and isinstance(b, Tensor) and b.dims < a.dims else a
    if NONE in (a, b):
        other = b if a == NONE else a
        if isinstance(other, (Tensor, Module)):
            return dataclasses.replace(other, none=True)
        if isinstance(other, Static):
            return Static()
        return other
    if isinstance(a, Tensor) and isinstance(b, Tensor):
        return Tensor(a.assumed and b.assumed, a.none or b.none, a.kind if a.kind == b.kind else None, a.param and b.param and a.buffer is b.buffer, a.buffer and b.buffer, a.number if a.number is b.number else None, a.host and b.host, a.python or b.python, min(a.dims, b.dims))
    if isinstance(a, Static) and isinstance(b, Static):
        return Static(MISSING, a.type if a.type == b.type else "", a.loose or b.loose, a.wide or b.wide)
    if isinstance(a, Module) and isinstance(b, Module) and a.is_bare and b.is_bare:
        return dataclasses.replace(a, items=_parts(a, b), none=a.none or b.none, element=join(a.element, b.element) if a.element or b.element else None)
    if isinstance(a, Module) and isinstance(b, Module):
        element = join(a.element, b.element) if a.element or b.element else None
        if element == UNKNOWN:
            element = None
        return Module(
            a.classes | b.classes,
            a.open or b.open,
            element,
            a.items if a.items == b.items else None,
            a.none or b.none,
            a.inplace if a.inplace is b.inplace else None,
            a.is_self and b.is_self,
            _either(a, b),
            a.whole and b.whole,
            a.flags if a.flags == b.flags else frozenset((name, None) for name, _ in a.flags | b.flags),
        )
    if isinstance(a, Instance) and isinstance(b, Instance):
        return Instance(a.classes | b.classes if a.classes and b.classes else frozenset())
    if isinstance(a, Sequence) and isinstance(b, Sequence):
        items = None
        if a.items is not None and b.items is not None and len(a.items) == len(b.items):
            items = tuple(join(x, y) for x, y in zip(a.items, b.items))
        return Sequence(_covering(a, b), items, a.tuple and b.tuple, _either(a, b) if items is None else None)
    if isinstance(a, (Module, Sequence)) and isinstance(b, (Module, Sequence)) and isinstance(a.element, Module) and isinstance(b.element, Module):
        return Sequence(join(a.element, b.element))  # `self.flows if forward else reversed(self.flows)`
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        placed = a.placed or b.placed
        if UNKNOWN in (a.element, b.element):  # `{}`, which modules are put into
            filled = b if a.element == UNKNOWN else a
            return Mapping(filled.element if isinstance(filled.element, Module) else UNKNOWN, placed)
        return Mapping(join(a.element, b.element), placed)
    if isinstance(a, Method) and isinstance(b, Method) and a.name == b.name:
        return Method(join(a.receiver, b.receiver), a.name)
    if isinstance(a, Torch) and isinstance(b, Torch) and _anywhere(a.name) == _anywhere(b.name):
        return Torch(_anywhere(a.name), a.function)
    if all(v == FUNCTION or isinstance(v, Torch) and v.function for v in (a, b)):
        return FUNCTION
    if (one_of := classes_of(a) | classes_of(b)) and classes_of(a) and classes_of(b):
        return Class(("one of", one_of))
    for one, other in ((a, b), (b, a)):
        if isinstance(one, Tensor) and one.assumed:
            return other if not isinstance(other, Static) else Tensor(assumed=True, python=True)
        if isinstance(one, Tensor) and isinstance(other, Static):  # a number that becomes a tensor in a loop
            number = one.number if other.type in ("int", "float", "bool") else one.number and None
            return dataclasses.replace(one, param=False, number=number, python=True)
        if isinstance(one, External) and one.name in GENERATORS and other == UNKNOWN:
            return one  # `random.Random() if rng is None else rng`
    if isinstance(a, Module) or isinstance(b, Module):
        module = a if isinstance(a, Module) else b
        assert isinstance(module, Module)
        other = b if module is a else a
        if isinstance(other, (Value, Class, External, Torch, Function)) and not isinstance(other, (Tensor, Static, Sequence, Mapping)):
            return dataclasses.replace(module, open=True)
    return UNKNOWN


def _parts(a: Module, b: Module) -> tuple[tuple[str, Value], ...]:
    """What two bare modules hold: `down.upsample = …` may be under an `if`, and is called under the same."""
    first, second = dict(a.items or ()), dict(b.items or ())
    return tuple((name, join(first.get(name), second.get(name))) for name in {**first, **second})


def _anywhere(name: str) -> str:
    """A type of tensors, wherever they are: torch.FloatTensor for torch.cuda.FloatTensor."""
    return "torch." + name.removeprefix("torch.cuda.") if name.startswith("torch.cuda.") and name.endswith("Tensor") else name


def classes_of(value: Value) -> frozenset[Any]:
    """The classes that a value may be, where all are known: `nn.LSTMCell if cell == "lstm" else nn.GRUCell`."""
    if isinstance(value, Class) and isinstance(value.ref, tuple):
        return value.ref[1] if value.ref[0] == "one of" else frozenset()
    if isinstance(value, Class):
        return frozenset([value.ref])
    if isinstance(value, Torch) and value.name.startswith(("torch.nn.", "torch.distributions.")) and value.name.rpartition(".")[2][:1].isupper():
        return frozenset([value.name])
    return frozenset()


def _covering(a: Sequence, b: Sequence) -> Value:
    if a.items == ():
        return b.element
    if b.items == ():
        return a.element
    return join(a.element, b.element)


def sequence(items: list[Value], is_tuple: bool = False) -> Sequence:
    """A list or tuple of these."""
    element: Value | None = None
    for item in items:
        element = join(element, item)
    return Sequence(element or UNKNOWN, tuple(items), is_tuple)


def beginning(value: Sequence | Module) -> Beginning | None:
    """How a list or container begins; None where that is not known."""
    if value.items is None:
        return value.beginning
    return of_items(members(value))


def members(value: Sequence | Module) -> list[Value]:
    """What a list or container that is written out holds, in order; nothing where it is not."""
    return [v for _, v in value.items or ()] if isinstance(value, Module) else list(value.items or ())


def both(a: Sequence | Module, b: Sequence | Module) -> Beginning | None:
    """How one followed by the other begins."""
    first, second = beginning(a), beginning(b)
    if first is not None and (second is not None or min(first.lengths, default=0) >= PLACES):
        return first.followed_by(second or first)
    return None


def _either(a: Sequence | Module, b: Sequence | Module) -> Beginning | None:
    first, second = _as_list(a), _as_list(b)
    return first.joined(second) if first is not None and second is not None else None


def _as_list(value: Sequence | Module) -> Beginning | None:
    """How a container begins; a layer that holds none is what comes first itself: of a Sequential or a Linear."""
    found = beginning(value)
    plain = isinstance(value, Module) and value.items is None and value.element is None and not value.open and value.classes
    return of_items([value]) if found is None and plain else found


def least_dims(value: Value) -> int:
    """How many dims an array has at least, or those of a list, as far as the source tells."""
    if isinstance(value, Sequence):
        return least_dims(value.element)
    return max(value.dims, int(value.param)) if isinstance(value, Tensor) else 0


def is_traced(value: Value) -> bool:
    """Whether the value is certain to be computed from array contents, so that jit does not know it."""
    return isinstance(value, Tensor) and not value.assumed and not value.none


def is_anything(value: Value) -> bool:
    """Whether nothing is known of the value, or it is only assumed to be an array."""
    return value == UNKNOWN or isinstance(value, Tensor) and value.assumed


def element_of(value: Value) -> Value:
    """What iterating over it yields."""
    if isinstance(value, Sequence):
        return value.element
    if isinstance(value, Tensor):
        return Tensor(value.assumed, kind=value.kind)
    if isinstance(value, Static):
        return Static(MISSING, "int" if value.type in ("range", "shape") else "")
    if isinstance(value, Module):
        return value.element or Module(open=True)
    return UNKNOWN


def is_choice(value: Value) -> bool:
    """A bool, a string, a shape or a tuple of such and numbers: what Python decides by, and no array could stand for."""
    if isinstance(value, Sequence):
        return isinstance(value.element, Static) and value.element != NONE
    return isinstance(value, Static) and value.type in ("bool", "str", "shape")
