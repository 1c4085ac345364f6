"""What the calls of a program run and build: which methods are part of building, what stands where
a module is wanted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeGuard

from ...facts.calls import applied
from ...facts.program import ProgramFacts
from ...facts.values.class_values import functions_of, makers_of
from ...facts.values.lattice import Function as FunctionValue
from ...facts.values.lattice import Functions, classes_of
from ...facts.values.lattice import Module as ModuleValue
from ...model.effects import New, Read, Support, Write
from ...model.expressions import Attribute, Call, Starred
from ...model.names import dotted
from ...model.node import Expression
from ...model.program import Class, Function
from ...model.project import Project
from ..class_arguments import gives_module, is_of_handed_class
from ..threading.call_targets import Targets
from .program import Program


class Building(Program):
    """A program, with what its constructors run."""

    def __init__(self, project: Project, facts: ProgramFacts, used: Iterable[str]) -> None:
        super().__init__(project, facts, used)
        self._found = Targets(facts.modules, facts.effects)
        self.building = self._building()
        self._late = set(self._set_late())

    @property
    def conventions(self) -> Building:
        """The conventions under the name that all dialects know."""
        return self

    @property
    def functions(self) -> list[Function]:
        return self.units

    def may_have(self, value: Expression) -> bool:
        """Whether a value may be a module that has arrays."""
        return True

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

    def _set_late(self) -> Iterator[tuple[Class, str]]:
        """The arrays that may be None, and that are set while the model runs; torch's layers set
        none that they are built without."""
        for function in (f for f in self.units if f not in self.building):
            for write in (n for n in function.body.walk() if isinstance(n, Write)):
                if not isinstance(write.target, Read):
                    continue
                for cls in self.classes_at(write.target.object, function):
                    for one in self.family(cls):
                        if self._is_of_layer(one, write.target.name):
                            continue
                        if (self.array(one, write.target.name) or ("", False))[1]:
                            yield one, write.target.name

    def _is_of_layer(self, cls: Class, name: str) -> bool:
        layers = filter(self.is_library, self.modules.lineage(cls))
        return any(name in self.modules.own_fields(layer) for layer in layers)

    def is_late(self, cls: Class | None, name: str) -> bool:
        """Whether an array may be None until the model runs: its Variable is there, and has None,
        so that the model is the same tree before and after."""
        unmade = cls is not None and self.begun(cls, name).unmade
        return unmade or (cls, name) in self._late

    def late_at(self, array: Read) -> set[bool]:
        """The same of an array of any module, for the classes that this may be of."""
        unit = self.unit(array)
        classes = self.classes_at(array.object, unit) if unit is not None else []
        return {self.is_late(cls, array.name) for cls in classes}

    def targets(self, call: Call) -> list[Function]:
        """The functions of the program that a call may run, for what they have to be given."""
        value = call.function.value
        if isinstance(call, New):
            found = [self.constructor(c) for c in self.built(call) or ()]
            return [f for f in found if f is not None]
        if isinstance(value, FunctionValue):
            return [value.function, *self.modules.instead(value)]
        if isinstance(value, Functions):
            return [one.function for one in value.ordered]
        above = call.function
        if ran := applied(self.modules.project, above):
            return [function for pair in ran for function in pair if function is not None]
        if isinstance(above, Attribute) and _is_super(above.object):
            own = (self.modules.home(c).methods(c).get(above.name) for c in self.behind(call))
            return [f for f in [next(filter(None, own), None)] if f is not None]
        method = self.modules.of_layer(above)
        return [method] if method is not None else self._found.of_name(call) or []

    def behind(self, call: Call) -> list[Class]:
        """The classes in which `super().f(x)` looks, in their order."""
        cls, asked = call.nearest(Class), getattr(call.function, "object", None)
        if cls is None or not _is_super(asked):
            return []
        lineage, given = self.modules.lineage(cls), asked.arguments
        named = dotted(given[0]) if given else None  # `super(Base, self)` begins behind Base
        at = next((i for i, c in enumerate(lineage) if c.name == named), 0)
        return lineage[at + 1 :]

    def handed(self, call: Call) -> list[tuple[Expression, list[Function]]]:
        """What a call is given that is a function of the program, or one of several:
        `net.apply(init)`."""
        given = [a.expression if isinstance(a, Starred) else a for a in call.arguments]
        return [(a, [f.function for f in found]) for a in given if (found := functions_of(a.value))]

    def builds(self, call: Call) -> bool:
        """Whether a call builds a module: `conv(3, 4)`, of a class that a constructor is given,
        where a module is wanted."""
        if isinstance(call, New):
            return True
        unit = self.unit(call)
        if unit is None or self.is_library(call):
            return False
        builds = unit in self.building if self.owner(unit) is not None else gives_module(unit)
        return builds and is_of_handed_class(call, unit)

    def built(self, call: New) -> list[Class] | None:
        """The classes of what is built; None where they are not all known."""
        if isinstance(call.function, Support):
            node = self.definition(call.function.name)
            return [node] if isinstance(node, Class) else []
        value = call.value
        refs: Any = value.refs if isinstance(value, ModuleValue) and not value.open else ()
        if (not refs or makers_of(call.function.value)) and call.function.value is not None:
            refs = sorted(classes_of(call.function.value), key=str)
        return self.modules.classes_of(refs) or None

    def among(self, call: New) -> list[Class]:
        """The known ones of the classes that may be built; nothing where one of torch's is not."""
        return self.modules.classes_of_value(call.value)

    def constructor(self, cls: Class) -> Function | None:
        found: Function | None = self.modules.find(cls, "__init__")
        return found


def calls(function: Function) -> list[Call]:
    return [n for n in function.body.walk() if isinstance(n, Call)]


def _is_super(node: Any) -> TypeGuard[Call]:
    return isinstance(node, Call) and dotted(node.function) == "super"
