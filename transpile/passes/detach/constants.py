"""How a value leaves a block without gradient: constant, as it was given, or as the run tells."""

from collections.abc import Iterable
from typing import NamedTuple

from ...facts.activity import COMPUTED, SAME, Off, may_carry
from ...facts.bindings import Liveness
from ...facts.casts import is_cast
from ...facts.program import ProgramFacts
from ...facts.values.lattice import BOOL, Class, Function, Static, Tensor, Torch
from ...model import program
from ...model.copy import clone
from ...model.effects import Detached
from ...model.expressions import (
    Attribute,
    Call,
    Comprehension,
    Constant,
    Dictionary,
    Display,
    FormattedString,
    Lambda,
    Name,
    OpaqueExpression,
    Starred,
)
from ...model.names import target_names
from ...model.node import Expression
from ...model.operators import Boolean, Compare, Conditional
from ...model.statements import Assign, For, Return, With
from ...model.unpacking import each_pair
from ..pass_ import Changes

_KEPT = (
    "what this gives back as it was given keeps its gradient in torch; here it is constant, as all"
    " that is computed without gradient"
)


class Wrap(NamedTuple):
    """What becomes of a part of a value: it is constant, or, of a cast, constant where it made
    something.
    """

    node: Expression
    cast: bool = False


class Within:
    """One block without gradient: what of it is constant outside.

    `live`: names read after it; `settled`: names of its own that are constant from their
    definition on, since they are live.
    """

    def __init__(
        self,
        changes: Changes,
        facts: ProgramFacts,
        node: With | program.Function,
        function: program.Function,
        flag: Expression | None,
    ) -> None:
        self.changes, self.facts, self.flag = changes, facts, flag
        self.function = function
        self.off: Off = facts.activity.off(node)
        self.own = self.off.own
        self.live = self._live(node, function) | self.off.mixed
        self.settled = self.live & self.off.assigned() & self.own
        self.fresh = _fresh(function)
        self.named = _named(function)
        self.wrapped: set[Expression] = set()
        self.reported: set[Expression] = set()

    def _live(self, node: With | program.Function, function: program.Function) -> frozenset[str]:
        """The names that are seen where the block has been left. What a name from before gives back
        is seen there too: `z.add_(x)`, `return z`.
        """
        if node is function:
            return frozenset(p.name for p in function.parameters)
        inside = [n for n in self.off.body.walk() if isinstance(n, (Return, OpaqueExpression))]
        given = {n.id for r in inside for n in r.walk() if isinstance(n, Name)} - self.own
        assert isinstance(node, With)
        return Liveness(function).after.get(node, frozenset()) | given

    def carries(self, node: Expression) -> bool:
        """Whether an expression may carry a gradient, but for the block."""
        return self.facts.activity.carries(node) is not False

    def gives(self, node: Expression) -> str:
        return self.off.gives(node, self.own - self.settled)

    # --- what is constant ------------------------------------------------------------------------

    def plan(self, node: Expression) -> list[Wrap]:
        """The parts of a value that become constant; nothing where none carries a gradient out."""
        if isinstance(node, Name) and isinstance(node.value, Function):
            return []  # a function by its name; an attribute may be a property
        listed = isinstance(node, (Display, Dictionary))
        if _is_lazy(node) or not listed and not may_carry(node.value):
            return []
        if listed:
            parts = [self.plan(part) for part in _elements(node)]
            several = isinstance(node, Display) and len(parts) > 1 and all(parts)
            return [Wrap(node)] if several else [w for part in parts for w in part]
        if isinstance(node, Call) and _makes_object(node):
            return [w for argument in node.arguments for w in self.plan(_plain(argument))]
        gives = self.gives(node)
        if gives == SAME or not self.carries(node):
            return []
        return [Wrap(node)] if gives == COMPUTED else self._where_computed(node)

    def parts(self, node: Expression) -> list[Wrap]:
        """The same of a value that is assigned or returned: a tuple of arrays stays one."""
        if isinstance(node, (Display, Dictionary)):
            return [w for part in _elements(node) for w in self.plan(part)]
        return self.plan(node)

    def _where_computed(self, node: Expression) -> list[Wrap]:
        """What may be a tensor from before the block: constant only where it is not."""
        if isinstance(node, Conditional):
            return [*self.plan(node.body), *self.plan(node.orelse)]
        if isinstance(node, Boolean):
            return [*self.plan(node.left), *self.plan(node.right)]
        if self.flag is None and is_cast(node) and _cast_dtype(node) is not None:
            return [Wrap(node, True)]
        if node not in self.reported:
            self.reported.add(node)
            self.changes.report("taken-for-granted", node, _KEPT)
        return [Wrap(node)]

    # --- edits -----------------------------------------------------------------------------------

    def make(self, plan: Iterable[Wrap]) -> None:
        """Let what was planned be constant."""
        for wrap in plan:
            if wrap.node in self.wrapped:
                continue
            self.wrapped.add(wrap.node)
            self.changes.wrap(wrap.node, self._recast if wrap.cast else self.constant)

    def constant(self, node: Expression) -> Detached:
        """An expression without its gradient."""
        return Detached(node, None if self.flag is None else clone(self.flag))

    def _recast(self, node: Expression) -> Expression:
        """`x if x.dtype == torch.float32 else Detached(x.float())`: x itself, with its gradient,
        where it has the dtype already.
        """
        dtype = _cast_dtype(node)
        assert isinstance(node, Call) and isinstance(node.function, Attribute) and dtype is not None
        given = clone(node.function.object)
        own = Attribute(clone(given), "dtype")
        own.value = Static(type="dtype")
        test = Compare([own, dtype], ["=="])
        test.value = BOOL
        return Conditional(given, test, self.constant(node))


_DTYPES = {"float": "float32", "double": "float64", "half": "float16", "bfloat16": "bfloat16"}


def _cast_dtype(node: Expression) -> Expression | None:
    """The dtype that a cast of a name makes it have; None where it is not plain to say."""
    if not isinstance(node, Call) or not isinstance(node.function, Attribute):
        return None
    name, arguments = node.function.name, node.arguments
    if not isinstance(node.function.object, Name):
        return None
    if name in _DTYPES and not arguments:
        torch = Name("torch")
        torch.value = Torch("torch")
        named = Attribute(torch, _DTYPES[name])
        named.value = Torch(f"torch.{_DTYPES[name]}")
        return named
    if len(arguments) != 1:
        return None
    given = arguments[0]
    if isinstance(given.value, Tensor) and name in ("type_as", "to"):
        if not isinstance(given, Name):
            return None
        own = Attribute(clone(given), "dtype")
        own.value = Static(type="dtype")
        return own
    is_dtype = isinstance(given.value, Torch) or given.value == Static(type="dtype")
    plain = isinstance(given, (Name, Attribute)) and name in ("to", "type")
    return clone(given) if is_dtype and plain else None


def _is_lazy(node: Expression) -> bool:
    """A generator computes where it is asked, after the block; a lambda where it is called."""
    if isinstance(node, Comprehension):
        return node.kind == "generator"
    return isinstance(node, (Lambda, Constant, FormattedString))


def _elements(node: Expression) -> list[Expression]:
    elements = node.elements if isinstance(node, Display) else []
    if isinstance(node, Dictionary):
        elements = [value for _, value in node.pairs]
    return [_plain(element) for element in elements]


def _plain(node: Expression) -> Expression:
    return node.expression if isinstance(node, Starred) else node


def _makes_object(call: Call) -> bool:
    """`Box(x * 2)` of a class of the user's that is no module: the object has what it is given."""
    value = call.function.value
    return isinstance(value, Class) and isinstance(value.ref, program.Class)


def _fresh(function: program.Function) -> set[str]:
    """Names of lists and dicts that no other name has: those that the function has always just
    made.
    """
    made: dict[str, bool] = {}
    fresh = Display, Dictionary, Comprehension, Call
    for node in function.nodes(Assign):
        for name in (n for target in node.targets for n in target_names(target)):
            made[name] = made.get(name, True) and isinstance(node.expression, fresh)
    return {name for name, always in made.items() if always} - {p.name for p in function.parameters}


def _named(function: program.Function) -> dict[str, list[Expression]]:
    """What each name is bound to, or a part of: `w = self.fc.weight`, `a, b = z[0], z[1]`,
    `for row in z`."""
    found: dict[str, list[Expression]] = {}
    bound = [(loop.target, loop.iterable) for loop in function.nodes(For)]
    bound += [pair for assign in function.nodes(Assign) for pair in each_pair(assign)]
    for target, value in bound:
        for name in target_names(target):
            found.setdefault(name, []).append(value)
    return found
