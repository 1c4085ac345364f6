"""Which functions give back the parameters that they write, and which calls take them back.

    def normalise_(x, eps):                    def normalise_(x, eps):
        x.div_(x.norm() + eps)         ->          x = x.div(x.norm() + eps)
                                                   return x
    normalise_(w, 1e-6)                        w = normalise_(w, 1e-6)

Left alone, and refused at their callers, are functions that are passed on as values, overridden,
or that give the name of such an argument to something else; and those of which a call cannot take
back what they write: `f(a) + f(b)`.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from ...model.constants import is_none
from ...model.expressions import (
    Attribute,
    Call,
    Comprehension,
    Constant,
    Lambda,
    Name,
    NamedExpression,
    Starred,
    Subscript,
)
from ...model.names import binds, is_augmented
from ...model.node import Expression, Node, Statement
from ...model.operators import Boolean, Conditional
from ...model.program import Class, File, Function, Scope
from ...model.statements import Assign, ExpressionStatement, For, Return, With
from ..calls import Target
from ..values import lattice
from ..values.lattice import NONE
from .access_paths import of
from .flow_state import Program, read_names
from .writes import calls_in


@dataclass(frozen=True)
class Returns:
    """What a function is to return: the parameters that it writes in order, behind the value that
    it has in torch, if any."""

    names: tuple[str, ...]
    has_value: bool


@dataclass(frozen=True, eq=False)
class Taken:
    """A call that takes back what it changes: what it passes for each, None for a fresh value."""

    call: Call
    function: Function
    returns: Returns
    subjects: tuple[Expression | None, ...]


class Results:
    """One decision a function, and one a call, until all agree."""

    def __init__(self, program: Program) -> None:
        self.program, self.project = program, program.project
        self.functions: dict[Function, Returns] = {}
        writing = {f: s for f, s in program.summaries.items() if s.parameters}
        if not writing:
            return
        calls, passed_on = self._uses()
        for function, summary in writing.items():
            if isinstance(function, Function) and function not in passed_on:
                returns = self._returns(function, summary.parameters, bool(calls.get(function)))
                if returns is not None:
                    self.functions[function] = returns
        self._agree(calls)

    def of(self, function: Function | Lambda) -> Returns | None:
        return self.functions.get(function) if isinstance(function, Function) else None

    def taken(self, statement: Statement) -> Taken | None:
        """The call of a statement that takes back what it changes."""
        calls = [call for call in calls_in(statement) if self._function(call) is not None]
        if len(calls) != 1:
            return None
        found = self._taken(calls[0])
        return found if found is not None and self._fits(found, statement) else None

    # --- functions -------------------------------------------------------------------------------

    def _returns(self, function: Function, names: set[str], called: bool) -> Returns | None:
        has_value = _has_value(function)
        if not called and has_value:
            return None  # what only others call gives them what it gave: its result
        owner = self.project.owner(function)
        of_module = owner is not None and self.project.is_module(owner)
        if function.name in ("forward", "__init__"):
            return None
        if function.name == "__call__" and (of_module or has_value):
            return None  # what is not known to be such an object takes the result for its own
        if self.project.is_property(function) or self._gives_back(function, names):
            return None
        if owner is not None:
            family = self.project.family(owner)
            if sum(function.name in self.project.methods(c) for c in family) > 1:
                return None
        ordered = tuple(p.name for p in self.project.parameters(function) if p.name in names)
        kinds = (Assign, For, NamedExpression, With)
        bound = {n for s in function.nodes(*kinds) if not is_augmented(s) for n in binds(s)}
        if len(ordered) != len(names) or bound & names or function.yields or function.asynchronous:
            return None
        return Returns(ordered, has_value)

    def _gives_back(self, function: Function, names: set[str]) -> bool:
        """Whether a function returns just the argument that it changes: callers take its result."""
        passed = self.program.passed[function]
        return passed.exact and passed.parameters == names

    def _uses(self) -> tuple[dict[Function, list[tuple[Call, Statement]]], set[Function]]:
        """The calls of each function, and the functions that are passed on as values."""
        calls: dict[Function, list[tuple[Call, Statement]]] = {}
        passed_on: set[Function] = set()
        for file in self.project.ordered:
            for scope in file.scopes():
                for node in _named(scope):
                    call, function = node.parent, self._meant(node)
                    if function is None:
                        continue
                    if isinstance(call, Call) and call.function is node:
                        calls.setdefault(function, []).append((call, _statement(call)))
                    elif isinstance(of(node), lattice.Function):
                        passed_on.add(function)
        return calls, passed_on

    def _agree(self, calls: dict[Function, list[tuple[Call, Statement]]]) -> None:
        """Leave out functions until every call of those that are left can take back what they
        return."""
        while True:
            refused = [
                function
                for function in self.functions
                for call, statement in calls.get(function, ())
                if (found := self.taken(statement)) is None or found.call is not call
            ]
            if not refused:
                return
            for function in refused:
                self.functions.pop(function, None)

    # --- calls -----------------------------------------------------------------------------------

    def _function(self, call: Call) -> Function | None:
        function = self._meant(call.function)
        return function if function in self.functions else None

    def _meant(self, node: Expression) -> Function | None:
        """The function that runs where something is called; of an object, its `__call__`."""
        value = of(node)
        if isinstance(value, lattice.Object):
            return self.project.find(value.cls, "__call__")
        return value.function if isinstance(value, lattice.Function) else None

    def _taken(self, call: Call) -> Taken | None:
        function = self._function(call)
        value = of(call.function)
        if function is None:
            return None
        unbound = self.program.calls.is_unbound
        if isinstance(value, lattice.Function) and unbound(value, call.function):
            return None
        if any(isinstance(a, Starred) for a in call.arguments):
            return None
        returns, found = self.functions[function], list[Expression | None]()
        given = dict(self.program.calls.arguments(call, Target(function)))
        for name in returns.names:
            argument = given.get(name)
            if argument is None or of(argument) == NONE or isinstance(argument, Constant):
                return None
            named = isinstance(argument, (Name, Attribute, Subscript))
            named = named and not isinstance(of(argument), lattice.Function)
            found.append(stored(argument) if named else None)
        return Taken(call, function, returns, tuple(found))

    def _fits(self, taken: Taken, statement: Statement) -> bool:
        """Whether a statement can take back what its call changes."""
        call = taken.call
        if isinstance(statement, (ExpressionStatement, Return)) and statement.expression is call:
            return True
        if isinstance(statement, Assign) and statement.expression is call:
            return len(statement.targets) == 1 and not statement.operator
        if not isinstance(statement, (ExpressionStatement, Return, Assign)):
            return False
        # inside of an expression: it is made before, where it makes it for certain, and reads
        # nothing that it changes
        if not taken.returns.has_value or is_conditional(call, statement):
            return False
        changed = {n for s in taken.subjects if s is not None for n in read_names(s)}
        inside = set(call.walk())
        others = [n for n in statement.walk() if isinstance(n, Name) and n not in inside]
        return not any(n.id in changed for n in others)


def stored(target: Expression) -> Expression:
    """What is written where `x.data` is."""
    while isinstance(target, Attribute) and target.name == "data":
        target = target.object
    return target


def is_conditional(call: Node, around: Node) -> bool:
    """Whether an expression may not make a call, or make it several times."""
    kinds = (Conditional, Boolean, Lambda, Comprehension)
    for node in call.ancestors():
        if node is around:
            return False
        if isinstance(node, kinds):
            return True
    return True


def _named(scope: Scope) -> Iterator[Expression]:
    yield from scope.nodes(Name, Attribute)


def _has_value(function: Function) -> bool:
    given = [r.expression for r in function.nodes(Return) if r.expression is not None]
    return any(not is_none(e) for e in given)


def _statement(node: Node) -> Statement:
    kinds = (Statement, File, Class)
    return next(n for n in node.ancestors() if isinstance(n, kinds))  # type: ignore[return-value]
