"""`map` of a lambda that calls what it is given, as a comprehension."""

from __future__ import annotations

from ...model.expressions import Call, Comprehension, ForClause, Lambda, Name
from ...model.names import dotted
from ...model.node import Expression
from .by_name import plain_call


def maps_calls(call: Expression) -> bool:
    """Whether it maps a lambda that calls what it is given: `map(lambda f: f(x), self.fs)`."""
    if not isinstance(call, Call) or dotted(call.function) != "map" or not plain_call(call, 2):
        return False
    function = call.arguments[0]
    if not isinstance(function, Lambda) or len(function.parameters) != 1:
        return False
    parameter = function.parameters[0]
    calls = [n for n in function.body.walk() if isinstance(n, Call)]
    called = any(dotted(n.function) == parameter.name for n in calls)
    return called and not parameter.kind and parameter.default is None


def mapped(call: Call, kind: str = "generator") -> Comprehension:
    function, iterable = call.arguments
    assert isinstance(function, Lambda)
    clause = ForClause(Name(function.parameters[0].name), iterable)
    return Comprehension(kind, None, function.body, [clause])


def listed(call: Call) -> Comprehension:
    made = call.arguments[0]
    if isinstance(made, Comprehension):  # edited before
        return Comprehension("list", None, made.element, made.clauses)
    assert isinstance(made, Call)
    return mapped(made, "list")
