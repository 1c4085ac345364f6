"""A parameter that a constructor keeps under several names is, after the first, that attribute.

p = nn.Parameter(torch.ones(3))            p = nn.Parameter(torch.ones(3))
self.a = p                           →     self.a = p
self.b = p                                 self.b = self.a
self.c = self.d = nn.Parameter(v)          self.c = nn.Parameter(v)
                                           self.d = self.c

Torch trains one. It is done on syntax alone, so that all facts know of one parameter; what branches
have kept is not known behind them.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

from ..model.copy import clone
from ..model.expressions import Attribute, Call, Constant, Display, Name
from ..model.names import bound_once, dotted, imported
from ..model.node import Expression, Statement
from ..model.program import Function, Scope
from ..model.statements import Assign, Block, ExpressionStatement, If
from .pass_ import Changes, Pass

_PARAMETER = frozenset(("torch.nn.Parameter", "torch.nn.parameter.Parameter"))
Pair = tuple[Expression, Expression]


def run(scope: Scope, facts: Any = None) -> Changes:
    """The second names of one constructor."""
    changes = Changes(scope)
    if isinstance(scope, Function) and scope.name == "__init__" and scope.parameters:
        for statement, made in _Second(scope).found():
            assert isinstance(statement.parent, Block)
            changes.change(statement.parent, partial(_put, statement, made))
    return changes


def _put(old: Statement, new: list[Statement], body: Block) -> None:
    body.substitute(old, new)


class _Second:
    """The parameters of one constructor, by the attributes that keep them first."""

    def __init__(self, function: Function) -> None:
        self.function, self.me = function, function.receiver
        self.once = bound_once(function)
        self.locals: dict[str, Expression] = {}  # the parameters that names stand for
        self.first: dict[Expression, Expression] = {}  # the attributes that keep those

    def found(self) -> Iterator[tuple[Statement, list[Statement]]]:
        """The statements that keep one again, and what they are then."""
        yield from self._within(self.function.body)

    def _within(self, block: Block) -> Iterator[tuple[Statement, list[Statement]]]:
        for statement in block.body:
            if isinstance(statement, If):
                yield from self._in_branches(statement)
                continue
            pairs = list(self._pairs(statement))
            own = [(t, v) for t, v in pairs if self._is_own(t)]
            made = [self._keep(target, value) for target, value in pairs]
            if own and any(value is not new for (_, value), new in zip(pairs, made)):
                new = zip(pairs, made)
                yield statement, [Assign([clone(t)], clone(value)) for (t, _), value in new]

    def _in_branches(self, node: If) -> Iterator[tuple[Statement, list[Statement]]]:
        """Behind branches it is not known what these have kept."""
        before = self.first
        for part in (node.body, node.orelse):
            self.first = dict(before)
            if part is not None:
                yield from self._within(part)
        self.first = before

    def _pairs(self, statement: Statement) -> Iterator[Pair]:
        """The targets of a statement, where it keeps a parameter, each with what it gets."""
        if isinstance(statement, ExpressionStatement) and isinstance(statement.expression, Call):
            call = statement.expression
            if dotted(call.function) == f"{self.me}.register_parameter" and not any(call.keywords):
                word, value = call.arguments if len(call.arguments) == 2 else (None, None)
                if isinstance(word, Constant) and isinstance(word.constant, str):
                    if isinstance(value, Name) and value.id in self.locals:
                        yield Attribute(Name(self.me), word.constant), value
        elif isinstance(statement, Assign) and statement.expression is not None:
            if statement.operator or statement.annotation is not None:
                return
            value = statement.expression
            if self._is_parameter(value):
                yield from ((target, value) for target in statement.targets)
            elif isinstance(value, Display) and len(statement.targets) == 1:
                targets = getattr(statement.targets[0], "elements", ())
                if len(targets) == len(value.elements):
                    if all(isinstance(v, Name) and v.id in self.locals for v in value.elements):
                        yield from zip(targets, value.elements)
            elif isinstance(value, Name) and value.id in self.locals:
                yield from ((target, value) for target in statement.targets)

    def _keep(self, target: Expression, value: Expression) -> Expression:
        """What a target is given: the attribute that has the parameter already, if any has."""
        made = self.locals[value.id] if isinstance(value, Name) else value
        first = self.first.get(made)
        if first is None and self._is_own(target):
            self.first[made] = target
        if isinstance(target, Name) and target.id in self.once:
            self.locals[target.id] = made
        return value if first is None else first

    def _is_parameter(self, value: Expression) -> bool:
        named = imported(self.function, value.function) if isinstance(value, Call) else ""
        return named in _PARAMETER

    def _is_own(self, target: Expression) -> bool:
        return isinstance(target, Attribute) and dotted(target.object) == self.me


PASS = Pass("parameter_aliases", (), run)
