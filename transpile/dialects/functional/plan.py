"""What is settled before anything is edited: what each function takes, under which names."""

from collections.abc import Iterator
from typing import NamedTuple

from ...facts.modules import ARRAYS, SUBMODULE, Array, Field, numbers_kept
from ...facts.program import ProgramFacts
from ...facts.values.lattice import Module, Sequence, Value, classes_of
from ...model.constants import is_none
from ...model.effects import BUFFER, CONSTANT, MIXED, PARAM, Declare, New, NewArray, Support
from ...model.expressions import Call, Constant, Name
from ...model.names import is_own
from ...model.node import Expression
from ...model.operators import Boolean, sides
from ...model.program import Class, Function
from ...model.project import Project
from ...model.statements import Return
from ..sharing.placement import CONTAINERS
from ..threading import function_body
from ..threading.param_writers import Writers
from ..threading.reserved_names import rename_parameters
from .constant_properties import properties, written_outside
from .conventions import Conventions
from .loop_containers import Companions
from .module_lists import registered
from .number_params import numbers

WORDS = frozenset(("params", "state", "key", "training"))  # by which a model is called
MAKING = ("init", "init_state")  # by which its arrays are made
RESERVED = frozenset((*MAKING, "apply", "children", "add_module"))


class Words(NamedTuple):
    """The names of what a function takes beside its own."""

    params: str = "params"
    state: str = "state"
    key: str = "key"
    training: str = "training"


class Plan(function_body.Plan):
    """The conventions of a project's functions."""

    conventions: Conventions

    def __init__(self, project: Project, facts: ProgramFacts, conventions: Conventions) -> None:
        self.project, self.modules, self.facts = project, facts.modules, facts
        self.conventions = conventions
        self.param_writers = Writers(self.conventions)
        self.unsettled = self.conventions.unsettled
        self.numbers = numbers(self.conventions.functions)
        self.plain_numbers = numbers_kept(self.conventions.functions)
        functions = self.conventions.functions
        owners = self.settle(facts)
        self._fields = {cls: dict(self.modules.fields(cls)) for cls in owners}
        self._children = {cls: set(self._kept(cls)) for cls in owners}
        # the classes whose `init` is also that of a class that has submodules, or arrays by number
        filled = [cls for cls in owners if self._children[cls] or self._makes_by_name(cls)]
        holding = {c for cls in filled for c in self.modules.lineage(cls)}
        self._elsewhere = {cls: cls in holding or self._begins_elsewhere(cls) for cls in owners}
        stateful = self.conventions.stateful | written_outside(functions)
        self._properties = {cls: properties(cls, self.modules, stateful) for cls in owners}
        self.companions: dict[Function, Companions] = {}  # by the whole function
        self.repeated = set[str]()  # the attributes under which one module may have two places
        self._aliases = {cls: self._second_names(cls) for cls in owners}
        self._registered = {cls: registered(init) for cls in owners if (init := self._init(cls))}
        rename_parameters(self.conventions, WORDS, WORDS)

    def _init(self, cls: Class) -> Function | None:
        return self.modules.constructor(cls)

    def holder_of_list(self, cls: Class | None, name: str, me: str) -> str | None:
        """The path of what registers the modules that a plain list of a class has."""
        for one in self.modules.lineage(cls) if cls is not None else ():
            if name in self._registered.get(one, {}):
                return ".".join(filter(None, (me, self._registered[one][name])))
        return None

    def entry(self, cls: Class | None, name: str, me: str) -> Expression:
        """The name under which the params have a submodule: the first one of two."""
        first = self._aliases.get(cls, {}).get(name) if cls is not None else None
        if first == "":
            return Call(Support("name_of"), [Name(me), Constant(name)])
        return Constant(first or name)

    def _second_names(self, cls: Class) -> dict[str, str]:
        """Submodules that are others of the class: their first names; nothing where that is so
        under some configuration."""
        found, firsts, init = dict[str, str](), dict[str, str](), self._init(cls)
        given = {p.name for p in init.parameters} if init is not None else set()
        for name, own in self._fields[cls].items():
            ways = [side for value in own.values for side in _ways(value)]
            others = [v for v in ways if own.kind == SUBMODULE and _is_own(v)]
            if others:
                first = others[0].name  # type: ignore[attr-defined]
                again = len(self._fields[cls][first].values) if first in self._fields[cls] else 1
                found[name] = first if len(ways) == again == 1 else ""
            names = {v.id for v in ways if own.kind == SUBMODULE and isinstance(v, Name)}
            if any(firsts.setdefault(kept, name) != name for kept in names & given):
                found[name] = ""  # self.a, self.b = act, act, where act may be another by then
        return found

    # --- classes ----------------------------------------------------------------------------------

    def is_optional(self, cls: Class, name: str) -> bool:
        """Whether an array may not be there, in a class or in one that extends it."""
        found = [self.arrays(one).get(name) for one in (cls, *self.modules.below(cls))]
        return any(array is not None and array.optional for array in found)

    def holds(self, cls: Class, name: str) -> str:
        """What holds an array: `params`, `state`, or the module itself, as a constant."""
        array = self.arrays(cls).get(name)
        if array is None or array.kind not in ARRAYS or array.kind in (PARAM, MIXED):
            return PARAM
        stateful = array.kind == BUFFER and name in self.conventions.stateful
        return BUFFER if stateful else CONSTANT

    def unsaved(self, cls: Class) -> list[str]:
        """The state of a class that torch does not save."""
        arrays = self.arrays(cls).values()
        return [a.name for a in arrays if not a.persistent and self.holds(cls, a.name) == BUFFER]

    def properties(self, cls: Class | None) -> set[str]:
        """The constants that properties give, of a class or of those above it."""
        lineage = self.modules.lineage(cls) if cls is not None else []
        return {name for one in lineage for name in self._properties.get(one, ())}

    def fields(self, cls: Class) -> dict[str, Field]:
        """What is set on `self`, as it was before anything was edited."""
        return self._fields.get(cls, {})

    def is_child(self, cls: Class, name: str) -> bool:
        """Whether a class keeps a submodule under a name, on one way at least."""
        return any(name in self._children.get(one, ()) for one in self.modules.lineage(cls))

    def _kept(self, cls: Class) -> Iterator[str]:
        for method in self.modules.home(cls).methods(cls).values():
            yield from (d.name for d in method.nodes(Declare) if d.kind == SUBMODULE)

    def makes_arrays(self, new: New) -> bool:
        """Whether what is built may have params or a state, which had no place then."""
        if isinstance(new.function, Support):
            cls = self.modules.library.named(new.function.name)
            return cls is not None and self._has_arrays(cls, set())
        value = new.value
        refs = value.refs if isinstance(value, Module) and not value.open else []
        if not refs and (called := new.function.value) is not None:
            refs = list(classes_of(called))
        classes = self.modules.classes_of(refs)
        return not classes or any(self._has_arrays(cls, set()) for cls in classes)

    def may_have(self, value: Expression, *kinds: str) -> bool:
        """Whether a module, or one below it, may have arrays, of these kinds if any are said."""
        return self._may_have(value, set(), (*kinds, MIXED) if kinds else (PARAM, BUFFER, MIXED))

    def _has_arrays(
        self, cls: Class, seen: set[Class], kinds: tuple[str, ...] = (PARAM, BUFFER, MIXED)
    ) -> bool:
        """Whether a class, or one of its submodules, has arrays, as far as is known."""
        if cls in seen:
            return False
        seen.add(cls)
        if not self.modules.is_module(cls):
            return False
        lineage = self.modules.lineage(cls)
        arrays = [
            a for c in lineage for a in (self._arrays.get(c) or self.modules.arrays(c)).values()
        ]
        if any(self._is_leaf(a) and a.kind in kinds for a in arrays):
            return True
        made = [v for c in lineage for n in self._children.get(c, ()) for v in self._values(c, n)]
        return any(self._may_have(value, seen, kinds) for value in made)

    def _is_leaf(self, array: Array) -> bool:
        """Whether an array is in the params or the state; others are attributes."""
        stateful = array.name in self.conventions.stateful
        return array.kind == PARAM or array.kind in (BUFFER, MIXED) and stateful

    def _values(self, cls: Class, name: str) -> list[Expression]:
        found = self._fields.get(cls, {}).get(name)
        return found.values if found is not None else []

    def _may_have(self, value: Expression, seen: set[Class], kinds: tuple[str, ...]) -> bool:
        return not is_none(value) and self._holds(value.value, seen, kinds)

    def _holds(self, kept: Value | None, seen: set[Class], kinds: tuple[str, ...]) -> bool:
        if isinstance(kept, Sequence):
            parts = [v for v in (kept.element, *(kept.items or ())) if isinstance(v, Module)]
            return any(self._holds(part, seen, kinds) for part in parts)
        if not isinstance(kept, Module) or kept.open and not kept.checked:
            return True
        inside = [v for _, v in kept.items or ()]
        if kept.element is not None and not inside:
            inside = [kept.element]
        if any(not isinstance(part, Module) or part.open for part in inside):
            return True
        refs = [r for part in (kept, *inside) if isinstance(part, Module) for r in part.refs]
        classes = self.modules.classes_of(refs)
        return len(classes) < len(refs) or any(
            self._has_arrays(cls, seen, kinds) for cls in classes
        )

    def property(self, cls: Class, name: str) -> Function | None:
        """A property that says which submodule it is: `return getattr(self, self.norm_name)`."""
        found = self.modules.find(cls, name)
        if found is None or not self.project.is_property(found) or not found.parameters:
            return None
        last = found.body.body[-1] if len(found.body.body) == 1 else None
        value = last.expression if isinstance(last, Return) else None
        return found if value is not None and isinstance(value.value, Module) else None

    def begins_elsewhere(self, cls: Class) -> bool:
        """Whether there are arrays beside those of this class's own constructor: below it, or from
        the classes above."""
        return self._elsewhere[cls]

    def _makes_by_name(self, cls: Class) -> bool:
        """Whether a class has params under computed names, which are modules here, or made so by
        methods that `init` calls."""
        methods = self.modules.home(cls).methods(cls).values()
        made_later = (m for m in methods if m not in self.conventions.initialisers)
        return any(m.nodes(NewArray) for m in made_later)

    def _begins_elsewhere(self, cls: Class) -> bool:
        methods = self.modules.home(cls).methods(cls).values()
        lineage = self.modules.lineage(cls)
        bases = {(self.project.torch_base(c) or "").rpartition(".")[2] for c in lineage}
        if any(map(self.modules.fields, lineage[1:])) or not bases.isdisjoint(CONTAINERS):
            return True
        return self._makes_by_name(cls) or any(
            d.kind in ARRAYS
            for m in methods
            if m.name != "__init__" and m not in self.conventions.initialisers
            for d in m.nodes(Declare)
        )


def _ways(value: Expression | None) -> list[Expression]:
    """What a submodule may be: both sides of a choice, and of `self.a or self.b`."""
    found = sides(value)
    either = [
        w for v in found if isinstance(v, Boolean) for s in (v.left, v.right) for w in _ways(s)
    ]
    return [v for v in found if not isinstance(v, Boolean)] + either


def _is_own(value: Expression) -> bool:
    """Whether a value is another submodule: `self.first`, and not `jnp.tanh`."""
    made = value.nearest(Function)
    return made is not None and is_own(value, made.receiver)
