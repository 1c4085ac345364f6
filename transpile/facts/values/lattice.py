"""What is known of an expression's value: a small lattice of frozen dataclasses."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ...model import program
    from ...model.node import Node


@dataclass(frozen=True)
class Value:
    """Nothing is known: the top of the lattice."""


UNKNOWN = Value()

Width = frozenset[str]
USUAL: Width = frozenset()
NARROW: Width = frozenset({"narrow"})  # others widen it: float16, int8
WIDE: Width = frozenset({"wide"})  # it widens the usual one: float64


@dataclass(frozen=True)
class Tensor(Value):
    """An array, traced under jit."""

    assumed: bool = False  # a parameter that nothing says otherwise of
    none: bool = False  # may also be None
    kind: str | None = None  # "f", "i", "b", "c", or "u" for bytes, where known
    param: bool = False  # an nn.Parameter, or a buffer
    buffer: bool = False  # such a buffer, of a bare module or registered as one
    number: bool | None = False  # in torch a number of Python's, `x.item()`; None: it may be
    host: bool = False  # NumPy's, before it was traced: its methods are NumPy's
    python: bool = False  # on some way a number or bool of Python's, of which `~` is another thing
    dims: int = field(default=0, compare=False)  # it has at least so many, as far as is known
    empty: bool = False  # it may be of shape (0,), which torch.cat leaves out
    single: bool = field(default=False, compare=False)  # it has no dims for certain: `x.mean()`
    width: Width = USUAL  # how its dtype may stand to the usual one of its kind


@dataclass(frozen=True)
class Missing:
    """No constant is known."""


MISSING = Missing()


@dataclass(frozen=True)
class Static(Value):
    """Known when the function is traced: numbers, strings, shapes, dtypes, config objects, None."""

    const: Any = MISSING
    type: str = ""  # "int", "float", "bool", "str", "dtype", "device", "None", or ""
    loose: bool = field(default=False, compare=False)  # by a default or a call alone: others differ
    wide: bool = field(default=False, compare=False)  # NumPy's float: JAX counts it as float64


NONE = Static(None, "None")
INT = Static(MISSING, "int")
FLOAT = Static(MISSING, "float")
BOOL = Static(MISSING, "bool")
STRING = Static(MISSING, "str")
SHAPE = Static(MISSING, "shape")
FUNCTION = Static(MISSING, "function")  # of arrays: `partial(F.gelu, approximate="tanh")`
INITIALISER = Static(MISSING, "initialiser")  # one of torch.nn.init, or what is like one
ARRAY_TYPE = Static(MISSING, "array type")  # a parameter whose default is torch.FloatTensor
NUMPY = Static(MISSING, "numpy")  # an array of NumPy's, known when the function is traced
BACKWARD_CONTEXT = Static(MISSING, "backward context")  # the ctx of a torch.autograd.Function
BARE = frozenset({"torch.nn.Module"})


@dataclass(frozen=True)
class Module(Value):
    """A submodule: an instance of one of `classes`, layers by name or the user's."""

    classes: frozenset[Any] = frozenset()
    open: bool = False  # it may be of any other class
    element: Value | None = None  # of a container: the join of what it holds
    items: tuple[tuple[str, Value], ...] | None = None  # of a container: name and value of each
    none: bool = False
    inplace: bool | None = False  # writes its argument; None where only some do
    is_self: bool = False
    whole: bool = False  # with all the params that it can do without: `bias=True`
    flags: frozenset[tuple[str, bool | None]] = frozenset()  # that say what its calls return
    checked: bool = False  # open, but dialects see to it that others take no more than the classes
    still: bool = False  # made without dropout, `nn.LSTM(n, n)`: its calls draw nothing
    function: bool = False  # open, since it may be a plain function: `F.relu if b else nn.GELU()`
    sites: frozenset[Node] = field(default=frozenset(), compare=False)  # where a container is made

    @property
    def is_bare(self) -> bool:
        """Whether this is `down = nn.Module()`, whose items are what is set on it."""
        return self.classes == BARE and not self.open

    def with_part(self, name: str, value: Value) -> Module:
        """This bare module with something else under a name."""
        items = tuple({**dict(self.items or ()), name: value}.items())
        return dataclasses.replace(self, items=items)

    @property
    def refs(self) -> list[Any]:
        """The classes in an order of their own: that of a set changes from run to run."""
        return sorted(self.classes, key=_order) if len(self.classes) > 1 else list(self.classes)


def _order(ref: Any) -> tuple[str, str, int]:
    if isinstance(ref, str):
        return ref, "", 0
    return f"<class {ref.name}>", str(ref.file.path) if ref.file is not None else "", ref.start


@dataclass(frozen=True)
class Instance(Value):
    """An object of one of these rule classes whose methods draw: a distribution; of any if none."""

    classes: frozenset[str] = frozenset()


@dataclass(frozen=True)
class OneOf:
    """A class that is one of several, or a function of the user's that makes a module."""

    classes: frozenset[Any]
    makers: frozenset[Function] = frozenset()


@dataclass(frozen=True)
class Open:
    """A class in the place of which others may be given: the default of a parameter."""

    ref: Any
    given: bool = False  # and something else is, of which nothing is known: a function that makes
    checked: bool = False  # dialects see to it that what others make takes no more than is known


@dataclass(frozen=True)
class Class(Value):
    """A class: the user's, torch's by dotted name, `OneOf` several, or an `Open` one."""

    ref: Any


@dataclass(frozen=True)
class Function(Value):
    """A function or method of the user's."""

    function: program.Function
    owner: program.Class | None = None  # for a bound method: the class of its self
    base: bool = False  # called through super()


@dataclass(frozen=True)
class Functions(Value):
    """One of several functions or methods of the user's: `f if fast else g`."""

    several: frozenset[Function]

    @property
    def ordered(self) -> list[Function]:
        """The functions in an order of their own: that of a set changes from run to run."""
        return sorted(self.several, key=lambda one: _order(one.function))


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


LAMBDA = External("lambda")
CLOSED_LAMBDA = External("closed lambda")  # which reads what it is given alone: `lambda x: x`


@dataclass(frozen=True)
class Object(Value):
    """An instance of a class of the user's that is no module, by its own self."""

    cls: program.Class


@dataclass(frozen=True)
class Package(Value):
    """A file of the project, as a name imports it."""

    file: program.File


@dataclass(frozen=True)
class Sequence(Value):
    """A list or tuple; `items` where its length is known."""

    element: Value = UNKNOWN
    items: tuple[Value, ...] | None = None
    tuple: bool = False
    loose: bool = field(default=False, compare=False)  # by a default alone: others may be given
    sites: frozenset[Node] = field(default=frozenset(), compare=False)  # where a list is made


PLACED = frozenset({"device", "dtype"})  # what torch's layers are told about their params


@dataclass(frozen=True)
class Mapping(Value):
    """A dict; `placed` where it may tell layers the device or dtype of their params."""

    element: Value = UNKNOWN
    placed: bool = False
    sites: frozenset[Node] = field(default=frozenset(), compare=False)  # where it is made


# Generators of Python, NumPy and torch: an object goes by the name of its class.
GENERATORS = frozenset(
    "torch.Generator random.Random random.SystemRandom numpy.random.Generator"
    " numpy.random.RandomState numpy.random.default_rng".split()
)
REFUSED = External("")  # what is set on self by a call that raises: another value stands there


def is_initialiser(value: Value | None) -> bool:
    """Whether a value is a function that gives an array initial values in place."""
    if isinstance(value, Torch) and value.name.startswith("torch.nn.init."):
        return value.name.endswith("_")
    return value == INITIALISER


def classes_of(value: Value) -> frozenset[Any]:
    """The classes that a value may be, where all are known: `nn.LSTM if lstm else nn.GRU`."""
    if isinstance(value, Class):
        if isinstance(value.ref, Open):
            return frozenset()
        return value.ref.classes if isinstance(value.ref, OneOf) else frozenset([value.ref])
    if isinstance(value, Torch) and value.name.startswith(("torch.nn.", "torch.distributions.")):
        if value.name.rpartition(".")[2][:1].isupper():
            return frozenset([value.name])
    return frozenset()


def least_dims(value: Value) -> int:
    """How many dims an array has at least, or those of a list, as far as the source tells."""
    if isinstance(value, Sequence):
        return least_dims(value.element)
    many = isinstance(value, Tensor) and not value.single
    return max(value.dims, int(value.param)) if many else 0  # type: ignore[attr-defined]


def is_traced(value: Value) -> bool:
    """Whether the value is certain to be computed from array contents: jit does not know it."""
    return isinstance(value, Tensor) and not value.assumed and not value.none


def holds_module(value: Value) -> bool:
    """Whether a value is a module, or a list or dict of modules."""
    if isinstance(value, (Sequence, Mapping)):
        return holds_module(value.element)
    return isinstance(value, Module)


def is_param(value: Value | None) -> bool:
    """Whether the value is an array of a module: an nn.Parameter, or a buffer."""
    return isinstance(value, Tensor) and value.param


def is_anything(value: Value) -> bool:
    """Whether nothing is known of the value, or it is only assumed to be an array."""
    return value == UNKNOWN or isinstance(value, Tensor) and value.assumed


def element_of(value: Value) -> Value:
    """What iterating over it yields."""
    if isinstance(value, Sequence):
        return value.element
    if isinstance(value, Tensor):
        return Tensor(value.assumed, kind=value.kind, width=value.width)
    if isinstance(value, Static):
        return INT if value.type in ("range", "shape") else Static()
    if isinstance(value, Module):
        return value.element or Module(open=True)
    return UNKNOWN
