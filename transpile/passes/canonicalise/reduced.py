"""`reduce` of a lambda that calls what it is given, as a loop.

return reduce(lambda x, f: f(x), self.layers, x)  →   for f in self.layers:
                                                           x = f(x)
                                                       return x
"""

from ...model.copy import clone, rebuilt
from ...model.expressions import Call, Lambda, Name
from ...model.names import bound_name, dotted, last_word, names_in
from ...model.node import Statement
from ...model.program import Function, Scope
from ...model.statements import Assign, Block, For, Return
from .by_name import plain_call


def reduces_calls(scope: Scope, statement: Statement) -> bool:
    """Whether a statement keeps, or returns, what layers make one after the other."""
    call = statement.expression if isinstance(statement, (Assign, Return)) else None
    if not isinstance(scope, Function) or not isinstance(call, Call) or not plain_call(call, 3):
        return False
    if last_word(call.function) != "reduce":
        return False
    step = call.arguments[0]
    if not isinstance(step, Lambda) or len(step.parameters) != 2:
        return False
    if any(p.kind or p.default for p in step.parameters):
        return False
    carried, turn = (p.name for p in step.parameters)
    calls = [n for n in step.body.walk() if isinstance(n, Call)]
    if not any(dotted(n.function) == turn for n in calls):
        return False
    inside = {*step.walk()}
    outside = {n.id for n in scope.body.walk() if isinstance(n, Name) and n not in inside}
    kept = _kept(statement, carried)
    if kept is None or turn in outside | {p.name for p in scope.parameters}:
        return False
    if kept in names_in(call.arguments[1]) and dotted(call.arguments[2]) != kept:
        return False
    return kept == carried or kept not in names_in(step.body)


def _kept(statement: Statement, carried: str) -> str | None:
    """The name that holds what is made: that of the lambda where it is returned."""
    return bound_name(statement) if isinstance(statement, Assign) else carried


def in_a_loop(statement: Assign | Return) -> None:
    assert isinstance(statement.parent, Block)
    statement.parent.substitute(statement, _loop(statement))


def _loop(statement: Assign | Return) -> list[Statement]:
    call = statement.expression
    assert isinstance(call, Call) and isinstance(step := call.arguments[0], Lambda)
    carried, turn = (p.name for p in step.parameters)
    kept = _kept(statement, carried) or carried
    named = lambda n: Name(kept) if isinstance(n, Name) and n.id == carried else None
    body = Block([Assign([Name(kept)], rebuilt(step.body, named))])
    made: list[Statement] = [For(Name(turn), clone(call.arguments[1]), body)]
    if dotted(call.arguments[2]) != kept:
        made.insert(0, Assign([Name(kept)], clone(call.arguments[2])))
    return [*made, Return(Name(kept))] if isinstance(statement, Return) else made
