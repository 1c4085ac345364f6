"""Methods that write params while the model runs: they give the params, or the module with them, in
the place of nothing."""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from ...facts.values.attribute_names import PARAMETERS
from ...facts.values.lattice import Method, Module
from ...model.control_flow import Cond
from ...model.effects import PARAM, Read, Write
from ...model.expressions import Attribute, Call, Display, Name
from ...model.names import dotted, is_own, target_names, text
from ...model.node import Expression, Node
from ...model.program import Function
from ...model.statements import Block, ExpressionStatement, For, If, Return
from .signatures import Signatures
from .threaded import calls_of


class Writers:
    """The methods that write params for a forward that calls them; `placed`: whether a call stands
    where what it gives can be kept."""

    def __init__(
        self, conventions: Signatures, placed: Callable[[Call, Function], bool] | None = None
    ) -> None:
        self.conventions, self._placed = conventions, placed
        calls = {c: f for f in conventions.functions for c in calls_of(f)}
        may = {f for f in conventions.functions if self._may(f)}
        self.found = {f for f in may if any(map(_is_of_param, f.nodes(Write)))}
        while more := {by for c, by in calls.items() if self.run(c)} & may - self.found:
            self.found |= more
        while wrong := {f for c, by in calls.items() for f in self._wrong(c, by)} & self.found:
            self.found -= wrong
        self.found &= {f for call in calls for f in conventions.targets(call) or ()}

    def _may(self, function: Function) -> bool:
        if function.owner is None or function.decorators or function.name == "__call__":
            return False
        conventions = self.conventions
        if function in conventions.building or isinstance(function.scope, Function):
            return False
        gives = any(r.expression is not None for r in function.nodes(Return))
        return not gives and not conventions.of(function).gives

    def _wrong(self, call: Call, by: Function) -> set[Function]:
        """The methods that a call may run, where it is none that can be given their params."""
        targets = set(self.conventions.targets(call) or ())
        own = isinstance(call.function, Attribute) and _is_self(call.function, by)
        may_give = by.name == "__call__" or by in self.found
        placed = isinstance(call.parent, ExpressionStatement) and may_give
        placed = placed and (self._placed is None or self._placed(call, by))
        return set() if targets <= self.found and own and placed else targets

    def run(self, call: Call) -> bool:
        """Whether a call runs such a method."""
        return bool(self.found & set(self.conventions.targets(call) or ()))


def _is_self(function: Attribute, by: Function) -> bool:
    own = by.receiver if by.owner is not None else ""
    return is_own(function, own)


def _is_of_param(write: Write) -> bool:
    """Whether it writes a param by its name, or by one that a walk over params binds."""
    named = isinstance(write.target, Read) and write.target.kind == PARAM
    return named or walk_of(write) is not None


class ParamWalk(NamedTuple):
    """A loop over the params of a module: the call that lists them, and what it binds of each."""

    call: Call
    bound: Expression

    @property
    def module(self) -> Expression:
        return self.call.function.object  # type: ignore[attr-defined, no-any-return]

    def name(self, fresh: Callable[[str], str]) -> str:
        """The name that each param has in the module, which the loop binds from here on: `for p in
        m.parameters()` becomes `for name, p in m.named_parameters()`."""
        if isinstance(self.bound, Display):
            return target_names(self.bound)[0]
        name, function = fresh("name"), self.call.function
        assert isinstance(function, Attribute)
        self.bound.wrap(lambda bound: Display("tuple", [Name(name), bound]))
        function.rename("named_parameters")
        function.value = replace(function.value, name="named_parameters")
        return name


def walk_of(write: Write) -> ParamWalk | None:
    """The loop over params that binds the one which is written: `for p, q in
    zip(self.a.parameters(), …): p.data.mul_(m)`. Nothing else in it may ask for the params of that
    module, nor read this one once it is written."""
    name, loop = getattr(write.target, "id", None), write.nearest(For)
    if loop is None or name not in target_names(loop.target) or write.parent is not loop.body:
        return None
    over, bound = [loop.iterable], [loop.target]
    if isinstance(loop.iterable, Call) and dotted(loop.iterable.function) == "zip":
        if not isinstance(loop.target, Display):
            return None
        over, bound = loop.iterable.arguments, loop.target.elements
    listed = [listing(call) if isinstance(call, Call) else None for call in over]
    at = next((i for i, b in enumerate(bound) if name in target_names(b)), len(over))
    if len(over) != len(bound) or at >= len(over) or listed[at] is None:
        return None
    walk = ParamWalk(over[at], bound[at])  # type: ignore[arg-type]
    others = [text(m) for m in (*listed[:at], *listed[at + 1 :]) if m is not None]
    mine = text(walk.module)
    apart = not any(_is_below(o, mine) or _is_below(mine, o) for o in others)
    later = loop.body.body[loop.body.body.index(write) + 1 :]
    read = any(isinstance(n, Name) and n.id == name for s in later for n in s.walk())
    pair = isinstance(walk.bound, Display)
    named = walk.call.function.name == "named_parameters"  # type: ignore[attr-defined]
    whole = pair is named and not walk.call.arguments
    whole = whole and target_names(walk.bound)[named:] == [name]
    return walk if apart and whole and not read else None


def _is_below(path: str, other: str) -> bool:
    return path == other or path.startswith((f"{other}.", f"{other}["))


def listing(call: Call) -> Expression | None:
    """The module whose params a call lists: `self.named_parameters()`; None of other calls."""
    function = call.function
    if not isinstance(function, Attribute) or function.name not in PARAMETERS:
        return None
    value = function.value
    of_module = isinstance(value, Method) and isinstance(value.receiver, Module)
    return function.object if of_module else None


def is_plain(node: Node, function: Function) -> bool:
    """Whether it stands where a name can be bound again: in no loop that becomes a closure."""
    around = list(node.ancestors())
    kinds = (Block, If, For, Cond, ExpressionStatement)
    return all(type(a) in kinds for a in around[: around.index(function)])
