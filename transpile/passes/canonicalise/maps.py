"""`map` of a lambda that calls what it is given, or of a method, as a comprehension."""

from ...model.copy import clone
from ...model.expressions import Call, Comprehension, Display, ForClause, Lambda, Name
from ...model.names import dotted
from ...model.node import Expression
from .by_name import plain_call

_NAMES = ("x", "y", "z")


def maps_calls(call: Expression, own: str | None) -> bool:
    """Whether it maps a lambda that calls what it is given: `map(lambda f: f(x), self.fs)`,
    `map(lambda f, x: f(x), self.fs, xs)`; or what is `own`: `map(self.step, xs)`."""
    if not isinstance(call, Call) or dotted(call.function) != "map" or len(call.arguments) < 2:
        return False
    function, given = call.arguments[0], len(call.arguments) - 1
    if not plain_call(call, given + 1):
        return False
    if not isinstance(function, Lambda):
        return given <= len(_NAMES) and _is_below(function, own)
    names = {p.name for p in function.parameters}
    calls = [n for n in function.body.walk() if isinstance(n, Call)]
    called = any(dotted(n.function) in names or _is_below(n.function, own) for n in calls)
    plain = not any(p.kind or p.default for p in function.parameters)
    return called and plain and len(function.parameters) == given


def _is_below(function: Expression, own: str | None) -> bool:
    return own is not None and (dotted(function) or "").startswith(f"{own}.")


def mapped(call: Call, kind: str = "generator") -> Comprehension:
    function, *iterables = call.arguments
    words = _NAMES[: len(iterables)]
    if isinstance(function, Lambda):
        words = tuple(p.name for p in function.parameters)
    names: list[Expression] = [Name(word) for word in words]
    target = names[0] if len(names) == 1 else Display("tuple", names)
    over = iterables[0] if len(names) == 1 else Call(Name("zip"), iterables)
    called = function.body if isinstance(function, Lambda) else Call(function, [*map(clone, names)])
    return Comprehension(kind, None, called, [ForClause(target, over)])


def listed(call: Call) -> Comprehension:
    made = call.arguments[0]
    if isinstance(made, Comprehension):  # edited before
        return Comprehension("list", None, made.element, made.clauses)
    assert isinstance(made, Call)
    return mapped(made, "list")
