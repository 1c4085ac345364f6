"""What is known of a function's memory at one point of it."""

from __future__ import annotations

from typing import Any

import libcst as cst

from .. import tree
from ..callables import Scope
from ..computed_names import HOLE, pattern
from ..context import Context
from ..indices import disjoint
from ..project import ClassInfo, FunctionInfo
from ..values import External, Module, Tensor
from . import binding, calls, flow, making
from . import sharing as shared_memory
from .places import Env, Passed, Place, Result


class Memory:
    """The flow-sensitive part: an environment of places, moved along by statements."""

    def __init__(self, context: Context, info: FunctionInfo, views: dict[str, str], passed: dict[Any, Passed]) -> None:
        self.context, self.info, self.views = context, info, views
        self.scope = Scope(context.module, info)
        self.passed = passed  # for each function or lambda asked about
        self.env: Env = {}
        self.returned: list[Result] | None = None  # collects what that which is returned may share memory with
        self.stored: dict[str, frozenset[Place]] = {}  # for each parameter, what has been put into what it holds
        self.before: Env = {}  # attributes to which calls in the current statement have given other memory, as they were
        self.paths: dict[str, Any] = {}  # arrays of submodules that have been met, as expressions: `self.bn.running_mean`
        starred = [p for p in (info.node.params.star_arg, info.node.params.star_kwarg) if isinstance(p, cst.Param)]
        self.starred = {p.name.value for p in starred}
        for parameter in [*info.parameters(), *starred]:
            name = parameter.name.value
            self.env[name] = frozenset([Place(parameter=name)])

    def name(self, node: Any) -> str | None:
        """`x` or `self.x`"""
        if isinstance(node, cst.Name):
            return node.value
        if isinstance(node, cst.Attribute) and isinstance(node.value, cst.Name) and node.value.value == self.info.self_name:
            return f"self.{node.attr.value}"
        return None

    def is_computed(self, node: Any) -> bool:
        """`getattr(self, f"u{i}")` of an array."""
        if not isinstance(node, cst.Call) or len(node.args) != 2 or self.context.value(node.func) != External("builtins.getattr"):
            return False
        held = isinstance(self.context.value(node), Tensor) and self.info.owner is not None and self.info.owner.is_module
        return held and tree.dotted(node.args[0].value) == self.info.self_name and HOLE in pattern(node.args[1].value)

    def state(self, node: Any) -> str | None:
        """The path of an array of a submodule: `self.bn.running_mean`."""
        value = self.context.value(node) if isinstance(node, cst.Attribute) and self.name(node) is None else None
        held = self.context.value(node.value) if isinstance(value, Tensor) else None
        if not isinstance(held, Module) or any(isinstance(ref, ClassInfo) and ref.find(node.attr.value) is not None for ref in held.refs):
            return None  # a property may make a new one each time
        path = self.from_self(tree.code(node))
        self.paths.setdefault(path, node)
        return path

    def from_self(self, path: str) -> str:
        """A path with what the function calls self as `self`."""
        own = f"{self.info.self_name}."
        return "self." + path.removeprefix(own) if path.startswith(own) else path

    def path(self, node: Any) -> str | None:
        """`x`, `self.x`, or the path of an array of a submodule."""
        return self.name(node) or self.state(node)

    def places(self, name: str) -> frozenset[Place]:
        if name not in self.env:
            self.env[name] = frozenset([Place(free=name)])
        return self.env[name]

    def of_another(self, info: FunctionInfo) -> Memory:
        """The same at the start of another function."""
        return Memory(self.context, info, self.views, self.passed)

    # ------------------------------------------------------------------ moving on

    def transfer(self, node: Any) -> None:
        """Move past a statement, compound ones included."""
        flow.transfer(self, node)

    def block(self, statements: list[Any]) -> None:
        flow.block(self, statements)

    def loop_target(self, node: cst.For) -> None:
        flow.loop_target(self, node)

    def evaluated(self, node: Any) -> None:
        """Move past an expression: what its calls keep, and the names that it gives to parts of itself, `(z := x * 2)`."""
        flow.evaluated(self, node)

    def bind(self, target: Any, value: Any) -> None:
        """Move past the assignment of a value to a target."""
        binding.bind(self, target, value)

    # ------------------------------------------------------------------ expressions

    def made(self, node: Any) -> frozenset[Place]:
        """The places that an expression's value may be."""
        return making.places_of(self, node)

    def shares(self, node: Any) -> frozenset[Place]:
        """Places that the value of an expression may lie in."""
        return shared_memory.shares(self, node)

    def view_base(self, node: Any) -> str | None:
        """The name that an expression is a certain view of: `base[...]`, `base.view(...)`, `base.T`."""
        return shared_memory.view_base(self, node)

    def given_back(self, node: Any) -> frozenset[Place] | None:
        """The places of what a function gives back as it is: `self.keep(y)` that returns y, `self.pool.last()` that returns `self.h`."""
        return calls.given_back(self, node)

    # ------------------------------------------------------------------ questions

    def apart(self, one: str, other: str) -> bool:
        """Whether two names are different parts of one tensor: of `z.chunk(…)`, or `z[:, 0]` and `z[:, 1:]`."""
        a, b = self.only(one), self.only(other)
        if a is not None and b is not None and a.part is not None and b.part is not None and a.part[0] is b.part[0]:
            return a.part[1] != b.part[1]
        if a is None or b is None or a is b or not isinstance(a.view, cst.Subscript) or not isinstance(b.view, cst.Subscript):
            return False
        same = a.view.value is b.view.value or isinstance(a.view.value, (cst.Name, cst.Attribute)) and a.base == b.base and a.others == b.others
        return same and a.parents == b.parents and disjoint(a.view.slice, b.view.slice)

    def is_foreign(self, name: str) -> bool:
        """Whether a name may be what an unknown function has given: others may hold it."""
        return any(p.foreign for place in self.places(name) for p in place.closure())

    def sharing(self, name: str, live: frozenset[str]) -> list[str]:
        """Names that are read later and may share memory with this one."""
        mine = {p for place in self.places(name) for p in place.closure()}
        found = []
        for other in sorted(live):
            if other != name and other in self.env and other not in ("None", "True", "False") and any(place.closure() & mine for place in self.env[other]):
                found.append(other)
        return found

    def names_of(self, node: Any) -> list[str]:
        """The names that an expression may give the memory of: x of `x.view(-1)`, x and y of `x if c else y`."""
        mine = {p for place in self.shares(node) for p in place.closure()}
        read = {name for n in tree.nodes(node, cst.Name, cst.Attribute) if (name := self.name(n)) is not None and name in self.env}
        return sorted(name for name in read if any(place in mine for place in self.env[name]))

    def is_unheld(self, name: str) -> bool:
        """Whether a name may be what a dict without a name holds: a write of it must reach that, and cannot."""
        return any(p.unheld for place in self.places(name) for p in place.closure())

    def repeats(self, name: str) -> bool:
        """Whether what a name stands for may hold one tensor in two places."""
        return any(p.repeated for place in self.places(name) for p in place.closure())

    def holds_one(self, a: Any, b: Any) -> bool:
        """Whether one of two expressions is certain to be the other, or a view of it."""
        if not all(isinstance(self.context.value(node), Tensor) for node in (a, b)):
            return False
        one, other = self._chain(a), self._chain(b)
        return bool(one and other) and (one[0] in other or other[0] in one)

    def _chain(self, node: Any) -> list[Place]:
        """The place of an expression, and what it is certain to be a view of, outwards."""
        places = self.made(node)
        found: list[Place] = []
        while len(places) == 1 and (place := next(iter(places))) not in found:
            found.append(place)
            places = place.parents if place.view is not None else frozenset()
        return found

    def parameters(self, name: str) -> set[str]:
        """Parameters of the function that a write to this name reaches; not those of `*args`, a tuple that is the function's own."""
        return {p.parameter for place in self.places(name) for p in place.closure() if p.parameter is not None} - self.starred

    def only(self, name: str) -> Place | None:
        places = self.places(name)
        return next(iter(places)) if len(places) == 1 else None

    def unchanged(self, place: Place) -> bool:
        """Whether the other names in a view's expression still mean what they did."""
        return all(self.places(n) == before for n, before in place.others)
