"""What calls of the user's functions and modules do to memory: what a result may be, and what they
leave on self and in what they are given."""

from typing import Any

from ...model.copy import clone
from ...model.effects import Read
from ...model.expressions import Attribute, Call, Lambda, Name, Starred, Subscript
from ...model.names import dotted, last_word, own_word
from ...model.node import Expression
from ...model.program import Class, Function
from ..calls import Target, is_of_object
from ..values.lattice import Function as FunctionValue
from ..values.lattice import Method, Module, Tensor, Torch
from .access_paths import of, spelled
from .flow_state import State
from .locations import Part, Passed, Places, closed, fresh, union
from .object_fields import classes

# Methods of a dict by which it gives what stays in it.
TAKING = frozenset({"get", "setdefault"})


class Calling(State):
    """Calls of the user's, on the way through a function."""

    def shares(self, node: Expression | Part) -> Places:
        """Places that the value of an expression may lie in."""
        raise NotImplementedError

    def made(self, node: Expression | Part) -> Places:
        """The places that an expression's value may be."""
        raise NotImplementedError

    def passes(self, target: Target) -> Passed:
        """What the result of a function may share memory with, and what a call of it leaves in
        other hands."""
        return self.program.passed.get(target.function, Passed())

    # --- what a call leaves ----------------------------------------------------------------------

    def keep(self, call: Call) -> None:
        """Move past what a call of the user's leaves on its self, and in lists and dicts that it is
        given."""
        called = self.functions_called(call)
        certain = self.is_certain(call, called)
        for target in called:
            for name, held in self.passes(target).kept:
                shared = self.handed(target, call, held)
                if not name.startswith("self."):
                    self._keep_in_argument(target, call, name, shared)
                elif (path := self.here(target, call, name)) is not None:
                    self.replaced.setdefault(path, self.places(path))
                    named = certain and path.startswith("self.")
                    same = self.exactly(target, call, held) if named else None
                    before = frozenset() if certain else self.replaced[path]
                    self.env[path] = same or fresh(*(shared | before))
                elif (holder := self.root(self.receiver_of(call))) is not None:
                    self.added(holder, shared)

    def _keep_in_argument(self, target: Target, call: Call, name: str, shared: Places) -> None:
        for word, argument in self.arguments(call, target):
            if word == name and (holder := self.root(argument)) is not None:
                self.added(holder, shared)

    def arguments(self, call: Call, target: Target) -> list[tuple[str, Expression]]:
        """The arguments of a call, without stars, with the parameters that they are for."""
        bound = self.program.calls.arguments(call, target)
        return [(n, a.expression if isinstance(a, Starred) else a) for n, a in bound]

    def receiver_of(self, call: Call) -> Expression | None:
        """What a method or module is called on: `self.b` of `self.b.step(x)` and `self.b(x)`."""
        function, value = call.function, of(call.function)
        forward = isinstance(function, Attribute) and function.name == "forward"
        if (isinstance(value, Module) and not forward) or _calls_object(function, value):
            return function
        if not isinstance(function, Attribute):
            return None
        if isinstance(value, FunctionValue) and value.base:
            return Name(self.self_name or "self")
        return function.object

    def here(self, target: Target, call: Call, name: str) -> str | None:
        """What a name around a function, or `self.h` of a method, is called where it is called:
        `self.b.h`; None where there is no name for it."""
        function = target.function
        owner = self.project.owner(function) if isinstance(function, Function) else None
        if owner is None:
            return name if self.is_inside(target) else None
        receiver = self.receiver_of(call)
        if not name.startswith("self.") or receiver is None:
            return None
        if self.paths.is_self(receiver):
            self._sample(target, name, name, receiver)
            return name
        text = spelled(receiver)
        if not isinstance(of(receiver), Module) or not dotted(receiver) or text is None:
            return None
        path = self.paths.from_self(text + name.removeprefix("self"))
        self._sample(target, name, path, receiver)
        return path if path in self.paths.samples else None

    def _sample(self, target: Target, name: str, path: str, receiver: Expression) -> None:
        """Note an expression for a path, made from the one that the function called has."""
        sample = self.program.samples.get(target.function, {}).get(name)
        if sample is not None and path not in self.paths.samples:
            made = rerooted(sample, receiver)
            if made is not None:
                self.paths.samples[path] = made

    def root(self, node: Any) -> str | None:
        """The name of what holds an expression: d of `d["k"]` and `d.setdefault("k", [])`, h of
        `h.items`."""
        while self.name(node) is None:
            if isinstance(node, (Subscript, Attribute)):
                node = node.object
            elif isinstance(node, Call) and own_word(node.function) in TAKING:
                node = node.function
            else:
                return None
        return self.name(node)

    def hold(self, holder: str, value: Expression | Part, key: str | None = None) -> None:
        shared = self.shares(value)
        self.added(holder, fresh(*shared, key=key) if shared and key is not None else shared)

    def added(self, holder: str, shared: Places) -> None:
        """Move past what puts something into a list, dict or object: all names for that hold it."""
        if not shared:
            return
        holders = {p for place in self.places(holder) for p in place.holders()}
        for parameter in {p.parameter for p in holders if p.parameter is not None}:
            self.stored[parameter] = self.stored.get(parameter, frozenset()) | shared
        grown: dict[Places, Places] = {}  # names that were the same stay the same
        for name, places in list(self.env.items()):
            if places & holders:
                if places not in grown:
                    grown[places] = fresh(*(places | shared), grown=places)
                self.env[name] = grown[places]

    # --- what a call may run ---------------------------------------------------------------------

    def functions_called(self, call: Call) -> list[Target]:
        """The functions of the user's that a call may run, those of modules among them."""
        value = of(call.function)
        if isinstance(value, Module):
            return [*self.forwards(value), *(self.targets(call.function) if value.open else ())]
        if is_of_object(value) and isinstance(call.function, Attribute):
            return self._methods(call.function)
        if isinstance(value, (Torch, Method)):
            return []
        return self.targets(call.function)

    def _methods(self, function: Attribute) -> list[Target]:
        """The methods that `self.transform.frame` may be of plain objects, by the calls of their
        classes that made these."""
        made = classes(self.program, self.original(function.object))
        found = dict.fromkeys(self.project.find(cls, function.name) for cls in made)
        return [Target(f) for f in found if f is not None]

    def forwards(self, value: Module) -> list[Target]:
        """The forwards of the user's classes that a module may be of, also of those below them:
        `block: Block` may be any."""
        found: dict[Function, None] = {}
        for ref in value.refs:
            if isinstance(ref, Class):
                for name in ("forward", "__call__"):
                    own = self.project.find(ref, name)
                    others = self.project.overriding(ref, name)
                    found.update(dict.fromkeys([*([own] if own is not None else []), *others]))
        return [Target(f) for f in found]

    def is_open(self, call: Call) -> bool:
        """Whether a call may run modules that are not known."""
        value = of(call.function)
        return isinstance(value, Module) and value.open

    def is_certain(self, call: Call, called: list[Target]) -> bool:
        """Whether a call is certain to run this one function."""
        value = of(call.function)
        if len(called) != 1:
            return False
        if isinstance(value, Module):
            return len(value.classes) == 1 and not value.open
        if _calls_object(call.function, value):
            return True
        named = last_word(call.function)
        return isinstance(value, FunctionValue) and named == value.function.name

    def given_back(self, node: Any) -> Places | None:
        """The places of what a function gives back as it is: `self.keep(y)` that returns y,
        `self.pool.last()` that returns `self.h`."""
        if not isinstance(node, Call):
            return None
        called = self.functions_called(node)
        if not self.is_certain(node, called):
            return None
        return self.exactly(called[0], node, self.passes(called[0]))

    def exactly(self, target: Target, call: Call, passed: Passed) -> Places | None:
        """The places of the argument, or of the attribute, that a function gives back or keeps,
        where that is certain."""
        if not passed.exact:
            return None
        bound = self.program.calls.arguments(call, target)
        given = [argument for name, argument in bound if name in passed.parameters]
        if len(given) == 1 and not isinstance(given[0], Starred):
            return self.made(given[0])
        around = passed.free | passed.left
        path = self.here(target, call, next(iter(around))) if around else None
        if path is None:
            return None
        return self.places(path) if passed.left else self.replaced.get(path, self.places(path))

    def handed(self, target: Target, call: Call, passed: Passed) -> Places:
        """The arguments of a call that its result may be, or be a view of, and what the function
        finds around it."""
        bound = self.arguments(call, target)
        given = union(self.shares(a) for name, a in bound if name in passed.parameters)
        return self.found_around(target, call, passed) | given

    def found_around(self, target: Target, call: Call, passed: Passed) -> Places:
        """What a function finds around it, or on its self, by the names that this has here."""
        found: Places = frozenset()
        for name in sorted(passed.free | passed.left):
            path = self.here(target, call, name)
            if path is None:
                found |= self._of_object(call, name)
            elif name in passed.left:
                found |= self.places(path)
            else:
                found |= self.replaced.get(path, self.places(path))
        return found

    def _of_object(self, call: Call, name: str) -> Places:
        """What `t.last()` may give of what an object holds that is no module: any of it."""
        receiver = self.receiver_of(call) if name.startswith("self.") else None
        known = receiver is None or isinstance(of(receiver), Module)
        return frozenset() if known else self.shares(receiver)  # type: ignore[arg-type]

    def is_inside(self, target: Target) -> bool:
        """Whether what a function finds around it goes by the same name here: of one inside of
        this, or of a method of the same object."""
        function = target.function
        if isinstance(function, Lambda):
            around = next(
                a
                for a in function.ancestors()
                if isinstance(a, (Function, Class)) or a.parent is None
            )
            return around is self.scope
        if self.project.outer(function) is self.scope:
            return True
        owner = self.project.owner(function)
        return owner is not None and self.owner in self.project.family(owner)

    def around(self, passed: Passed) -> Places:
        return union(self.places(name) for name in sorted(passed.free))

    # --- what this function gives out ------------------------------------------------------------

    def passed_on(self, shared: Places, places: Places, left: dict[str, Places]) -> Passed:
        """What may be the memory of a value: that which it shares, and which it is, where that is
        certain; `left` is what the call leaves on self."""
        found = closed(shared)
        parameters = frozenset(p.parameter for p in found if p.parameter is not None)
        free = frozenset(p.free for p in found if p.free is not None)
        own = {p for p in found if p.parameter is None and p.free is None}
        kept = frozenset(n for n, its in left.items() if any(p.closure() & own for p in its))
        only = next(iter(places)) if len(places) == 1 else None
        named = only is not None and (only.parameter or only.free) is not None
        exact = only is not None and (named or any(left[name] == places for name in kept))
        exact = exact and len(parameters | free | kept) == 1
        repeated = any(p.repeated for p in closed(places))
        return Passed(parameters, free, repeated, kept, exact)


def rerooted(sample: Expression, receiver: Expression) -> Expression | None:
    """`self.b.h` of `self.h` and `self.b`: an attribute chain with another beginning."""
    if isinstance(sample, Name):
        return clone(receiver)
    if not isinstance(sample, Attribute):
        return None
    inner = rerooted(sample.object, receiver)
    if inner is None:
        return None
    made = Attribute(inner, sample.name)
    if isinstance(sample, Read):
        made = Read(inner, sample.name, sample.kind)
    made.value = sample.value or Tensor()
    return made


def _calls_object(function: Expression, value: object) -> bool:
    """`noise(x)`, of an object that is no module."""
    if not isinstance(value, FunctionValue) or value.function.name != "__call__":
        return False
    return not isinstance(function, Attribute) or function.name != "__call__"
