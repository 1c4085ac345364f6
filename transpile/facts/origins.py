"""Where values come from: what names, attributes, parameters and tables are bound to.

The way back from an expression to those that it may get its value from, over all files.
"""

import collections
from collections.abc import Iterator
from typing import Any, NamedTuple

from ..model import expressions as nodes
from ..model import operators
from ..model.expressions import Call, Lambda, Starred
from ..model.names import dotted
from ..model.node import Expression, Node
from ..model.program import Class, File, Function, Parameter
from ..model.statements import Assign, For
from .values import Values, lattice
from .values.calls import is_super
from .values.computed_names import HOLE, pattern

_LISTS = frozenset(
    "list tuple dict reversed sorted iter enumerate zip collections.OrderedDict".split()
)
_COPIES = frozenset({"copy.copy", "copy.deepcopy", "dataclasses.replace"})
_HELD = frozenset("get pop values items setdefault".split())


class Target(NamedTuple):
    """What a call may run."""

    function: Function | Lambda
    given: int = 0  # how many first parameters `partial` has filled; -1: the first argument is self

    @property
    def name(self) -> str:
        return self.function.qualified if isinstance(self.function, Function) else "a lambda"


class Origin(NamedTuple):
    """An expression that something gets its value from.

    `held`: 0 it is the value, 1 the value is one of what it holds, -1 the value is a list of it.
    """

    node: Expression
    held: int = 0


class Origins:
    """What is bound where, and the way back to it."""

    def __init__(self, values: Values) -> None:
        self.values, self.project = values, values.facts.project
        self.names: dict[tuple[Node, str], list[Origin]] = collections.defaultdict(list)
        self.attributes: dict[str, list[tuple[Class | None, Origin]]]
        self.attributes = collections.defaultdict(list)
        self.sites: dict[Function, list[tuple[Call, int]]] = collections.defaultdict(list)
        for file in self.project.ordered:
            scopes: list[Function | File] = [file, *self.project.names[file].all_functions]
            for scope in scopes:
                self._read(scope)
            for cls in self.project.names[file].all_classes:
                for name, value in self.project.assigned(cls).items():
                    self.attributes[name].append((cls, Origin(value)))

    def scope(self, node: Node) -> Function | File | None:
        """The function, or file, that an expression stands in; None while a pass makes it."""
        return next((n for n in node.ancestors() if isinstance(n, (Function, File))), None)

    # --- arguments -------------------------------------------------------------------------------

    def parameters(self, target: Target) -> list[Parameter]:
        """The parameters that can be bound by name, self left out."""
        if isinstance(target.function, Function):
            return list(self.project.parameters(target.function))
        return [p for p in target.function.parameters if p.kind not in ("*", "**")]

    def arguments(self, call: Call, target: Target) -> Iterator[tuple[str, Expression]]:
        """The arguments of a call with the parameters that they may be for.

        Those of `*xs` are for all that are left.
        """
        known = self.parameters(target)
        others = {p.kind: p.name for p in target.function.parameters if p.kind in ("*", "**")}
        rest = [others["*"]] if "*" in others else []
        names = [p.name for p in known]
        positional, i = [p.name for p in known if p.kind != "="], target.given
        pairs = list(zip(call.keywords, call.arguments))
        plain = sum(1 for w, a in pairs if w is None and not isinstance(a, Starred))
        filled = {w for w in call.keywords if w} | set(positional[: max(i, 0) + plain])
        for word, argument in pairs:
            if isinstance(argument, Starred):
                left = [*positional[max(i, 0) :], *rest]
                if argument.double:
                    left = [name for name in names if name not in filled]
                yield from ((name, argument) for name in left)
            elif word is None:
                if i >= 0:
                    yield from ((name, argument) for name in positional[i : i + 1] or rest)
                i += 1
            elif word in names:
                yield word, argument
            elif "**" in others:
                yield others["**"], argument

    # --- what is bound where ---------------------------------------------------------------------

    def _read(self, scope: Function | File) -> None:
        for assign in scope.nodes(Assign):
            if assign.expression is not None and not assign.operator:
                for target in assign.targets:
                    self._bind(target, Origin(assign.expression), scope)
        for named in scope.nodes(nodes.NamedExpression):
            self._bind(named.target, Origin(named.expression), scope)
        loops: list[For | nodes.ForClause] = [*scope.nodes(For), *scope.nodes(nodes.ForClause)]
        for loop in loops:
            self._bind(loop.target, Origin(loop.iterable, 1), scope)
        for call in scope.nodes(Call):
            self._call(call, scope)

    def _bind(self, target: Expression, origin: Origin, scope: Function | File) -> None:
        if isinstance(target, nodes.Display):
            made = origin.node
            alike = isinstance(made, nodes.Display) and not origin.held
            alike = alike and len(made.elements) == len(target.elements)  # type: ignore[attr-defined]
            for i, element in enumerate(target.elements):
                one = Origin(made.elements[i]) if alike else Origin(made, 1)  # type: ignore[attr-defined]
                self._bind(element, one, scope)
        elif isinstance(target, Starred):
            self._bind(target.expression, origin, scope)
        elif isinstance(target, nodes.Name):
            self.names[scope, target.id].append(origin)
        elif isinstance(target, nodes.Attribute):
            owner = self._owner(scope) if self._is_self(target.object, scope) else None
            self.attributes[target.name].append((owner, origin))
        elif isinstance(target, nodes.Subscript):
            self._bind(target.object, origin._replace(held=-1), scope)

    def _call(self, call: Call, scope: Function | File) -> None:
        func = call.function
        value = self.values.of(func)
        if isinstance(func, nodes.Attribute) and func.name in ("append", "insert"):
            if call.arguments:
                self._bind(func.object, Origin(call.arguments[-1], -1), scope)
        called: Any = None
        if isinstance(value, lattice.Function):
            called = value.function
        elif isinstance(value, lattice.Class) and isinstance(value.ref, Class):
            called = self.project.find(value.ref, "__init__")
            if called is None:  # of a dataclass
                declared = [a.targets[0] for a in value.ref.nodes(Assign) if a.annotation]
                names = iter([t.id for t in declared if isinstance(t, nodes.Name)])
                for word, argument in zip(call.keywords, call.arguments):
                    if (field := word or next(names, None)) is not None:
                        self.attributes[field].append((value.ref, Origin(argument)))
        if isinstance(called, Function):
            unbound = isinstance(value, lattice.Function) and self.is_unbound(value, func)
            self.sites[called].append((call, -1 if unbound else 0))

    def _owner(self, scope: Function | File) -> Class | None:
        method = self.project.method(scope) if isinstance(scope, Function) else None
        return self.project.owner(method) if method is not None else None

    def _is_self(self, node: Expression, scope: Function | File) -> bool:
        method = self.project.method(scope) if isinstance(scope, Function) else None
        own = self.project.self_name(method) if method is not None else None
        return isinstance(node, nodes.Name) and node.id == own

    def is_unbound(self, value: lattice.Function, node: Expression) -> bool:
        """Whether a method is taken from its class, so that self is the first argument."""
        through = isinstance(node, nodes.Attribute) and is_super(node.object)
        return value.base and self.project.takes_self(value.function) and not through

    # --- the way back ----------------------------------------------------------------------------

    def origins(self, origin: Origin, seen: set[Origin]) -> Iterator[Origin]:
        """The expressions, other than names and choices, that one gets its value from."""
        if origin in seen:
            return
        seen.add(origin)
        node, held = origin
        value = self.values.of(node)
        known = isinstance(value, lattice.Module) and not value.open
        if not held and (known or isinstance(value, (lattice.Function, lattice.Torch))):
            yield origin
            return
        for inner in self.inside(node, held):
            yield from self.origins(inner, seen)
        if not held and isinstance(node, (Lambda, Call, nodes.Attribute)):
            yield origin

    def inside(
        self, node: Expression, held: int, scope: Function | File | None = None
    ) -> Iterator[Origin]:
        """One step on the way back. `scope`: where the expression stands, while a pass makes it."""
        if held < 0:
            return
        if isinstance(node, operators.Conditional):
            yield from (Origin(side, held) for side in (node.body, node.orelse))
        elif isinstance(node, operators.Boolean):
            yield from (Origin(side, held) for side in (node.left, node.right))
        elif isinstance(node, nodes.NamedExpression):
            yield Origin(node.expression, held)
        elif isinstance(node, nodes.Name):
            yield from (_deeper(o, held) for o in self._of_name(node, scope))
        elif isinstance(node, nodes.Attribute):
            yield from self._of_attribute(node.object, node.name, held, scope)
        elif isinstance(node, nodes.Subscript):
            yield Origin(node.object, 1)
        elif isinstance(node, Call):
            yield from self._through(node, held)
        elif held and isinstance(node, nodes.Display):
            yield from map(_pair, node.elements)
        elif held and isinstance(node, nodes.Dictionary):
            yield from (_pair(value) for _, value in node.pairs)
        elif held and isinstance(node, nodes.Comprehension):
            yield Origin(node.element)

    def _through(self, node: Call, held: int) -> Iterator[Origin]:
        """`getattr(self, "step")`, `FNS.get(name, default)`, `list(fns)`."""
        func, name, value = node.function, asked(node), self.values.of(node.function)
        if name is not None:
            yield from self._of_attribute(node.arguments[0], name, held)
        elif isinstance(func, nodes.Attribute) and func.name in _HELD:
            if not isinstance(self.values.of(func.object), (lattice.Module, lattice.Tensor)):
                yield Origin(func.object, 1)
                yield from (Origin(a, held) for a in node.arguments[1:])
        elif isinstance(value, lattice.External) and value.name in _COPIES and node.arguments:
            yield Origin(node.arguments[0], held)
        elif held and isinstance(value, lattice.External):
            if value.name.removeprefix("builtins.") in _LISTS:
                pairs = zip(node.keywords, node.arguments)
                yield from (Origin(a, int(word is None)) for word, a in pairs)

    def _of_attribute(
        self, base: Expression, name: str, held: int, scope: Function | File | None = None
    ) -> Iterator[Origin]:
        """What is assigned to attributes of a name: of self, by its own classes."""
        scope = scope or self.scope(base)
        own = self._owner(scope) if scope is not None and self._is_self(base, scope) else None
        family = self.project.family(own) if own is not None else None
        for owner, origin in self.attributes.get(name, ()):
            if family is None or owner is None or owner in family:
                yield _deeper(origin, held)

    def _of_name(self, node: nodes.Name, scope: Function | File | None = None) -> Iterator[Origin]:
        """What a name of a function, of one around it, or of a file may be bound to."""
        scope = scope or self.scope(node)
        while isinstance(scope, Function):
            bound = self.names.get((scope, node.id), [])
            if bound or any(p.name == node.id for p in scope.parameters):
                yield from bound
                yield from self._given(scope, node.id)
                return
            scope = self.project.outer(scope)
        # what a pass has made has no text of its own, and stands in a file
        file = next((n for n in node.ancestors() if isinstance(n, File)), node.file)
        if file is None:
            return
        found = self.project.definition(file, node.id)
        if isinstance(found, Expression) and found.file is not None:
            yield from self.names.get((found.file, node.id)) or [Origin(found)]

    def _given(self, function: Function, name: str) -> Iterator[Origin]:
        """What calls give for a parameter, and its default."""
        for parameter in self.project.parameters(function):
            if parameter.name == name and parameter.default is not None:
                yield Origin(parameter.default)
        for call, given in self.sites.get(function, ()):
            for word, argument in self.arguments(call, Target(function, given)):
                if word == name:
                    starred = isinstance(argument, Starred)
                    inner = argument.expression if isinstance(argument, Starred) else argument
                    yield Origin(inner, int(starred))


def _deeper(origin: Origin, held: int) -> Origin:
    """What an origin is where what it holds is asked for."""
    return origin._replace(held=min(origin.held + held, 1)) if held else origin


def _pair(element: Expression) -> Origin:
    """An element of a table: `for name, f in [("clip", clip_), …]` gets what the pairs hold."""
    pair = isinstance(element, nodes.Display) and element.kind != "set"
    return Origin(element, int(pair))


def is_partial(node: Call) -> bool:
    return bool(node.arguments) and dotted(node.function) in ("partial", "functools.partial")


def asked(node: Call) -> str | None:
    """The attribute that `getattr(self, "step")` asks for."""
    if dotted(node.function) != "getattr" or len(node.arguments) < 2:
        return None
    word = pattern(node.arguments[1])
    return None if HOLE in word else word
