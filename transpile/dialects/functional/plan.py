"""What is settled before anything is edited: what each function takes, under which names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, Protocol

from ...facts.effects import EffectsOf
from ...facts.modules import ARRAYS, SUBMODULE, Array, Field, Modules
from ...model.effects import BUFFER, CONSTANT, MIXED, PARAM, Declare, NewArray, Tie
from ...model.expressions import Call
from ...model.names import dotted
from ...model.program import Class, Function
from ...model.project import Project
from ...model.rulebook import Rulebook
from ...model.statements import Return
from ..fresh import fresh, taken
from ..threading.threads import Threads
from .conventions import Conventions


class Facts(Protocol):
    modules: Modules
    effects: EffectsOf
    rulebook: Rulebook


class Words(NamedTuple):
    """The names of what a function takes beside its own."""

    params: str = "params"
    state: str = "state"
    key: str = "key"
    training: str = "training"


class Plan:
    """The conventions of a project's functions."""

    def __init__(self, project: Project, facts: Facts) -> None:
        self.project, self.modules, self.facts = project, facts.modules, facts
        self.conventions = Conventions(project, facts)
        functions = self.conventions.functions
        owners = {f.owner for f in functions if f.owner is not None}
        self._arrays = {cls: self.modules.arrays(cls) for cls in owners}
        self._fields = {cls: dict(self.modules.fields(cls)) for cls in owners}
        self._elsewhere = {cls: self._begins_elsewhere(cls) for cls in owners}
        self._ties = {cls: dict(self._tied(cls)) for cls in owners}
        self._procedures = {
            f
            for f in functions
            if f.name != "__call__" and not any(r.expression for r in f.nodes(Return))
        }
        self._words: dict[Function, Words] = {}
        for function in functions:
            self._name(function)

    # --- names ------------------------------------------------------------------------------------

    def _name(self, function: Function) -> None:
        """The names of one function: all that one call may run have the same."""
        root = self.conventions.root(function)
        words, own = self._words.get(root, Words()), taken(function)
        if "params" in own:
            words = words._replace(params=fresh("model_params", own))
        if "state" in own:
            words = words._replace(state=fresh("model_state", own))
        if "key" in own:
            words = words._replace(key=fresh("rng", own))
        if "training" in own:
            words = words._replace(training=fresh("is_training", own))
        self._words[root] = words

    def words(self, function: Function) -> Words:
        return self._words[self.conventions.root(function)]

    def words_of(self, call: Call) -> Words:
        """The names of what a call runs; those of `apply` are its own."""
        targets = self.conventions.targets(call) or []
        found = [self._words.get(self.conventions.root(t), Words()) for t in targets]
        return Words() if not found or self.conventions.is_uniform(call) else found[0]

    # --- functions --------------------------------------------------------------------------------

    def threads(self, function: Function) -> Threads:
        return self.conventions.of(function)

    def is_building(self, function: Function) -> bool:
        return function in self.conventions.building

    def is_procedure(self, function: Function) -> bool:
        """Whether a function gives no value, and so the state alone."""
        return function in self._procedures

    def gives_state_alone(self, call: Call) -> bool:
        targets = self.conventions.targets(call) or []
        return bool(targets) and all(map(self.is_procedure, targets))

    # --- classes ----------------------------------------------------------------------------------

    def arrays(self, cls: Class) -> dict[str, Array]:
        """The arrays of a class, as they were declared before anything was edited."""
        return self._arrays.get(cls, {})

    def holds(self, cls: Class, name: str) -> str:
        """What holds an array: `params`, `state`, or the module itself, as a constant."""
        array = self.arrays(cls).get(name)
        if array is None or array.kind not in ARRAYS or array.kind in (PARAM, MIXED):
            return PARAM
        stateful = array.kind == BUFFER and name in self.conventions.stateful
        return BUFFER if stateful else CONSTANT

    def fields(self, cls: Class) -> dict[str, Field]:
        """What is set on `self`, as it was before anything was edited."""
        return self._fields.get(cls, {})

    def begins_elsewhere(self, cls: Class) -> bool:
        """Whether there are arrays beside those of this class's own constructor: below it, or from
        the classes above."""
        return self._elsewhere[cls]

    def _begins_elsewhere(self, cls: Class) -> bool:
        methods = self.modules.home(cls).methods(cls).values()
        if any(own.kind == SUBMODULE for own in self._fields[cls].values()):
            return True
        if any(self.modules.fields(c) for c in self.modules.lineage(cls)[1:]):
            return True
        return any(m.nodes(NewArray) for m in methods) or any(
            d.kind in ARRAYS
            for m in methods
            if m.name != "__init__" and m not in self.conventions.initialisers
            for d in m.nodes(Declare)
        )

    def _tied(self, cls: Class) -> Iterator[tuple[str, tuple[str, str]]]:
        """The submodules that have an array of another one: their paths, the name of the array,
        and the path of its owner's."""
        for method in self.modules.home(cls).methods(cls).values():
            for tie in method.nodes(Tie):
                if method.name != "__init__" or tie.parent is not method.body:
                    continue  # what is tied on one way alone has an owner on each way
                holder, owner = dotted(tie.target.object), dotted(tie.source.object)
                if holder is not None and owner is not None and method.parameters:
                    me = method.parameters[0].name
                    if holder.startswith(f"{me}.") and f"{owner}.".startswith(f"{me}."):
                        yield holder, (tie.target.name, f"{owner}.{tie.source.name}")

    def tied(self, cls: Class | None) -> dict[str, tuple[str, str]]:
        """Of a class and those that it inherits from."""
        found: dict[str, tuple[str, str]] = {}
        for one in self.modules.lineage(cls) if cls is not None else ():
            found |= self._ties.get(one, {})
        return found
