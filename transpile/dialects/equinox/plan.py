"""What is settled before anything is edited: who takes a state and keys, under which names."""

from ...facts.modules import ARRAYS, SUBMODULE, Array, Field
from ...facts.nullness import possibly_none
from ...facts.program import ProgramFacts
from ...facts.stored_types import becomes_another
from ...facts.values.lattice import Module, Sequence, Value
from ...model.constants import is_none
from ...model.effects import BUFFER, MIXED, PARAM, Mode, Read, Support, Tie, Write
from ...model.expressions import Attribute, Call, Name
from ...model.names import everywhere, is_own
from ...model.node import Expression
from ...model.program import Class, Function
from ...model.project import Project
from ...source.lower_ast import expression
from ..threading import function_body
from ..threading.param_writers import Writers, is_plain
from ..threading.reserved_names import rename_parameters
from ..threading.signatures import Signatures
from ..walk_order import Ordered, is_by_fields

STATE = "eqx.nn.StateIndex"
WORDS = frozenset(("state", "key"))  # by which calls are given what a model takes


class Plan(function_body.Plan):
    """The conventions of a project's functions in Equinox."""

    def __init__(
        self,
        project: Project,
        facts: ProgramFacts,
        signatures: Signatures,
        listed: dict[tuple[Class, str], str],
    ) -> None:
        self.project, self.modules, self.facts = project, facts.modules, facts
        self.signatures = self.conventions = signatures
        self.listed = listed  # the fields with the names of what a property lists
        self.read = self._read() if any(everywhere(f, Tie) for f in project.ordered) else set()
        self.methods = {f.name for f in project.functions() if f.owner is not None}
        self._modes: dict[Class, bool] = {}
        self.inferring = self._inferring()
        self.ordered = Ordered(project, facts)
        owners = self.settle(facts)
        # the classes that have a field for their order
        self.with_order = {
            c for c in owners if c in self.ordered and not is_by_fields(self.modules, c)
        }
        self.param_writers = Writers(signatures, is_plain)
        self._unset = {
            (cls, name)
            for cls in owners
            for name, own in self.modules.fields(cls).items()
            if own.kind in ARRAYS and self._is_unset(own, self._arrays[cls].get(name))
        }
        self._changed = {
            write
            for function in self.signatures.functions
            for write in function.nodes(Write)
            if isinstance(write.target, Read)
            and becomes_another(self.modules, self.classes_at(write.target, function), write)
        }
        # what takes a state is a StatefulLayer: a plain module may have a `state` of its own
        rename_parameters(self.signatures, WORDS, WORDS - {"state"})

    def _is_unset(self, own: Field, array: Array | None) -> bool:
        """Whether what a field begins with is None; where torch does not save it, it may be: the
        `last` of `Net(last=None)`, which calls set."""
        cached = array is not None and not array.persistent
        return all(map(is_none, own.values)) or cached and any(map(possibly_none, own.values))

    def may_have(self, value: Expression) -> bool:
        """Whether a module, or one below it, may have params, or a state."""
        return not is_none(value) and self._holds(value.value, set())

    def _holds(self, kept: Value | None, seen: set[Class]) -> bool:
        if isinstance(kept, Sequence):
            return any(self._holds(v, seen) for v in (kept.element, *(kept.items or ())))
        if not isinstance(kept, Module) or kept.open and not kept.checked:
            return isinstance(kept, Module)
        inside = [v for _, v in kept.items or ()]
        if kept.element is not None and not inside:
            inside = [kept.element]
        classes = self.modules.classes_of(kept.refs)
        if len(classes) < len(kept.refs) or any(self._holds(v, seen) for v in inside):
            return True
        return any(self._has_params(cls, seen) for cls in classes)

    def _has_params(self, cls: Class, seen: set[Class]) -> bool:
        if cls in seen or not self.modules.is_module(cls):
            return False
        seen.add(cls)
        lineage = self.modules.lineage(cls)
        fields = [own for c in lineage for own in self.modules.fields(c).values()]
        if any(own.kind in (PARAM, MIXED) for own in fields):
            return True
        names = {
            n for c in lineage for n, own in self.modules.fields(c).items() if own.kind == BUFFER
        }
        if names & self.signatures.written:  # which each place would change for itself
            return True
        made = [v for own in fields if own.kind == SUBMODULE for v in own.values]
        return any(self._holds(v.value, seen) for v in made)

    # --- functions --------------------------------------------------------------------------------

    def names_of(self, listed: Expression, function: Function) -> Attribute | None:
        """The field with the names of the modules that a property of its class lists."""
        owner, held = function.owner, listed.object if isinstance(listed, Attribute) else None
        if owner is None or not isinstance(held, Name) or held.id != function.receiver:
            return None
        names = self.listed.get((owner, listed.name))  # type: ignore[attr-defined]
        return Attribute(Name(held.id), names) if names is not None else None

    def begins_unset(self, name: str, cls: Class | None) -> bool:
        """Whether a state is None until something is written, as what a model caches."""
        return (cls, name) in self._unset and name in self.signatures.written

    def classes_at(self, read: Read, function: Function) -> list[Class | None]:
        """The classes of the module that has an array: of self, that of the function."""
        value = read.object.value
        own = is_own(read, function.receiver)
        if own or not isinstance(value, Module):
            return [function.owner]
        return [*self.modules.classes_of(value.refs)]

    def is_unset_at(self, read: Read, function: Function) -> bool:
        """The same of a state wherever it is; a class below may be the one that declares it."""
        classes = [c for c in self.classes_at(read, function) if c is not None]
        family = [one for cls in classes for one in (cls, *self.modules.below(cls))]
        return any(self.begins_unset(read.name, one) for one in family)

    def is_reshaped(self, read: Read, function: Function, write: Write) -> bool:
        """Whether a state may be of another shape or dtype, or None, before a call and after it."""
        classes = self.classes_at(read, function)
        unsaved = any(not self.is_saved(read.name, c) for c in classes)
        return unsaved or write in self._changed or self.is_unset_at(read, function)

    def is_saved(self, name: str, cls: Class | None) -> bool:
        """Whether torch saves a buffer; what it does not may be of another shape with each call."""
        array = self.arrays(cls).get(name) if cls is not None else None
        return array is None or array.persistent

    def holder(self, kind: str, name: str, cls: Class | None) -> str:
        """What holds a buffer or constant: it changes while the model runs, or it never does;
        then only what torch saves can come from a checkpoint."""
        if kind == BUFFER and name in self.signatures.written:
            return STATE
        return "Buffer" if kind == BUFFER and self.is_saved(name, cls) else "Constant"

    def held(self, kind: str, name: str, cls: Class | None, value: Expression) -> Expression:
        """A value of a buffer or constant in what holds it."""
        word = self.holder(kind, name, cls)
        if word == STATE:
            return Call(expression("eqx.nn.StateIndex"), [value])
        return Call(Support(word), [value])

    # --- classes ----------------------------------------------------------------------------------

    def is_stateful(self, cls: Class) -> bool:
        """Whether its calls take a state; of a class without calls, all those of classes below."""
        call = self.modules.find(cls, "__call__")
        if call is not None:
            return self.signatures.of(call).takes
        below = self.modules.home(cls).descendants(cls)
        methods = [m for c in below if (m := self.modules.find(c, "__call__")) is not None]
        return bool(methods) and all(self.signatures.of(m).takes for m in methods)

    def mixins(self, cls: Class) -> list[Class]:
        """The mixins below which a class is the first module: their fields are its own."""
        above = self.modules.lineage(cls)[1:]
        modules = [one for one in above if not self.is_mixin(one)]
        known = {one for module in modules for one in self.modules.lineage(module)}
        return [one for one in above if one not in known]

    def is_mixin(self, cls: Class) -> bool:
        """Whether a class is no module itself: fields are those of an `eqx.Module` alone."""
        return not self.modules.is_library(cls) and not self.project.extends_module(cls)

    def _read(self) -> set[str]:
        """The names that are read, by which an array may be asked for that becomes another's."""
        attributes = (n for f in self.project.ordered for n in everywhere(f, Attribute, Read))
        return {n.name for n in attributes if not is_tied(n)}

    def _inferring(self) -> set[Class]:
        """The classes that have the field `inference`: those whose methods ask for the mode, or
        of which others ask it, or the classes whose constructor they have."""
        found: set[Class] = set()
        for function in self.signatures.functions:
            for mode in function.nodes(Mode):
                cls, value = function.owner, mode.object.value
                if cls is not None and isinstance(mode.object, Name):
                    found.add(self._constructing(cls))
                elif isinstance(value, Module) and not value.open:
                    asked = self.modules.classes_of(value.refs)
                    found |= {
                        self._constructing(c) for c in asked if not self.modules.is_library(c)
                    }
        return found

    def lacks_mode(self, module: Expression) -> bool:
        """Whether it may be a layer that is the same in both modes, and has no field for it."""
        value = module.value
        if not isinstance(value, Module) or value.open or value.is_self:
            return False
        asked = self.modules.classes_of(value.refs)
        own = (cls for cls in asked if self.modules.is_library(cls))
        return any(self.inferring.isdisjoint(self.modules.lineage(cls)) for cls in own)

    def _constructing(self, cls: Class) -> Class:
        for one in self.modules.lineage(cls):
            if "__init__" in self.modules.home(one).methods(one):
                return one
        return cls


def is_tied(array: Attribute) -> bool:
    """Whether it is the one that becomes another's."""
    return isinstance(array.parent, Tie) and array.parent.target is array
