"""What a call may run: methods of classes below included, and of torch's layers above."""

from dataclasses import replace

from ...facts.computed_methods import methods_named
from ...facts.effects import EffectsOf
from ...facts.modules import Modules
from ...facts.values.lattice import Function as FunctionValue
from ...facts.values.lattice import Functions, Method, Module
from ...model.expressions import Attribute, Call
from ...model.names import dotted
from ...model.program import Class, Function
from .module_changes import handed


class Targets:
    """The functions of a program, and of the layers that it uses, that its calls may run."""

    def __init__(self, modules: Modules, effects: EffectsOf) -> None:
        self.modules, self.effects = modules, effects

    def of(self, call: Call) -> list[Function] | None:
        """The functions that a call may run; None if that is not known."""
        found = self.effects.targets(call)
        if found is None and (value := handed(call)) is not None:
            return [value.function, *self._overriding(value)]
        if found is None and (named := self.modules.of_layer(call.function)) is not None:
            return [named]
        if found is None and (several := self.computed(call) or self._several(call)):
            return several
        if found is None:
            above = self._above(call)
            return self.of_name(call) if above is None else above
        functions = [function for function, _ in found]
        value = call.function.value
        if isinstance(value, FunctionValue):
            functions += self._overriding(value)
        return functions

    def computed(self, call: Call) -> list[Function]:
        """The methods that `getattr(self, f"step_{kind}")(x)` may run."""
        cls, named = call.nearest(Class), call.function
        if cls is None or not isinstance(named, Call) or not self.modules.is_module(cls):
            return []
        return methods_named(named, cls, self.modules.home(cls))

    def _several(self, call: Call) -> list[Function]:
        """The methods of which a function is handed one: `func(x)`, of `func=self._forward`."""
        value = call.function.value
        known = value.ordered if isinstance(value, Functions) else []
        return [f for one in known for f in (one.function, *self._overriding(one))]

    def beside_sequential(self, call: Call) -> list[Function] | None:
        """What else than the items of a Sequential of torch's a call may run; None where it runs no
        such one for all that is known, or another that runs what it holds."""
        value = call.function.value
        if not isinstance(value, Module) or value.open or not value.classes:
            return None
        classes = self.effects.called(value)
        plain = [c for c in classes if c.name != "Sequential" or not self.modules.is_library(c)]
        if len(plain) == len(classes) or any(map(self.effects.is_holder, plain)):
            return None
        alone = replace(value, classes=frozenset(plain), items=None, element=None)
        return self.effects.given(alone) if plain else []

    def differ(self, call: Call) -> bool:
        """Whether a call may be of a container, which runs what it holds, and of another module:
        `self.m`, for which a class below has a layer of its own."""
        value = call.function.value
        classes = self.effects.called(value) if isinstance(value, Module) else []
        return len({self.effects.is_holder(cls) for cls in classes}) > 1

    def _overriding(self, value: FunctionValue) -> list[Function]:
        """The methods of classes below that may run in the place of one."""
        if value.owner is None or value.base:
            return []
        home = self.modules.home(value.owner)
        return list(home.overriding(value.owner, value.function.name))

    def of_name(self, call: Call) -> list[Function] | None:
        """What a method of a module may run of which only the name is known: `self.q.active()`,
        of one of several classes, which may be known."""
        value = call.function.value
        if not isinstance(value, Method) or not isinstance(value.receiver, Module):
            return None
        known = [] if value.receiver.open else self.modules.classes_of(value.receiver.refs)
        own = [m for cls in known if (m := self.modules.find(cls, value.name)) is not None]
        if known and len(own) == len(known):
            below = (m for cls in known for m in self.modules.home(cls).overriding(cls, value.name))
            return list(dict.fromkeys([*own, *below]))
        if self.modules.library.has_method(value.name):
            return None
        owned = [c for c in self.modules.project.classes() if self.modules.is_module(c)]
        found = [self._methods(cls).get(value.name) for cls in owned]
        return [method for method in found if method is not None] or None

    def _methods(self, cls: Class) -> dict[str, Function]:
        return self.modules.home(cls).methods(cls)

    def _above(self, call: Call) -> list[Function] | None:
        """What `super().method(...)` runs where that is a layer's of torch's; nothing where no
        class above has a constructor, or where it is the one of a container of torch's, which
        keeps what it is given."""
        function = call.function
        if not isinstance(function, Attribute) or not isinstance(function.object, Call):
            return None
        cls = call.nearest(Class)
        if dotted(function.object.function) != "super" or cls is None:
            return None
        if not self.modules.is_module(cls):
            return None
        above = self.modules.lineage(cls)[1:]
        methods = (self.modules.home(c).methods(c).get(function.name) for c in above)
        found = next((f for f in methods if f is not None), None)
        owner = found.owner if found is not None else None
        if found is None or owner is None:
            return [] if function.name == "__init__" else None
        numbered = any(c.name == "Numbered" for c in self.modules.lineage(owner))
        kept = numbered and function.name == "__init__" and self.modules.is_library(owner)
        return [] if kept else [found]
