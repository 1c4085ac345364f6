"""What is decided before anything is edited: who takes `rngs` or a key, which classes have a stream
of their own, and by which attribute they tell the mode.

Facts are asked of nodes, and editing changes those: afterwards only the plan is asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ...facts.modules import ARRAYS, SUBMODULE
from ...facts.values.lattice import Function as FunctionValue
from ...facts.values.lattice import Module as ModuleValue
from ...facts.values.lattice import classes_of
from ...model.effects import Key, Mode, New, NewArray, Support
from ...model.expressions import Attribute, Call, Comprehension, Lambda, Name
from ...model.names import dotted
from ...model.node import Expression, Node
from ...model.program import Class, File, Function, Scope
from ...model.project import Project
from ...model.statements import For, Return, While
from ..fresh import attributes, fresh
from ..output import Facts
from .layers import DRAWING, REPLACED

RUNNING = frozenset({"running_mean", "running_var", "num_batches_tracked"})
DETERMINISTIC, RUNNING_AVERAGE = "deterministic", "use_running_average"


class Plan:
    """The decisions about a project, and the layers of the library that it uses."""

    def __init__(self, project: Project, facts: Facts, used: Iterable[str]) -> None:
        self.project, self.facts = project, facts
        self.modules, self.library = facts.modules, facts.modules.library.project
        self.definitions = dict(_definitions(self.library))
        self.needed = self._reached(used)
        self.units = list(self._units())
        self.classes = [c for c in self._classes() if self.modules.is_module(c)]
        self.building = self._building()
        self.noise: set[Class] = set()  # the classes whose own methods draw when they are called
        self.takes: dict[Function, str] = {}  # "rngs" or "key"
        self.modes: set[Class] = set()
        self._families = {c: self._family(c) for c in self.classes}
        self._names = {c: self._noise_name(c) for c in self.classes}
        self._arrays = {c: self._all_arrays(c) for c in self.classes}
        self._computed = {c for c in self.classes if any(isinstance(n, NewArray) for n in c.walk())}
        self._find_modes()
        self._solve()

    # --- what is in it ----------------------------------------------------------------------------

    def _reached(self, used: Iterable[str]) -> dict[str, Class | Function]:
        """The definitions of the library that these names need."""
        found: dict[str, Class | Function] = {}
        todo = sorted(used)
        while todo:
            name = todo.pop()
            node = self.definitions.get(name)
            if node is not None and name not in found:
                found[name] = node
                todo += {n.id for n in node.walk() if isinstance(n, Name)}
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
        """The function or method that a node stands in, not those inside of others."""
        found: Function | None = node if isinstance(node, Function) else None
        for around in node.ancestors():
            if isinstance(around, Function):
                found = around
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
        return function.parameters[0].name if function.parameters else "self"

    def is_library(self, node: Node) -> bool:
        return node.file is not None and node.file in self.library.names

    def _family(self, cls: Class) -> list[Class]:
        home = self.modules.home(cls)
        below = list(home.descendants(cls))
        if self.is_library(cls):
            below += [c for c in self.project.classes() if cls in self.modules.lineage(c)]
        return [*self.modules.lineage(cls), *below]

    def family(self, cls: Class) -> list[Class]:
        return self._families.get(cls, [cls])

    # --- arrays -----------------------------------------------------------------------------------

    def _all_arrays(self, cls: Class) -> dict[str, tuple[str, bool, bool]]:
        """Kind, whether it may be None, and whether it is first set to None, of what is on self."""
        found: dict[str, tuple[str, bool, bool]] = {}
        for one in reversed(self._families.get(cls, [cls])):
            for name, own in self.modules.own_fields(one).items():
                kind, optional, _ = found.get(name, ("field", False, False))
                known = own.kind if own.kind != "field" else kind
                none = any(_may_be_none(v) for v in own.values) or optional
                found[name] = known, none, True
        return found

    def array(self, cls: Class | None, name: str) -> tuple[str, bool] | None:
        """The kind of an array of a class, and whether it may be None."""
        found = self._arrays.get(cls, {}).get(name) if cls is not None else None
        return found[:2] if found is not None and found[0] in ARRAYS else None

    def is_data(self, cls: Class, name: str) -> bool:
        """Whether an attribute holds an array or a submodule in some class of the family."""
        found = self._arrays.get(cls, {}).get(name)
        return found is not None and (found[0] in ARRAYS or found[0] == SUBMODULE)

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

    # --- who draws --------------------------------------------------------------------------------

    def _building(self) -> set[Function]:
        """The constructors, and the methods and functions that they call."""
        inits = {f for f in self.units if f.name == "__init__" and self.owner(f) is not None}
        found, todo = set(inits), list(inits)
        while todo:
            for call in calls(todo.pop()):
                for target in self.targets(call):
                    if self.owner(target) is not None and target not in found:
                        if target.name != "__call__":
                            found.add(target)
                            todo.append(target)
        return found

    def targets(self, call: Call) -> list[Function]:
        """The functions of the program that a call may run, for what they have to be given."""
        value = call.function.value
        if isinstance(call, New):
            found = [self.constructor(c) for c in self.built(call) or ()]
            return [f for f in found if f is not None]
        if isinstance(value, FunctionValue):
            return [value.function]
        above = call.function
        if isinstance(above, Attribute) and isinstance(above.object, Call):
            if dotted(above.object.function) == "super":
                cls = next((n for n in call.ancestors() if isinstance(n, Class)), None)
                lineage = self.modules.lineage(cls)[1:] if cls is not None else []
                own = (self.modules.home(c).methods(c).get(above.name) for c in lineage)
                return [f for f in [next(filter(None, own), None)] if f is not None]
        return []

    def built(self, call: New) -> list[Class] | None:
        """The classes of what is built; None where they are not all known."""
        if isinstance(call.function, Support):
            node = self.definitions.get(call.function.name)
            return [node] if isinstance(node, Class) else []
        value = call.value
        refs: Any = value.refs if isinstance(value, ModuleValue) and not value.open else ()
        if not refs and call.function.value is not None:
            refs = sorted(classes_of(call.function.value), key=str)
        found = [self.modules.class_of(ref) for ref in refs]
        return None if not found or None in found else found

    def constructor(self, cls: Class) -> Function | None:
        found: Function | None = self.modules.find(cls, "__init__")
        return found

    def needs_rngs(self, cls: Class) -> bool:
        """Whether building an object of a class takes `rngs`."""
        if cls.name in DRAWING and self.is_library(cls):
            return True
        if cls.name in REPLACED and self.is_library(cls):
            return False
        for one in self.modules.lineage(cls):
            if self.has_own_noise(one):
                return True
            own = self.modules.home(one).methods(one).get("__init__")
            if own is not None:
                return self.takes.get(own) == "rngs"
        return False

    def needs(self, call: New) -> bool | None:
        """Whether a constructor has to be given `rngs`; None where classes differ."""
        if isinstance(call.function, Support) and call.function.name in DRAWING:
            return True
        found = self.built(call)
        answers = {self.needs_rngs(c) for c in found} if found is not None else set()
        if found == [] or found is not None and len(answers) == 1:
            return bool(answers and answers.pop())
        return None

    def has_own_noise(self, cls: Class) -> bool:
        """Whether a class makes a stream: it draws, and none that it inherits from does."""
        above = self.modules.lineage(cls)[1:]
        return cls in self.noise and not any(c in self.noise for c in above)

    def noise_name(self, cls: Class) -> str:
        return self._names.get(cls, "noise")

    def _noise_name(self, cls: Class) -> str:
        return fresh("noise", {n for c in self._families[cls] for n in attributes(c)})

    def _solve(self) -> None:
        while True:
            before = dict(self.takes), set(self.noise)
            for function in self.units:
                self._ask(function)
            self._join()
            if before == (self.takes, self.noise):
                break

    def _ask(self, function: Function) -> None:
        cls = self.owner(function)
        keys = [n for n in function.body.walk() if isinstance(n, Key)]
        asked = {self.takes[t] for c in calls(function) for t in self.targets(c) if t in self.takes}
        built = any(self.needs(c) is not False for c in calls(function) if isinstance(c, New))
        if cls is None:
            self._ask_plain(function, keys, asked, built)
        elif function in self.building:
            if keys or asked or built or function.name == "__init__" and self.has_own_noise(cls):
                self.takes[function] = "rngs"
        else:
            if keys or asked:
                self.noise.add(cls)
            if built:
                self.takes[function] = "rngs"

    def _ask_plain(self, function: Function, keys: list[Key], asked: set[str], built: bool) -> None:
        if built and self.gives_module(function):
            self.takes[function] = "rngs"
        elif keys or asked:
            drawing = sum(
                1 for c in calls(function) if any(t in self.takes for t in self.targets(c))
            )
            single = len(keys) + drawing == 1 and asked <= {"key"}
            repeated = any(_is_repeated(n, function) for n in [*keys, *calls(function)])
            known = self.takes.get(function)
            if known != "rngs":
                self.takes[function] = "key" if single and not repeated else "rngs"

    def gives_module(self, function: Function) -> bool:
        """Whether a function builds a model for others: it returns one."""
        found = (n.expression for n in function.walk() if isinstance(n, Return))
        return any(e is not None and _is_module(e.value) for e in found)

    def _join(self) -> None:
        """Methods that one call may run take the same."""
        for function in list(self.takes):
            cls = function.owner
            if cls is None or function.name == "__init__" or self.takes[function] != "rngs":
                continue
            for one in self.family(cls):
                other = self.modules.home(one).methods(one).get(function.name)
                if other is not None:
                    self.takes[other] = "rngs"


def _definitions(library: Project) -> Iterator[tuple[str, Class | Function]]:
    for file in library.ordered:
        for statement in file.body.body:
            if isinstance(statement, (Class, Function)):
                yield statement.name, statement


def calls(function: Function) -> list[Call]:
    return [n for n in function.body.walk() if isinstance(n, Call)]


def _is_repeated(node: Node, function: Function) -> bool:
    """Whether a draw stands in a loop, or in a function inside."""
    if isinstance(node, Call):
        return False
    kinds = (For, While, Comprehension, Lambda)
    for around in node.ancestors():
        if around is function:
            return False
        if isinstance(around, (*kinds, Scope)):
            return True
    return False


def _is_module(value: Any) -> bool:
    return isinstance(value, ModuleValue)


def _may_be_none(value: Expression) -> bool:
    from ...facts.modules import _may_be_none as asked

    return asked(value)


def names_used(files: Iterable[File], plan_names: Iterable[str] = ()) -> set[str]:
    """The definitions of the support file that files refer to."""
    found = set(plan_names)
    for file in files:
        found |= {n.name for n in file.walk() if isinstance(n, Support)}
    return found
