"""What calls one after the other, as a loop: `reduce` of a lambda, a Sequential for one call.

return reduce(lambda x, f: f(x), self.layers, x)  →   for f in self.layers:
                                                           x = f(x)
                                                       return x
return nn.Sequential(*layers)(x)                  →   for layer in layers:
                                                           x = layer(x)
                                                       return x
nn.Sequential(self.a, nn.ReLU(), self.b)(x)       →   self.b(nn.ReLU()(self.a(x)))
"""

from ...model.copy import clone, rebuilt
from ...model.expressions import Call, Lambda, Name, Starred
from ...model.fresh import Names
from ...model.names import bound_name, dotted, imported, last_word, names_assigned, names_in
from ...model.node import Expression, Statement
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


# --- a Sequential that is called where it is made ------------------------------------------------


def _of_sequential(scope: Scope, call: Expression | None) -> list[Expression]:
    """What a Sequential is made of, where it stands for one call of it: `nn.Sequential(*f)(x)`"""
    if not isinstance(scope, Function) or scope.name == "__init__":
        return []
    if not isinstance(call, Call) or not plain_call(call, 1):
        return []
    made, given = call.function, call.arguments[0]
    if not isinstance(made, Call) or any(made.keywords) or isinstance(given, Starred):
        return []
    return made.arguments if imported(scope, made.function) == "torch.nn.Sequential" else []


def nests(scope: Scope, call: Call) -> bool:
    """Whether a Sequential of layers that are there already, and cost nothing to name, is run."""
    layers = _of_sequential(scope, call)
    new = [n for n in layers if isinstance(n, Call)]
    own = all(imported(scope, n.function).startswith("torch.nn.") for n in new)
    return own and len(layers) > max(len(new), 1) and all(map(_is_plain, {*layers} - {*new}))


def _is_plain(layers: Expression) -> bool:
    """Whether it may be asked for elsewhere, and again: `self.a`, `self.layers[1:]`"""
    return not isinstance(layers, Starred) and not any(isinstance(n, Call) for n in layers.walk())


def nested(call: Call) -> Expression:
    assert isinstance(call.function, Call)
    made = clone(call.arguments[0])
    for layer in call.function.arguments:
        made = Call(clone(layer), [made])
    return made


def runs_each(scope: Scope, statement: Assign | Return) -> bool:
    """Whether a statement keeps, or returns, what the layers of one list make."""
    layers = _of_sequential(scope, statement.expression)
    if len(layers) != 1 or not isinstance(layers[0], Starred):
        return False
    if not _is_plain(layers[0].expression):
        return False
    return isinstance(statement, Return) or (
        bound_name(statement) not in {None, *names_in(layers[0])}
    )


def each_in_turn(statement: Assign | Return, scope: Function) -> None:
    call, block, fresh = statement.expression, statement.parent, Names(scope)
    assert isinstance(call, Call) and isinstance(call.function, Call) and isinstance(block, Block)
    given, starred = call.arguments[0], call.function.arguments[0]
    assert isinstance(starred, Starred)
    own = {*names_assigned(scope.body), *(p.name for p in scope.parameters)}
    kept = bound_name(statement) if isinstance(statement, Assign) else dotted(given)
    if kept is None or isinstance(statement, Return) and kept not in own - names_in(starred):
        kept = fresh.fresh("out")
    turn = fresh.fresh("layer")
    body = Block([Assign([Name(kept)], Call(Name(turn), [Name(kept)]))])
    loop = For(Name(turn), clone(starred.expression), body)
    if isinstance(statement, Return):
        begin = [Assign([Name(kept)], clone(given))] if dotted(given) != kept else []
        block.insert_before(statement, [*begin, loop])
        call.replace(Name(kept))
    elif dotted(given) != kept:
        block.insert_after(statement, [loop])
        call.replace(clone(given))
    else:
        block.substitute(statement, [loop])
