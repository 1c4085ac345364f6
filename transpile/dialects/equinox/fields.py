"""The fields of a class with their types: what is set on `self`, and how it is held.

weight: jax.Array
bias: jax.Array | None
norm: nn.BatchNorm2d
hits: eqx.nn.StateIndex
steps: int = eqx.field(static=True)
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from ...facts.definite_assignment import sets
from ...facts.modules import ARRAYS, SUBMODULE, Field
from ...facts.nullness import possibly_none
from ...facts.values.lattice import Module, Static
from ...model.constants import is_none
from ...model.effects import MIXED, PARAM, Apply, New, NewArray, Support
from ...model.expressions import (
    Call,
    Comprehension,
    Constant,
    Dictionary,
    Display,
    FormattedString,
    Lambda,
    Name,
)
from ...model.names import dotted, in_scope, is_own, names_assigned, target_names
from ...model.node import Expression
from ...model.operators import Boolean, Compare, Conditional, Unary
from ...model.program import Class
from ...model.statements import Assign
from ..numpy_fields import HOLDER
from ..sharing.list_growth import holds_modules, is_trained
from ..threading.given_objects import holder_of
from ..walk_order import ORDER
from .computed_names import Computed
from .layers import NAMESPACE, OWN, built_name
from .plan import STATE, Plan

CALLABLE, ANY = "Callable", "Any"
STATIC = frozenset({"int", "float", "bool", "str"})
_CASTS = {"int": "int", "float": "float", "bool": "bool", "str": "str", "len": "int"}


@dataclass(frozen=True)
class Declared:
    """A field: its type as text, whether it is static, whether it may be left unset, and whether
    checkpoints have it."""

    name: str
    type: str
    static: bool = False
    unset: bool = False
    saved: bool = True


class Fields:
    """The fields of one class, before anything in it is edited."""

    def __init__(self, cls: Class, plan: Plan, prefix: str, computed: Computed) -> None:
        self.cls, self.plan, self.prefix = cls, plan, prefix
        self.modules = plan.modules
        self.methods = self.modules.home(cls).methods(cls)
        self.in_sequence = computed.in_sequence(cls)
        self.is_sequential = computed.is_sequential(cls)

    def all(self, mixed_in: Iterable[list[Declared]]) -> list[Declared]:
        """Those that the class declares: its own, and those of mixins."""
        inherited = self._inherited()
        found = [f for fields in [self.own(), *mixed_in] for f in fields]
        first = {f.name: f for f in reversed(found) if f.name not in inherited}
        found = [f for f in found if first.get(f.name) is f]
        if "__init__" not in self.methods:  # a dataclass makes one, which would ask for them
            found = [replace(f, unset=True) for f in found]
        return found

    def own(self) -> list[Declared]:
        """What the methods of this very class set."""
        found = [
            self._of(name, own)
            for name, own in self.modules.own_fields(self.cls).items()
            if own.kind != SUBMODULE or not self.in_sequence
        ]
        if self._has_made():
            found.append(Declared("arrays", "dict[str, jax.Array]"))
        if self.cls in self.plan.inferring:
            found.append(Declared("inference", "bool"))
        if self.cls in self.plan.with_order and "__init__" in self.methods:
            found.append(Declared(ORDER, "tuple[str, ...]", static=True))
        return found

    def _inherited(self) -> set[str]:
        """What the classes that it inherits from declare already."""
        mixins = self.plan.mixins(self.cls)
        lineage = [c for c in self.modules.lineage(self.cls)[1:] if c not in mixins]
        found = {name for cls in lineage for name in self.modules.own_fields(cls)}
        users = [c for c in lineage if not self.modules.is_library(c)]
        ordered = users if self.is_sequential else lineage  # the one below knows no order
        ordered = [c for c in ordered if c in self.plan.with_order]
        found |= {ORDER for cls in ordered if self.modules.constructor(cls) is not None}
        return found | {"inference" for cls in lineage if cls in self.plan.inferring}

    def _has_made(self) -> bool:
        return any(method.nodes(NewArray) for method in self.methods.values())

    def _of(self, name: str, own: Field) -> Declared:
        unset = not self._is_certain(name)
        if own.kind in ARRAYS:
            begins = not self.plan.begins_unset(name, self.cls)
            optional = begins and any(map(possibly_none, own.values)) or unset
            held = self._held(own.kind, name)
            static = own.kind not in (PARAM, MIXED) and held != STATE
            saved = held != STATE or self.plan.is_saved(name, self.cls)
            return Declared(name, held + " | None" * optional, static, unset, saved)
        if own.kind == SUBMODULE:
            types = dict.fromkeys(t for value in own.values for t in self._submodule(value))
            return Declared(name, _union(types), unset=unset)
        return self._plain(name, own, unset)

    def _held(self, kind: str, name: str) -> str:
        if kind == PARAM:
            return "jax.Array"
        if kind == MIXED and name not in self.plan.signatures.written:
            return "jax.Array | float"  # a number is no leaf that is trained
        word = self.plan.holder(kind, name, self.cls)
        return word if word == STATE else f"{self.prefix}{word}"

    # --- submodules -------------------------------------------------------------------------------

    def _submodule(self, value: Expression) -> Iterator[str]:
        if isinstance(value, Conditional):
            yield from self._submodule(value.body)
            yield from self._submodule(value.orelse)
        elif isinstance(value, New):
            yield self._built(value)
        elif is_none(value):
            yield "None"
        elif isinstance(value, (Display, Comprehension)) and value.kind == "list":
            yield self._listed(value)
        elif isinstance(value, Dictionary) or getattr(value, "kind", "") == "dict":
            yield "dict"
        else:
            yield self._given_back(value)

    def _given_back(self, value: Expression) -> str:
        """The type of what a method or a function makes, where that is a layer of torch's:
        `self._make_layer(64, 3)`."""
        made = value.value
        if not isinstance(value, Call) or not isinstance(made, Module) or made.open or made.none:
            return ANY
        classes = self.modules.classes_of(made.refs)
        if len(classes) != 1 or not self.modules.is_library(classes[0]):
            return ANY
        return ANY if classes[0].name == "Module" else self._of_layer(classes[0].name)

    def _built(self, call: New) -> str:
        name = built_name(call)
        if name == "ModuleList" and call.arguments:
            return self._listed(call.arguments[0])
        if name is not None:
            return self._of_layer(NAMESPACE if name == "Module" else name)
        return dotted(call.function) if self._is_class(call.function) else ANY  # type: ignore[return-value]

    def _of_layer(self, name: str) -> str:
        return OWN.get(name, f"{self.prefix}{name}")

    def _is_class(self, function: Expression) -> bool:
        """Whether a name in a constructor is that of a class: of no parameter, and nothing that the
        file makes, `LayerNorm = partial(nn.LayerNorm, eps=1e-6)`."""
        word = dotted(function)
        if word is None:
            return False
        first = word.partition(".")[0]
        inside = {p.name for m in self.methods.values() for p in m.parameters}
        inside |= {name for m in self.methods.values() for name in names_assigned(m)}
        assigns = in_scope(self.cls.file, Assign) if self.cls.file is not None else ()
        inside |= {name for a in assigns for t in a.targets for name in target_names(t)}
        return first not in inside and first != "self"

    def _listed(self, value: Expression) -> str:
        if isinstance(value, Comprehension):
            types = dict.fromkeys(self._submodule(value.element))
        elif isinstance(value, Display):
            types = dict.fromkeys(t for e in value.elements for t in self._submodule(e))
        else:
            return "list"
        return f"list[{_union(types)}]" if types and ANY not in types else "list"

    # --- what is no array -------------------------------------------------------------------------

    def _plain(self, name: str, own: Field, unset: bool) -> Declared:
        if self._is_called(name):
            return Declared(name, CALLABLE, unset=unset)
        if all(isinstance(v, Call) and _is_holder(v) for v in own.values):
            return Declared(name, f"{self.prefix}{HOLDER}", static=True, unset=unset)
        types = dict.fromkeys(self._type(value) for value in own.values)
        mutable = any(t in ("list", "dict", "set") for t in types)
        mutable = mutable or self._runs_part(name)
        if mutable or any(is_trained(v.value) or holds_modules(v.value) for v in own.values):
            return Declared(name, _union(types), unset=unset)
        return Declared(name, _union(types), static=True, unset=unset)

    def _type(self, value: Expression) -> str:
        """The type of a plain value, as far as its form and the parameters tell."""
        known = value.value
        if isinstance(known, Static) and known.type in STATIC:
            return known.type
        if isinstance(value, Constant):
            return "None" if value.constant is None else _named(value.constant)
        if isinstance(value, (Compare, Unary)) and getattr(value, "operator", "not") == "not":
            return "bool"
        if isinstance(value, Conditional):
            return _union(dict.fromkeys([self._type(value.body), self._type(value.orelse)]))
        if isinstance(value, Boolean):
            return ANY
        if isinstance(value, FormattedString):
            return "str"
        if isinstance(value, (Display, Comprehension)):
            return value.kind if value.kind in ("list", "tuple", "set", "dict") else ANY
        if isinstance(value, Dictionary):
            return "dict"
        if isinstance(value, Name):
            return self._parameter(value.id)
        if isinstance(value, Call) and isinstance(value.function, Name):
            return _CASTS.get(value.function.id, ANY)
        return ANY

    def _parameter(self, name: str) -> str:
        """The type of a parameter of the constructor: its annotation, or that of its default."""
        init = self.methods.get("__init__")
        for p in init.parameters if init is not None else ():
            if p.name != name:
                continue
            if isinstance(p.annotation, Name) and p.annotation.id in STATIC:
                return p.annotation.id
            if isinstance(p.default, Constant) and p.default.constant is not None:
                if not isinstance(p.default.constant, bool | str):
                    return _named(p.default.constant) if _only_int(p.default.constant) else "float"
                return _named(p.default.constant)
        return ANY

    def _is_called(self, name: str) -> bool:
        """Whether what a field holds is called, or runs: a function, a module of any class."""
        for method in self.methods.values():
            for call in [*method.nodes(Call), *method.nodes(Apply)]:
                function = call.function
                if is_own(function, "self") and function.name == name:
                    return True
        values = self.modules.own_fields(self.cls)[name].values
        return any(isinstance(v, (Lambda, Support)) for v in values)

    def _runs_part(self, name: str) -> bool:
        """Whether a field may be a module for all that is known, of which parts are called."""
        for method in self.methods.values():
            held = (holder_of(call, method) for call in method.nodes(Call, Apply))
            if any(h is not None and h.name == name for h in held):
                return True
        return False

    # --- is it set --------------------------------------------------------------------------------

    def _is_certain(self, name: str) -> bool:
        """Whether every way through the constructor sets a field."""
        init = self.methods.get("__init__")
        return init is not None and sets(init.body, name)


def _is_holder(call: Call) -> bool:
    return isinstance(call.function, Support) and call.function.name == HOLDER


def _only_int(value: object) -> bool:
    """A default 1 may stand for 1.5; one that is larger than any rate is a whole number."""
    return isinstance(value, int)


def _named(value: object) -> str:
    return type(value).__name__ if type(value).__name__ in STATIC else ANY


def _union(types: dict[str, None]) -> str:
    names = [t for t in types if t != "None"]
    if not names:
        return ANY
    if ANY in names:
        return ANY
    return " | ".join([*names, *["None"] * ("None" in types)])
