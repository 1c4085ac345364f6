"""Where the arrays of a module stand among the params: `params["blocks"]["0"]` of `self.blocks[0]`.

A name that a loop binds gets a companion, the name of the module in its container:

    for block in self.blocks:     →     for name, block in self.blocks.layers():
        x = block(x)                        x = block(params["blocks"][name], x)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ...facts.values.lattice import Function as FunctionValue
from ...facts.values.lattice import Module
from ...model.copy import clone
from ...model.expressions import (
    Attribute,
    Call,
    Comprehension,
    Constant,
    Display,
    ForClause,
    Name,
    Slice,
    Starred,
    Subscript,
)
from ...model.names import target_names
from ...model.node import Expression
from ...model.program import Function
from ...model.statements import Assign, For
from ..threading.checkpoints import checkpointed
from .companions import bind_name
from .plan import Plan

PAIRS = frozenset(("items", "named_children"))  # give names too
NUMBERED = ("torch.nn.ModuleList", "torch.nn.ParameterList")
NAMED = ("torch.nn.ModuleDict", "torch.nn.ParameterDict")


@dataclass(frozen=True)
class Path:
    """The way to a module: from `self`, or from a parameter that is given one."""

    keys: tuple[Expression, ...] = ()
    root: str = ""  # the parameter; nothing for `self`

    def below(self, key: Expression) -> Path:
        return Path((*self.keys, key), self.root)

    def of(self, whole: str) -> Expression:
        """The entry of a tree: `params["a"]["b"]`."""
        made: Expression = Name(whole)
        for key in self.keys:
            made = Subscript(made, clone(key))
        return made


Loop = For | ForClause


class Paths:
    """The paths in one function."""

    def __init__(self, function: Function, fresh: Callable[[str], str], plan: Plan) -> None:
        self.function, self.fresh, self.plan = function, fresh, plan
        around = [function]
        while isinstance(outer := around[-1].scope, Function):
            around.append(outer)
        self.whole = around[-1]  # the function that a function inside of it stands in
        self.owner = self.whole.owner
        method = self.owner is not None and not _is_static(self.whole)
        names = [p.name for p in self.whole.parameters]
        inside = {p.name for f in around[:-1] for p in f.parameters}
        own = names[0] if method and names else None
        self.self_name = own if own not in inside else None
        self._parameters = {*names, *inside}
        self._named: dict[tuple[Loop, str], Name | None] = {}

    def of(self, node: Expression) -> Path | None:
        """The path of a module; None where it is not known from here."""
        if isinstance(node, Name):
            return self._name(node)
        if isinstance(node, Attribute):
            above = self.of(node.object)
            if above is None:
                return None
            owner = self.owner if not above.keys else None
            asked = self.plan.property(owner, node.name) if owner is not None else None
            if asked is not None and asked.parameters[0].name == self.self_name:
                return self.of(asked.body.body[-1].expression)  # type: ignore[attr-defined]
            return above.below(self.plan.entry(owner, node.name, self.self_name or ""))
        if isinstance(node, Subscript):
            return self._item(node)
        if isinstance(node, Call):
            return self._call(node)
        return None

    def _name(self, node: Name) -> Path | None:
        if node.id == self.self_name:
            return Path()
        loop = self._loop(node)
        if loop is not None:
            return self._turn(loop, node.id)
        values = list(self._values(node.id))
        if len(values) == 1 and values[0] is not None and node.id not in self._parameters:
            if not isinstance(values[0], Name):
                return self.of(values[0])
        return None

    def _values(self, name: str) -> Iterator[Expression | None]:
        """What a name is bound to, all over the function; None for what is no plain value."""
        for node in self.whole.body.walk():
            if isinstance(node, Assign):
                for target in node.targets:
                    if name in target_names(target):
                        yield _bound_to(name, target, node.expression)
            elif isinstance(node, (For, ForClause)) and name in target_names(node.target):
                yield None

    def _loop(self, node: Name) -> Loop | None:
        """The loop around a name that binds it."""
        for around in node.ancestors():
            if around is self.function:
                break  # a loop around a function is not its own
            if isinstance(around, For) and node.id in target_names(around.target):
                return around
            if isinstance(around, Comprehension):
                for clause in around.clauses:
                    if node.id in target_names(clause.target):
                        return clause
        return None

    def _call(self, node: Call) -> Path | None:
        function = node.function
        if not isinstance(function, Name):
            return None
        if function.id == "super":
            return Path()
        if function.id == "getattr" and len(node.arguments) == 2:
            above = self.of(node.arguments[0])
            return None if above is None else above.below(node.arguments[1])
        return None

    # --- items of containers ----------------------------------------------------------------------

    def _item(self, node: Subscript) -> Path | None:
        above, value = self.of(node.object), node.object.value
        if above is None or not isinstance(value, Module):
            return None
        if isinstance(node.index, Slice):
            return above  # a part has the names of the whole
        key = self.key(node)
        return None if key is None else above.below(key)

    def key(self, node: Subscript) -> Expression | None:
        """The name of an item in its container."""
        value = node.object.value
        if not isinstance(value, Module) or isinstance(node.index, Slice):
            return None
        if value.refs and all(ref in NAMED for ref in value.refs):
            return node.index
        return self._number(node, value)

    def _number(self, node: Subscript, value: Module) -> Expression:
        """The name of what stands at a number."""
        index = node.index
        if isinstance(index, Constant) and isinstance(index.constant, int):
            if value.items is not None and -len(value.items) <= index.constant < len(value.items):
                return Constant(value.items[index.constant][0])
            if self._is_numbered(value) and index.constant >= 0:
                return Constant(str(index.constant))
        if self._is_numbered(value) and isinstance(index, Name) and self._counts(index):
            return Call(Name("str"), [clone(index)])
        return Call(Attribute(clone(node.object), "name"), [clone(index)])

    def _is_numbered(self, value: Module) -> bool:
        return bool(value.refs) and all(ref in NUMBERED for ref in value.refs)

    def _counts(self, index: Name) -> bool:
        """Whether a name counts turns from 0."""
        loop = self._loop(index)
        if loop is None or not isinstance(loop.iterable, Call):
            return False
        word = loop.iterable.function
        if not isinstance(word, Name):
            return False
        if word.id == "range" and len(loop.iterable.arguments) == 1:
            return isinstance(loop.target, Name)
        if word.id != "enumerate" or len(loop.iterable.arguments) != 1:
            return False
        first = loop.target.elements[0] if isinstance(loop.target, Display) else None
        return isinstance(first, Name) and first.id == index.id

    # --- turns of loops ---------------------------------------------------------------------------

    def _turn(self, loop: Loop, name: str) -> Path | None:
        """The path of what a turn binds a name to."""
        found = self._source(loop.target, loop.iterable, name)
        if found is None:
            return None
        container, word = found
        above = self.of(container)
        if above is None:
            return None
        if isinstance(word, Name):
            return above.below(Name(word.id))
        known = self._named.get((loop, name))
        if known is None:
            known = self._named[loop, name] = Name(self.fresh("name"))
        return above.below(Name(known.id))

    def _source(
        self, target: Expression, iterable: Expression, name: str
    ) -> tuple[Expression, Name | None] | None:
        """The container that a name of the target goes over, and the name of the target that has
        the names in it."""
        if isinstance(iterable, Call):
            word = iterable.function
            if isinstance(word, Attribute) and isinstance(word.object.value, Module):
                return self._method(target, word, name)
            kind = word.id if isinstance(word, Name) else ""
            if kind in ("reversed", "list", "iter", "tuple") and len(iterable.arguments) == 1:
                return self._source(target, iterable.arguments[0], name)
            if isinstance(target, Display):
                parts = target.elements
                if kind == "enumerate" and len(parts) == 2:
                    return self._source(parts[1], iterable.arguments[0], name)
                if kind == "zip" and len(parts) == len(iterable.arguments):
                    for part, argument in zip(parts, iterable.arguments):
                        if name in target_names(part):
                            return self._source(part, argument, name)
            if not isinstance(iterable.value, Module):
                return None
        if isinstance(target, Name) and target.id == name and isinstance(iterable.value, Module):
            return iterable, None
        return None

    def _method(
        self, target: Expression, word: Attribute, name: str
    ) -> tuple[Expression, Name | None] | None:
        if word.name in PAIRS and isinstance(target, Display) and len(target.elements) == 2:
            first, second = target.elements
            if isinstance(first, Name) and isinstance(second, Name) and second.id == name:
                return word.object, first
        if word.name in ("values", "children") and isinstance(target, Name) and target.id == name:
            return word.object, None
        return None

    # --- companions -------------------------------------------------------------------------------

    def write(self) -> None:
        """Let the loops bind the companions that were asked for."""
        for (loop, name), companion in self._named.items():
            assert companion is not None
            bind_name(loop.target, loop.iterable, name, companion)


def _bound_to(name: str, target: Expression, value: Expression | None) -> Expression | None:
    """What a name in a target is given: in `f, g = self.f, self.g` one of the elements."""
    if isinstance(target, Name):
        return value
    if isinstance(target, Display) and isinstance(value, Display):
        parts = [*target.elements, *value.elements]
        alike = len(target.elements) == len(value.elements)
        if alike and not any(isinstance(part, Starred) for part in parts):
            for inner, given in zip(target.elements, value.elements):
                if name in target_names(inner):
                    return _bound_to(name, inner, given)
    return None


def module_of(call: Call) -> Expression | None:
    """The module that a call runs, or whose method it runs; None for a plain function."""
    function = checkpointed(call) or call.function
    value = function.value
    if isinstance(value, Module):
        return function
    if isinstance(value, FunctionValue) and value.owner is None:
        return None
    return function.object if isinstance(function, Attribute) else None


def _is_static(function: Function) -> bool:
    return any(isinstance(d, Name) and d.id == "staticmethod" for d in function.decorators)
