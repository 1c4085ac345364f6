"""Which arrays, submodules and fields the classes have, from the declarations in them.

It is asked after recognise, which makes the declarations. The layers of torch are classes like the
user's, in a project of their own (`Library`), and answer in the same way.
"""

import operator
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from ..model.constants import is_none
from ..model.effects import BUFFER, CONSTANT, MIXED, PARAM, Declare, Read, Support
from ..model.expressions import Attribute
from ..model.names import is_name
from ..model.node import Expression
from ..model.program import Class, Function, Scope
from ..model.project import Project
from ..model.statements import Assign
from ..model.unpacking import each_pair
from .equal_layers import are_equal
from .library import Library
from .nullness import possibly_none
from .values.lattice import Function as FunctionValue
from .values.lattice import Module, Static, Value

ARRAYS = (PARAM, BUFFER, CONSTANT, MIXED)
SUBMODULE, FIELD = "submodule", "field"
WEIGHT_NORMS = frozenset(("WeightNorm", "ParametrizedWeightNorm"))  # in our library of layers
SPECTRAL_NORMS = frozenset(("SpectralNorm", "ParametrizedSpectralNorm"))


@dataclass(frozen=True)
class Array:
    """An array of a class; `optional`: it is None, or not there, under some configuration."""

    name: str  # a pattern where it is computed: `weight_{i}`
    kind: str  # param, buffer, constant, or mixed
    optional: bool = False
    persistent: bool = True


@dataclass
class Field:
    """What is set on `self` under one name: its kind, and all the values that it is given."""

    kind: str
    values: list[Expression] = field(default_factory=list)


class Modules:
    """The classes of a project, and torch's layers."""

    def __init__(self, project: Project, library: Library) -> None:
        self.project, self.library = project, library
        self._own: dict[Class, tuple[int, dict[str, Field]]] = {}
        self._lineages: dict[Class, tuple[list[Class | str], list[Class]]] = {}
        self._fields: dict[Class, tuple[list[dict[str, Field]], dict[str, Field]]] = {}

    def class_of(self, ref: Any) -> Class | None:
        """The class that a value names: the user's own, or a layer by torch's name."""
        return ref if isinstance(ref, Class) else self.library.find(ref)

    def classes_of(self, refs: Iterable[Any]) -> list[Class]:
        """The classes that some values name; none where one of them is not known."""
        found = [self.class_of(ref) for ref in refs]
        known = [cls for cls in found if cls is not None]
        return known if len(known) == len(found) else []

    def classes_of_value(self, value: Value | None) -> list[Class]:
        """The classes that a module may be of; none where one is not known, or it is none."""
        return self.classes_of(value.refs) if isinstance(value, Module) else []

    def constructor(self, cls: Class) -> Function | None:
        """The constructor that a class, of the user's or the library's, has of its own."""
        return self.home(cls).methods(cls).get("__init__")

    def constructors(self) -> Iterator[tuple[Class, Function]]:
        """The user's classes of modules that have a constructor of their own, with that."""
        for cls in [c for file in self.project.ordered for c in file.classes()]:
            init = self.project.methods(cls).get("__init__") if self.is_module(cls) else None
            if init is not None and init.parameters:
                yield cls, init

    def home(self, cls: Class) -> Project:
        """The project that a class stands in."""
        inside = cls.file is not None and cls.file in self.library.project.names
        return self.library.project if inside else self.project

    def instead(self, method: FunctionValue) -> list[Function]:
        """The methods that may run in the place of one, of objects that are no modules."""
        owner = None if method.base else method.owner
        plain = owner is not None and not self.project.is_module(owner)
        return self.home(owner).overriding(owner, method.function.name) if plain else []  # type: ignore[arg-type]

    def is_library(self, cls: Class) -> bool:
        """Whether a class is one of torch's layers."""
        return self.home(cls) is self.library.project

    def is_identity(self, function: Function) -> bool:
        """Whether this is what torch's Identity runs, which stands in the place of a layer."""
        owner = function.owner
        return owner is not None and owner.name == "Identity" and self.is_library(owner)

    def lineage(self, cls: Class) -> list[Class]:
        """A class and those it inherits from, in the order in which Python looks for a method.

        A class of the user's that extends a layer of torch's goes on with that.
        """
        order = self.home(cls).order(cls)
        known = self._lineages.get(cls)
        if known is None or known[0] is not order:
            found: list[Class] = []
            for one in order:
                if isinstance(one, Class):
                    found.append(one)
                elif (layer := self.library.find(one)) is not None:
                    found += self.lineage(layer)
            known = self._lineages[cls] = order, list(dict.fromkeys(found))
        return known[1]

    def below(self, cls: Class) -> list[Class]:
        """The classes that extend a class: of a layer of torch's the user's too."""
        found = list(self.home(cls).descendants(cls))
        if self.is_library(cls):
            modules = [c for c in self.project.classes() if self.project.is_module(c)]
            found += [c for c in modules if cls in self.lineage(c)]
        return found

    def find(self, cls: Class, method: str) -> Function | None:
        """A method, own or inherited, of torch's layers too."""
        methods = (self.home(c).methods(c).get(method) for c in self.lineage(cls))
        return next((found for found in methods if found is not None), None)

    def of_layer(self, function: Expression) -> Function | None:
        """The method of a layer of torch's that is called by its name: `nn.Linear.__init__`."""
        if not isinstance(function, Attribute) or not isinstance(function.object, Support):
            return None
        cls = self.library.named(function.object.name)
        return self.find(cls, function.name) if cls is not None else None

    def is_normed(self, array: Read) -> bool | None:
        """Whether weight norm computes an array of params alone; False where it may be that of
        another layer, or of a spectral norm; None of what is a param itself."""
        names = self._holders(array)
        if _is_param(array) or not names & (WEIGHT_NORMS | SPECTRAL_NORMS):
            return None
        return names <= WEIGHT_NORMS

    def is_spectral(self, array: Read) -> bool:
        """Whether an array may be one that a spectral norm computes, for one call."""
        return not _is_param(array) and bool(self._holders(array) & SPECTRAL_NORMS)

    def _holders(self, array: Read) -> set[str]:
        value = array.object.value
        return {
            cls.name for cls in self.classes_of(value.refs if isinstance(value, Module) else [])
        }

    def is_module(self, cls: Class) -> bool:
        home = self.home(cls)
        return home is self.library.project or home.is_module(cls)

    # --- what is set on self ----------------------------------------------------------------------

    def own_fields(self, cls: Class) -> dict[str, Field]:
        """What methods of this very class set on `self`, the constructor first."""
        methods = self.home(cls).methods(cls)
        version = sum(m.version for m in methods.values())
        known = self._own.get(cls)
        if known is None or known[0] != version:
            found: dict[str, Field] = {}
            ordered = sorted(methods.values(), key=lambda m: m.name != "__init__")
            for method in ordered:
                for name, kind, value in _set(method):
                    _note(found, name, kind, value)
            known = self._own[cls] = version, found
        return known[1]

    def fields(self, cls: Class) -> dict[str, Field]:
        """What is set on `self`, by base classes first."""
        own = [self.own_fields(one) for one in reversed(self.lineage(cls))]
        known = self._fields.get(cls)
        if known is None or len(known[0]) != len(own) or any(map(operator.is_not, known[0], own)):
            found: dict[str, Field] = {}
            for fields in own:
                for name, one in fields.items():
                    for value in one.values:
                        _note(found, name, one.kind, value)
            known = self._fields[cls] = own, found
        return known[1]

    def arrays(self, cls: Class) -> dict[str, Array]:
        """The arrays of a class, inherited ones too, in the order of registration."""
        return {
            name: Array(name, own.kind, _optional(own), _persistent(own))
            for name, own in self.fields(cls).items()
            if own.kind in ARRAYS
        }

    def may_be_none(self, scope: Scope, place: str) -> bool:
        """Whether an array of a module (`self.sum`) may be None until something sets it."""
        around = next((n for n in (scope, *scope.ancestors()) if isinstance(n, Class)), None)
        head, _, name = place.partition(".")
        if around is None or "." in name:
            return False
        array = self.arrays(around).get(name)
        return array is not None and array.optional

    def children(self, cls: Class) -> dict[str, Field]:
        """The submodules of a class by name, with what they are set to."""
        return {n: own for n, own in self.fields(cls).items() if own.kind == SUBMODULE}

    def equal(self, layers: Expression) -> bool | None:
        """Whether all modules of a container are one function of their params; None where that is
        not known (`equal_layers.py`)."""
        return are_equal(self, layers)


def _is_param(array: Read) -> bool:
    """Whether a layer around another one has an array itself, or leaves it to that:
    `weight_norm(layer).weight_g`, `.bias`."""
    return array.name == "bias" or array.name.endswith(("_g", "_v", "_u", "_orig"))


def _set(method: Function) -> Iterator[tuple[str, str, Expression]]:
    """What a method sets on its first parameter: name, kind, value."""
    first = method.receiver
    for statement in method.nodes(Declare, Assign):
        if isinstance(statement, Declare):
            if statement.expression is not None:
                yield statement.name, statement.kind, statement.expression
            continue
        for name, value in each_pair(statement):
            if isinstance(name, Attribute) and is_name(name.object, first):
                if name.name != "__dict__":  # which every object has
                    yield name.name, FIELD, value


def _note(found: dict[str, Field], name: str, kind: str, value: Expression) -> None:
    own = found.get(name)
    if own is None:
        found[name] = Field(kind, [value])
        return
    own.values.append(value)
    if own.kind == FIELD and (kind in (PARAM, BUFFER) or all(map(is_none, own.values[:-1]))):
        # `self.bias = None`, and then a param; a buffer that `forward` sets, above what declares it
        own.kind = kind
    elif kind in ARRAYS and own.kind in ARRAYS and kind != own.kind:
        own.kind = MIXED


def _optional(own: Field) -> bool:
    return any(possibly_none(value) for value in own.values)


def is_number(value: Expression | None) -> bool:
    """Whether an expression is a number of Python's."""
    known = value.value if value is not None else None
    return isinstance(known, Static) and known.type in ("bool", "int", "float")


def numbers_kept(functions: Iterable[Function]) -> set[str]:
    """The names under which modules keep numbers of Python's: `self.scale = 2.0`."""
    assigns = (a for f in functions if f.owner is not None for a in f.nodes(Assign))
    plain = (a for a in assigns if not isinstance(a, Declare) and is_number(a.expression))
    return {t.name for a in plain for t in a.targets if isinstance(t, Attribute)}


def _persistent(own: Field) -> bool:
    return all(v.parent.persistent for v in own.values if isinstance(v.parent, Declare))
