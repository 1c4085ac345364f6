"""What names come to stand for, by assignments and loops."""

from collections.abc import Callable, Iterator
from typing import Any

from ...model.copy import clone
from ...model.expressions import (
    Attribute,
    Call,
    Comprehension,
    Constant,
    Display,
    Name,
    Starred,
    Subscript,
)
from ...model.names import dotted
from ...model.node import Expression
from ..values.lattice import (
    NUMPY,
    External,
    Mapping,
    Method,
    Module,
    Sequence,
    Static,
    Tensor,
    is_anything,
)
from .access_paths import of
from .inplace_names import is_tensor
from .locations import Part, Places, fresh, union
from .must_alias import Making

Each = Callable[[Expression | Part], Places]


class Binding(Making):
    """Assignments and loops, on the way through a function."""

    def bind_all(self, targets: list[Expression], value: Expression) -> None:
        """`residual = out = x * 2`: one tensor, of which the first name is another name, and
        `h = c = 0`: a number each."""
        static = of(value)
        apart = isinstance(static, Static) and static != NUMPY
        named = [] if apart else [t for t in targets if self.name(t) is not None]
        first = named[0] if named else None
        for target in [*named[:1], *(t for t in targets if t is not first)]:
            self.bind(target, first if first is not None and target is not first else value)

    def bind(self, target: Any, value: Expression | Part) -> None:
        if isinstance(target, Display):
            turn = self._turn_of(value.value, target) if isinstance(value, Part) else None
            if turn is not None:
                for element, one in zip(target.elements, turn):
                    self.bind(element, one)
                return
            for part, places in list(self._unpacked(target, value)):  # all is there before the
                self._set(part, places)  # first name is
            return
        if isinstance(target, Starred):
            return self.bind(target.expression, value)
        if isinstance(target, (Subscript, Attribute)) and self.path(target) is None:
            holder = self.root(target.object)
            array = is_tensor(target.object) or isinstance(of(target.object), Module)
            array = array or of(target.object) == NUMPY and not _is_certain(value)
            if holder is not None and not array:
                inner = value.value if isinstance(value, Part) else value
                self.hold(holder, inner, self.key_in(target, holder))
            return
        self._set(target, self.made(value))

    def _set(self, target: Any, places: Places) -> None:
        path = self.path(target)
        if path is not None:
            self.forget(path)
            self.env[path] = places
        elif isinstance(target, Display):
            for element in target.elements:
                self._set(element, places)
        elif isinstance(target, Starred):
            self._set(target.expression, places)

    def forget(self, path: str) -> None:
        """A name changes: paths that are written with it mean something else from here on, those
        of another module, or another layer of a list."""
        if path.isidentifier():
            index, below = f"[{path}]", (f"{path}.", f"{path}[")
            for other in [o for o in self.env if index in o or o.startswith(below)]:
                del self.env[other]

    def _unpacked(
        self, target: Any, value: Expression | Part
    ) -> Iterator[tuple[Expression, Places]]:
        """What the names in `a, (b, c) = value` come to hold: each something of its own, which may
        be part of the same."""
        if not isinstance(target, Display):
            yield target, self.made(value)
            return
        inner = value.value if isinstance(value, Part) else value
        whole, elements = not isinstance(value, Part), target.elements
        shown = isinstance(inner, Display) and len(inner.elements) == len(elements)
        if whole and shown and isinstance(inner, Display):
            for element, part in zip(elements, inner.elements):
                yield from self._unpacked(element, part)
            return
        several = self._several(inner, target) if whole else None
        for i, element in enumerate(elements):
            if several is not None and not isinstance(element, Display):
                yield element, several[i]
            else:
                yield from self._unpacked(element, Part(inner))

    def _several(self, inner: Expression, target: Display) -> list[Places] | None:
        if any(isinstance(e, Starred) for e in target.elements):
            return None
        for way in (self._parts_of, self._turns_of, self._results_of):
            found = way(inner, target)
            if found is not None:
                return found
        if self.repeats_memory(inner):
            made = self.made(inner)
            return [fresh(*made) for _ in target.elements]
        return None

    def _parts_of(self, value: Expression, target: Display) -> list[Places] | None:
        """The places of `a, b = z.chunk(2)` and of `a, b = z`: each a part of z."""
        base = None
        if isinstance(value, Call) and isinstance(value.function, Attribute):
            parts = self.views.get(value.function.name) == "parts"
            if parts and isinstance(of(value.function), Method):
                base = self.path(value.function.object)
        elif is_tensor(value):
            base = self.path(value)
        if base is None:
            return None
        made = []
        for i in range(len(target.elements)):
            index = Constant(i)
            index.value = Static(i, "int")
            part = Subscript(clone(value), index)
            part.value = Tensor()
            others = self._others(value, base)
            made.append(fresh(*self.places(base), view=part, base=base, others=others))
        return made

    def _turns_of(self, value: Expression, target: Display) -> list[Places] | None:
        """The places of `q, k = map(f, (a, b))` and of `q, k = [f(t) for t in x.chunk(2)]`: each
        of what f returns of one."""
        if isinstance(value, Call) and dotted(value.function) in ("tuple", "list"):
            if len(value.arguments) == 1:
                value = value.arguments[0]
        one, over = self._repeated_over(value)
        if over is None or one is None:
            return None
        count = len(target.elements)
        if isinstance(over, Display) and len(over.elements) == count:
            return [fresh(*one(element)) for element in over.elements]
        if not self.gives_parts(over):
            return None
        return [fresh(*one(over), part=(value, i)) for i in range(count)]

    def _repeated_over(self, value: Expression) -> tuple[Each | None, Expression | None]:
        """What one turn of `map(f, xs)` or `[f(x) for x in xs]` shares, by what it is given, and
        xs; None for another expression."""
        if isinstance(value, Call) and of(value.function) == External("builtins.map"):
            if len(value.arguments) == 2:
                function, over = value.arguments
                return lambda given: self.of_map(function, [given]), over
        if isinstance(value, Comprehension) and value.kind in ("list", "generator"):
            first = value.clauses[0]
            plain = isinstance(first.target, Name) and not first.conditions
            if plain and len(value.clauses) == 1:
                shared = lambda: self.shares(value.element)  # noqa: E731
                return lambda given: self.with_target(first.target, given, shared), first.iterable
        return None, None

    def _results_of(self, value: Expression, target: Display) -> list[Places] | None:
        """The places of `y, bias = self.fc(x)`: each of what the function gives in its place."""
        if not isinstance(value, Call) or self.is_open(value):
            return None
        called, count = self.functions_called(value), len(target.elements)
        passed = [self.passes(t) for t in called]
        if not called or any(len(p.items) != count or p.repeated for p in passed):
            return None
        made = []
        certain = self.is_certain(value, called)
        for i in range(count):
            each = [(t, p.items[i]) for t, p in zip(called, passed)]
            same = self.exactly(each[0][0], value, each[0][1]) if certain else None
            made.append(same or fresh(*union(self.handed(t, value, p) for t, p in each)))
        return made

    def _turn_of(self, value: Expression, target: Display) -> list[Expression | Part] | None:
        """What each turn of a loop gives its targets, where they are as many as in `zip(xs, ys)`,
        `enumerate(xs)` or `d.items()`: parts, or entries `d[k]`."""
        if not isinstance(value, Call) or any(value.keywords):
            return None
        if any(isinstance(a, Starred) for a in value.arguments):
            return None
        function, count = of(value.function), len(target.elements)
        nothing = Part(Display("tuple", []))  # a number, or a key: it has no memory
        if function == External("builtins.zip") and len(value.arguments) == count:
            return [Part(a) for a in value.arguments]
        if count != 2:
            return None
        first, last = target.elements
        if function == External("builtins.enumerate") and value.arguments:
            over = value.arguments[0]
            return [nothing, entry_of(over, first, last) or Part(over)]
        if isinstance(function, Method) and function.name == "items":
            held = function.receiver
            if isinstance(held, Mapping) or is_anything(held):
                items = value.function.object if isinstance(value.function, Attribute) else None
                return [nothing, entry_of(items, first, last) or Part(value)]
        return None


def _is_certain(value: Expression | Part) -> bool:
    """Whether it is a tensor for certain, which an array of NumPy's may keep, if one of objects:
    of numbers it takes the value."""
    if isinstance(value, Part):
        return True
    held = of(value)
    return isinstance(held, Tensor) and not held.assumed


def entry_of(holder: Expression | None, key: Any, target: Any) -> Subscript | None:
    """`d[k]` as the expression that a name of a loop is taken from."""
    held = of(holder)
    listed = isinstance(held, Sequence) and not held.tuple
    if holder is None or not (isinstance(held, Mapping) or listed):
        return None
    if not isinstance(key, Name) or not isinstance(target, Name):
        return None
    made = Subscript(clone(holder), clone(key))
    made.value = target.value
    return made
