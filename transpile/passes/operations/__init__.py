"""Torch's functions, methods, constants and layers become JAX's, as the rules say.

In functions that are traced a rule for `name[traced]` goes before that for `name`: `x.item()`. In a
comparison, below `detach()` and where no gradient passes, one for `name[compared]` does. Where the
result is cast or rounded in the same function, one for `name[whole]` does: it has torch's last
digit. One for `name[beside]` makes a number for what takes the dtype of the array that it meets.
"""

from ...facts.program import ProgramFacts
from ...facts.values import lattice
from ...model.effects import Detached, Put
from ...model.expressions import Attribute, Call, Name, NamedExpression, Subscript
from ...model.node import Node
from ...model.operators import Binary, Compare, Conditional
from ...model.program import Class, Function, Scope
from ...model.statements import (
    Assign,
    Delete,
    ExpressionStatement,
    For,
    If,
    Import,
    OpaqueStatement,
    While,
)
from ..pass_ import Changes, Pass
from . import calls, conditions, headers, names, numbers, promotion, stores, subscripts, tests
from .conversion import Conversion, Handler
from .literals import known

__all__ = ["PASS", "run"]


def run(scope: Scope, facts: ProgramFacts) -> Changes:
    """What is torch's in a scope as JAX's; what cannot be is reported, and raises where its value
    is needed.
    """
    conversion = Conversion(scope, facts, _HANDLERS)
    conversion.visit_all(scope.own())
    return conversion.changes


def _call(c: Conversion, node: Node) -> bool:
    if c.compared and isinstance(known(node.function), _RUN):  # type: ignore[attr-defined]
        c.visit_compared([node], compared=False)  # what it is given it may keep
        return True
    return promotion.mark(c, node) or calls.called(c, node)


def _assign(c: Conversion, node: Node) -> bool:
    return promotion.mark(c, node) or headers.assign(c, node)


def _named(c: Conversion, node: Node) -> bool:
    c.visit_compared(node.children(), compared=False)
    return True


def _detached(c: Conversion, node: Node) -> bool:
    if node.unless is not None:  # type: ignore[attr-defined]
        return False
    c.visit_compared(node.children())
    return True


_RUN = (lattice.Function, lattice.Functions, lattice.Module, lattice.Object)


_HANDLERS: dict[type, Handler] = numbers.watched(
    {
        Import: lambda c, node: True,
        Function: headers.function,
        Class: headers.class_,
        Assign: _assign,
        For: headers.loop,
        ExpressionStatement: headers.asserted,
        Delete: headers.delete,
        OpaqueStatement: headers.matched,
        Call: _call,
        Binary: promotion.mark,
        Subscript: subscripts.subscript,
        Put: stores.put,
        Attribute: names.attribute,
        Name: names.name,
        Compare: tests.compared,
        Conditional: conditions.condition,
        If: conditions.condition,
        While: conditions.condition,
        Detached: _detached,
        NamedExpression: _named,
    }
)
PASS = Pass("operations", ("values", "stages"), run)
