"""`map` of a lambda that calls what it is given, as a comprehension."""

from ...model.expressions import Call, Comprehension, Display, ForClause, Lambda, Name
from ...model.names import dotted
from ...model.node import Expression
from .by_name import plain_call


def maps_calls(call: Expression) -> bool:
    """Whether it maps a lambda that calls what it is given: `map(lambda f: f(x), self.fs)`,
    `map(lambda f, x: f(x), self.fs, xs)`."""
    if not isinstance(call, Call) or dotted(call.function) != "map" or len(call.arguments) < 2:
        return False
    function, given = call.arguments[0], len(call.arguments) - 1
    if not isinstance(function, Lambda) or len(function.parameters) != given:
        return False
    if not plain_call(call, given + 1):
        return False
    names = {p.name for p in function.parameters}
    calls = [n for n in function.body.walk() if isinstance(n, Call)]
    called = any(dotted(n.function) in names for n in calls)
    return called and not any(p.kind or p.default for p in function.parameters)


def mapped(call: Call, kind: str = "generator") -> Comprehension:
    function, *iterables = call.arguments
    assert isinstance(function, Lambda)
    names: list[Expression] = [Name(p.name) for p in function.parameters]
    target = names[0] if len(names) == 1 else Display("tuple", names)
    over = iterables[0] if len(names) == 1 else Call(Name("zip"), iterables)
    return Comprehension(kind, None, function.body, [ForClause(target, over)])


def listed(call: Call) -> Comprehension:
    made = call.arguments[0]
    if isinstance(made, Comprehension):  # edited before
        return Comprehension("list", None, made.element, made.clauses)
    assert isinstance(made, Call)
    return mapped(made, "list")
