"""What a program holds, asked before anything is edited: functions, classes, arrays, ties, mode.

ProgramFacts are asked of nodes, and editing changes those: afterwards only what was asked is there.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from ...facts.modules import ARRAYS, SUBMODULE, numbers_kept
from ...facts.nullness import named_none, possibly_none
from ...facts.program import ProgramFacts
from ...facts.values.lattice import Module as ModuleValue
from ...facts.values.lattice import Static, Tensor
from ...model.constants import is_none
from ...model.effects import Declare, Mode, NewArray, Support, Tie, Write
from ...model.expressions import Attribute, Name
from ...model.names import dotted, everywhere, is_target, names_in
from ...model.node import Expression, Node
from ...model.program import Class, File, Function, Parameter
from ...model.project import Project
from ..sharing.list_growth import is_list
from ..sharing.ties import ProgramTies, Tied
from .initial_values import Begun, begun
from .layers import FUNCTIONS, REPLACED

RUNNING = frozenset({"running_mean", "running_var", "num_batches_tracked"})
DETERMINISTIC, RUNNING_AVERAGE = "deterministic", "use_running_average"


class Program:
    """A project and the layers of the library that it uses, as they were before any edit."""

    def __init__(self, project: Project, facts: ProgramFacts, used: Iterable[str]) -> None:
        self.project, self.facts = project, facts
        self.modules, self.library = facts.modules, facts.modules.library.project
        self.definition = facts.modules.library.definition
        self.needed = self._reached(used)
        self.units = list(self._units())
        self.classes = [c for c in self._classes() if self.modules.is_module(c)]
        self.modes: set[Class] = set()
        self.building: set[Function] = set()  # what constructors run
        self._families = {
            c: [*self.modules.lineage(c), *self.modules.below(c)] for c in self.classes
        }
        self._arrays = {c: self._all_arrays(c) for c in self.classes}
        declared = {
            c: [d for f in c.nodes(Function) for d in f.nodes(Declare)] for c in self.classes
        }
        self._submodules = {
            c: {d.name for d in ds if d.kind == SUBMODULE} for c, ds in declared.items()
        }
        self._computed = {c for c in self.classes if any(isinstance(n, NewArray) for n in c.walk())}
        self._set_on_others = set(self._set_beyond())
        self._begun = {c: begun(c, self.given) for c in self.classes}
        self.plain_numbers = numbers_kept(self.units)
        methods: dict[Class, list[Function]] = {c: [] for c in self.classes}
        for function in self.units:
            if (cls := self.owner(function)) is not None:
                methods[cls].append(function)
        self.ties = ProgramTies(methods, self.modules, items=False)
        self._find_modes()

    # --- what is in it ----------------------------------------------------------------------------

    def _reached(self, used: Iterable[str]) -> dict[str, Class | Function]:
        """The definitions of the library that these names need."""
        found: dict[str, Class | Function] = {}
        todo = sorted(used)
        while todo:
            name = todo.pop()
            node = self.definition(name)
            if node is not None and name not in found:
                found[name] = node
                todo += names_in(node)
        return found

    def _units(self) -> Iterator[Function]:
        """The functions and methods; those inside others belong to them."""
        for file in self.project.ordered:
            yield from (f for f in file.functions() if self.unit(f) is f)
        for node in self.needed.values():
            if isinstance(node, Function):
                yield node
            else:
                yield from node.nodes(Function)

    def _classes(self) -> Iterator[Class]:
        yield from self.project.classes()
        yield from (n for n in self.needed.values() if isinstance(n, Class))

    def unit(self, node: Node) -> Function | None:
        """The function or method that runs a node, not those inside of others: a default is made
        where the function is defined."""
        found: Function | None = node if isinstance(node, Function) else None
        inner = node
        for around in node.ancestors():
            if isinstance(around, Function) and not isinstance(inner, Parameter):
                found = around
            inner = around
        return found

    def owner(self, function: Function | None) -> Class | None:
        """The module class whose method this is; None of a static one."""
        cls = function.owner if function is not None else None
        if function is None or cls is None or not self.modules.is_module(cls):
            return None
        home = self.modules.home(cls)
        if home.is_static(function) or home.is_classmethod(function):
            return None
        return cls

    def self_name(self, function: Function) -> str:
        return function.receiver or "self"

    def is_library(self, node: Node) -> bool:
        return node.file is not None and node.file in self.library.names

    def family(self, cls: Class) -> list[Class]:
        return self._families.get(cls, [cls])

    # --- arrays -----------------------------------------------------------------------------------

    def _all_arrays(self, cls: Class) -> dict[str, tuple[str, bool, bool]]:
        """Kind, whether it may be None, and whether construction leaves it None, of what is on
        self."""
        found: dict[str, tuple[str, bool, bool]] = {}
        for one in reversed(self._families.get(cls, [cls])):
            for name, own in self.modules.own_fields(one).items():
                kind, optional, unset = found.get(name, ("field", False, True))
                known = own.kind if own.kind != "field" else kind
                given = ("optional" in self.given(v) for v in own.values)
                none = any(map(possibly_none, own.values)) or optional or any(given)
                unset = unset and all(map(is_none, own.values))
                found[name] = known, none, unset
        return found

    def array(self, cls: Class | None, name: str) -> tuple[str, bool] | None:
        """The kind of an array of a class, and whether it may be None."""
        found = self._arrays.get(cls, {}).get(name) if cls is not None else None
        return found[:2] if found is not None and found[0] in ARRAYS else None

    def is_unset(self, cls: Class | None, name: str) -> bool:
        """Whether an array is None until the model runs."""
        found = self._arrays.get(cls, {}).get(name) if cls is not None else None
        return found is not None and found[0] in ARRAYS and found[2]

    def is_data(self, cls: Class, name: str) -> bool:
        """Whether an attribute holds an array or a submodule in some class of the family."""
        found = self._arrays.get(cls, {}).get(name)
        return found is not None and (found[0] in ARRAYS or found[0] == SUBMODULE)

    def becomes_module(self, cls: Class, name: str) -> bool:
        """Whether an attribute is set to a submodule somewhere: `self.layers = []` before that."""
        return any(name in self._submodules.get(c, ()) for c in self.family(cls))

    def may_hold_static(self, node: Declare) -> bool:
        """Whether what an attribute holds before it is set to a module may be no data, which NNX
        keeps it for: `self.norm = norm`, and then `if self.norm is None: self.norm = …`. Of what
        another method sets it is not asked which comes first."""
        cls = self.owner(self.unit(node))
        own = self.modules.own_fields(cls).get(node.name) if cls is not None else None
        around, before = list(node.ancestors()), True
        made = node.expression is not None and isinstance(node.expression.value, ModuleValue)
        for value in own.values if own is not None else ():
            before = before and value is not node.expression
            kept = value.value
            sure = isinstance(kept, ModuleValue) and not (kept.none or kept.open)
            sure = sure or is_none(value) or is_list(value)  # which NNX is told
            elsewhere = made and value.nearest(Function) not in around
            there = before and getattr(value.parent, "parent", None) in around
            if not sure and value is not node.expression and (elsewhere or there):
                return True
        return False

    def is_set_again(self, cls: Class, name: str) -> bool:
        """Whether an attribute is set in several places of the family, or on another module than
        self: `self.fc.bias = self.embed.bias`."""
        family = self.family(cls)
        own = (self.modules.own_fields(c).get(name) for c in family)
        beyond = any((c, name) in self._set_on_others for c in (None, *family))
        return beyond or sum(len(f.values) for f in own if f is not None) > 1

    def _set_beyond(self) -> Iterator[tuple[Class | None, str]]:
        """The attributes that are set on others than self, each with its class, or None."""
        for unit in self.units:
            me = self.self_name(unit) if self.owner(unit) is not None else ""
            stored: list[Node] = [node for node in everywhere(unit, Attribute) if is_target(node)]
            stored += [node.target for node in everywhere(unit, Tie)]
            stored += [node.target for node in everywhere(unit, Write) if node.bound]
            for target in stored:
                if isinstance(target, Attribute) and dotted(target.object) != me:
                    for cls in self.classes_at(target.object, unit) or (None,):
                        yield cls, target.name

    def begun(self, cls: Class, name: str) -> Begun:
        """How an array begins that the model sets while it runs, and what it is given then."""
        found = [self._begun[c][name] for c in self.family(cls) if name in self._begun.get(c, ())]
        return Begun(*map(any, zip(*found))) if found else Begun()

    def given(self, value: Expression) -> str:
        """Whether what an array is set to is a "number" of Python's, or a parameter that may be
        one; and whether it may be None by its default: "optional", or "optional number"."""
        if isinstance(value.value, Static):
            return "number" if value.value.type in ("bool", "int", "float") else ""
        unit = self.unit(value)
        if not isinstance(value, Name) or unit is None or self.is_library(value):
            return ""
        found = next((p for p in unit.parameters if p.name == value.id), None)
        kind = "" if found is None or isinstance(value.value, Tensor) else "number"
        return f"optional {kind}".strip() if named_none(value) else kind

    def has_computed(self, cls: Class) -> bool:
        """Whether a class of the family makes arrays under names that it computes."""
        return any(c in self._computed for c in self.family(cls))

    # --- the mode ---------------------------------------------------------------------------------

    def _find_modes(self) -> None:
        for function in self.units:
            for node in function.walk():
                if isinstance(node, Mode):
                    self.modes.update(self.classes_at(node.object, function))

    def classes_at(self, node: Expression, function: Function) -> list[Class]:
        """The module classes that an expression may be of; none where that is not known."""
        own = self.owner(function)
        if own is not None and isinstance(node, Name) and node.id == self.self_name(function):
            return [own]
        value = node.value
        if not isinstance(value, ModuleValue) or value.open:
            return []
        found = [self.modules.class_of(ref) for ref in value.refs]
        return [cls for cls in found if cls is not None]

    def mode(self, cls: Class | None) -> str:
        """The attribute by which a class tells the mode."""
        families = self.family(cls) if cls is not None else []
        arrays = {name for c in families for name in self.modules_fields(c)}
        return RUNNING_AVERAGE if arrays & RUNNING else DETERMINISTIC

    def modules_fields(self, cls: Class) -> Iterable[str]:
        return self._arrays.get(cls, ())

    def has_own_mode(self, cls: Class) -> bool:
        """Whether the attribute is set here: no class that it inherits from has it."""
        above = self.modules.lineage(cls)[1:]
        return cls in self.modes and not any(c in self.modes for c in above)

    # --- ties -------------------------------------------------------------------------------------

    def tied(self, function: Function | None, path: str | None) -> list[Tied]:
        """The arrays of a module and of those below, by its path, that are owned elsewhere."""
        me, _, holder = (path or "").partition(".")
        if function is None or function in self.building or me != self.self_name(function):
            return []
        found = self.ties.of(self.owner(function))
        return [*found.of(holder), *(found.below(holder) if holder else ())]

    def written_tie(self, function: Function | None, path: str | None) -> Tied | None:
        """Whose the array at a path is that a function writes while a model is built."""
        if function is None or path is None or function not in self.building:
            return None
        holder, _, name = path.rpartition(".")
        me, _, holder = holder.partition(".")
        own = me == self.self_name(function)
        return self.ties.of(self.owner(function)).array(holder, name) if own else None


def names_used(files: Iterable[File], plan_names: Iterable[str] = ()) -> set[str]:
    """The definitions of the support file that files refer to."""
    found = set(plan_names)
    for file in files:
        names = {n.name for n in file.walk() if isinstance(n, Support)} - REPLACED.keys()
        found |= {FUNCTIONS.get(name, name) for name in names}
    return found


def dotted_read(node: Any) -> str | None:
    """`self.fc.bias` of a Read, which is an Attribute of another class."""
    parts: list[str] = []
    while isinstance(node, Attribute):
        parts.append(node.name)
        node = node.object
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, Name) else None
