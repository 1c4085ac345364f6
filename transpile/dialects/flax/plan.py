"""What is decided before anything is edited: who takes `rngs` or a key, and which classes have a
stream of their own."""

import functools
from collections.abc import Iterable
from typing import NamedTuple

from ...facts.program import ProgramFacts
from ...facts.values.class_values import is_given, makers_of
from ...model.effects import Key, New, Support
from ...model.expressions import Call, Comprehension, Lambda
from ...model.fresh_names import taken
from ...model.node import Node
from ...model.program import Class, Function, Scope
from ...model.project import Project
from ...model.statements import For, While
from ..class_arguments import gives_module
from ..fresh_names import attributes, fresh
from ..walk_order import Ordered
from .building import Building
from .layers import DRAWING, REPLACED


class Inside(NamedTuple):
    """What a function has that may draw: keys, calls with what they run, modules that it makes,
    and the functions that it hands on."""

    keys: list[Key]
    calls: list[tuple[Call, list[Function]]]
    made: list[Call]
    handed: list[Function]


class Plan(Building):
    """The decisions about a program."""

    def __init__(self, project: Project, facts: ProgramFacts, used: Iterable[str]) -> None:
        super().__init__(project, facts, used)
        self.noise: set[Class] = set()  # the classes whose own methods draw when they are called
        self.takes: dict[Function, str] = {}  # "rngs" or "key"
        # methods of autograd Functions, which are given a key, that draw several times
        self.seeded: set[Function] = set()
        self._insides: dict[Function, Inside] = {}
        # what is handed on as a value is called any number of times: it takes a stream
        self._handed = {f for unit in self.units for f in self._inside(unit).handed}
        self._names = {c: self._noise_name(c) for c in self.classes}
        self._solve()
        self.ordered = Ordered(project, facts)

    def is_ordered_base(self, node: Node) -> bool:
        """Whether a node is the `Module` that a class extends whose parts are walked over."""
        named = node.name if isinstance(node, Support) else getattr(node, "id", None)
        around = node.parent
        if named != "Module" or not isinstance(around, Class) or around not in self.ordered:
            return False
        family = (around, *self.modules.below(around))
        return any(self.modules.constructor(cls) is not None for cls in family)

    def notes_order(self, cls: Class) -> bool:
        """Whether the constructor of a class whose parts are walked over has to note their order:
        it extends what is another class in Flax."""
        bases = (b for b in self.modules.lineage(cls)[1:] if self.is_library(b))
        written = self.needed.values()
        return cls in self.ordered and any(b.name != "Module" and b not in written for b in bases)

    def needs_rngs(self, cls: Class) -> bool:
        """Whether building an object of a class takes `rngs`."""
        if cls.name in DRAWING and self.is_library(cls):
            return True
        if cls.name in REPLACED and self.is_library(cls):
            return False
        for one in self.modules.lineage(cls):
            if self.has_own_noise(one):
                return True
            own = self.modules.constructor(one)
            if own is not None:
                return self.takes.get(own) == "rngs"
        return False

    def needs(self, call: Call) -> bool | None:
        """Whether a constructor has to be given `rngs`; None where classes differ."""
        if not isinstance(call, New):
            return None
        if isinstance(call.function, Support) and call.function.name in DRAWING:
            return True
        found, makers = self.built(call), makers_of(call.function.value)
        among = self.among(call) if found is None and not is_given(call.function.value) else []
        if among and not makers and all(map(self.needs_rngs, among)):
            return True  # a class that is given in the place of these takes it as well
        answers = {self.needs_rngs(c) for c in found} if found is not None else set()
        answers |= {self.takes.get(maker.function) == "rngs" for maker in makers}
        if found == [] or found is not None and len(answers) == 1:
            return bool(answers and answers.pop())
        return None

    def begins_above(self, call: Call) -> Class | None:
        """The class whose constructor `super().__init__(p)` runs, its own or one it inherits."""
        begins = getattr(call.function, "name", "") == "__init__"
        return next(iter(self.behind(call)), None) if begins else None

    def has_own_noise(self, cls: Class) -> bool:
        """Whether a class makes a stream: it draws, and none that it inherits from does."""
        above = self.modules.lineage(cls)[1:]
        return cls in self.noise and not any(c in self.noise for c in above)

    def noise_name(self, cls: Class) -> str:
        return self._names.get(cls, "noise")

    def _noise_name(self, cls: Class) -> str:
        if any(c.name == "Dropout" and self.is_library(c) for c in self.modules.lineage(cls)):
            return "rngs"  # the stream that an nnx.Dropout has
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
        cls, inside = self.owner(function), self._inside(function)
        run = [*inside.handed, *(t for _, ts in inside.calls for t in ts)]
        asked = {self.takes[t] for t in run if t in self.takes}
        built = any(self.needs(c) is not False for c in inside.made)
        if cls is None:
            self._ask_plain(function, inside, asked, built)
        elif function in self.building:
            own = function.name == "__init__" and self.has_own_noise(cls)
            above = [self.begins_above(c) for c, _ in inside.calls]
            own = own or any(c is not None and self.needs_rngs(c) for c in above)
            if inside.keys or asked or built or own:
                self.takes[function] = "rngs"
        else:
            if inside.keys or asked:
                self.noise.add(cls)
            if built:
                self.takes[function] = "rngs"

    def _ask_plain(self, function: Function, inside: Inside, asked: set[str], built: bool) -> None:
        if built and gives_module(function):
            self.takes[function] = "rngs"
        elif inside.keys or asked:
            drawing = [c for c, ts in inside.calls if any(t in self.takes for t in ts)]
            free = "key" not in taken(function)  # a user's `key` beside `query` and `value`
            plain = free and function not in self._handed
            single = plain and len(inside.keys) + len(drawing) == 1 and asked <= {"key"}
            repeated = any(_is_repeated(n, function) for n in [*inside.keys, *drawing])
            once = single and not repeated
            if self._is_applied(function):
                self.takes[function] = "key"
                if not once:
                    self.seeded.add(function)
            elif self.takes.get(function) != "rngs":
                self.takes[function] = "key" if once else "rngs"

    def _is_applied(self, function: Function) -> bool:
        """Whether it is the forward or backward of an autograd Function."""
        cls = function.owner
        named = function.name in ("forward", "backward")
        return named and cls is not None and self.project.is_autograd_function(cls)

    def _inside(self, function: Function) -> Inside:
        found = self._insides.get(function)
        if found is None:
            found = self._insides[function] = Inside([], [], [], [])
            for node in function.body.walk():
                if isinstance(node, Key):
                    found.keys.append(node)
                if not isinstance(node, Call):
                    continue
                if self.builds(node):
                    found.made.append(node)
                if not isinstance(node, New):
                    found.calls.append((node, self.targets(node)))
                found.handed.extend(f for _, several in self.handed(node) for f in several)
        return found

    def _join(self) -> None:
        """Functions that one call may run take the same; of modules, all of a family, which are
        called by those that hold them."""
        for function in list(self.takes):
            cls, word = function.owner, self.takes[function]
            if function.name == "__init__":
                continue
            owner = cls if cls is not None and self.modules.is_module(cls) else None
            if owner is None or word == "rngs":
                self._take(self._beside.get(function, ()), word)
            if owner is not None and word == "rngs":
                homes = (self.modules.home(one).methods(one) for one in self.family(owner))
                named = (methods.get(function.name) for methods in homes)
                self._take((f for f in named if f is not None), word)

    def _take(self, functions: Iterable[Function], word: str) -> None:
        for function in functions:
            if self.takes.get(function) != "rngs":
                self.takes[function] = word

    @functools.cached_property
    def _beside(self) -> dict[Function, set[Function]]:
        """The other functions that some call of a function may run, or be given, instead."""
        found: dict[Function, set[Function]] = {}
        calls = (n for file in self.project.ordered for n in file.walk() if isinstance(n, Call))
        for call in calls:
            for together in (self.targets(call), *(several for _, several in self.handed(call))):
                if len(together) > 1:
                    for function in together:
                        found.setdefault(function, set()).update(together)
        return found


def _is_repeated(node: Node, function: Function) -> bool:
    """Whether a draw stands in a loop, or in a function inside."""
    kinds = (For, While, Comprehension, Lambda)
    for around in node.ancestors():
        if around is function:
            return False
        if isinstance(around, (*kinds, Scope)):
            return True
    return False
