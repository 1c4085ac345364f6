"""What calls one after the other, as a loop: `reduce` of a lambda, a Sequential for one call.

return reduce(lambda x, f: f(x), self.layers, x)  →   for f in self.layers:
                                                           x = f(x)
                                                       return x
return reduce(lambda h, f: f(h), fs, x) + y       →   h = x
                                                       for f in fs:
                                                           h = f(h)
                                                       return h + y
return nn.Sequential(*layers)(x)                  →   for layer in layers:
                                                           x = layer(x)
                                                       return x
nn.Sequential(self.a, nn.ReLU(), self.b)(x)       →   self.b(nn.ReLU()(self.a(x)))
s = nn.Sequential(self.a, self.b); s(x) + s(y)    →   self.b(self.a(x)) + self.b(self.a(y))
self.skip = nn.Sequential()                       →   self.skip = nn.Identity()
"""

from typing import NamedTuple

from ...model.copy import clone, rebuilt
from ...model.expressions import (
    Attribute,
    Call,
    Constant,
    Display,
    Lambda,
    Name,
    NamedExpression,
    Starred,
    Subscript,
)
from ...model.fresh_names import Names
from ...model.names import (
    bound_name,
    bound_once,
    calls_of,
    dotted,
    everywhere,
    imported,
    is_augmented,
    is_called,
    is_name,
    is_target,
    last_word,
    names_in,
    own_names,
    reads_of,
    root,
)
from ...model.node import Expression, Node, Statement
from ...model.operators import Binary, Compare, Conditional, Unary, sides
from ...model.program import Function, Parameter, Scope
from ...model.statements import Assign, Block, ExpressionStatement, For, Return
from .by_name import plain_call

_SEQUENTIAL = "torch.nn.Sequential"
_IN_ORDER = (Attribute, Binary, Call, Display, Starred, Subscript, Unary)


class _Turns(NamedTuple):
    """What is carried through a lambda of it and of each of the layers, and what it is at first."""

    step: Lambda
    over: Expression
    start: Expression


def runs_in_turn(scope: Scope, call: Call) -> bool:
    """Whether a call runs layers one after the other, before all else of its statement."""
    return runs_first(call) is not None and _turns(scope, call) is not None


def _turns(scope: Scope, call: Call) -> _Turns | None:
    if last_word(call.function) == "reduce" and plain_call(call, 3):
        step, over, start = call.arguments
        if not isinstance(step, Lambda) or len(step.parameters) != 2:
            return None
        calls = any(dotted(n.function) == step.parameters[1].name for n in calls_of(step.walk()))
        plain = calls and not any(p.kind or p.default for p in step.parameters)
        return _Turns(step, over, start) if plain else None
    layers = _of_sequential(scope, call)
    if (
        len(layers) != 1
        or not isinstance(layers[0], Starred)
        or not _is_plain(layers[0].expression)
    ):
        return None
    start = call.arguments[0]
    whole = isinstance(call.parent, Return) and isinstance(start, Name)
    carried = start.id if whole else "out"  # type: ignore[attr-defined]
    made = Lambda([Parameter(carried), Parameter("layer")], Call(Name("layer"), [Name(carried)]))
    return _Turns(made, layers[0].expression, start)


def runs_first(call: Expression) -> Statement | None:
    """The statement before which an expression may run: it is evaluated whenever the statement is,
    and only names are read before it, which it binds none of."""
    node: Node = call
    while isinstance(around := node.parent, _IN_ORDER):
        parts = around.children()
        if not all(_is_inert(part, around) for part in parts[: parts.index(node)]):
            return None
        node = around
    keeps = isinstance(around, (Assign, Return, ExpressionStatement))
    if not keeps or any(isinstance(n, NamedExpression) for n in call.walk()):
        return None
    plain = not is_augmented(around) or isinstance(around.targets[0], Name)  # type: ignore
    return around if around.expression is node and plain else None  # type: ignore


def _is_inert(part: Node, around: Node) -> bool:
    called = isinstance(around, Call) and part is around.function and dotted(part) is not None
    return called or isinstance(part, (Name, Constant))


def in_a_loop(call: Call, scope: Function) -> None:
    turns, statement = _turns(scope, call), runs_first(call)
    assert turns is not None and statement is not None and isinstance(statement.parent, Block)
    inside, names = {*turns.step.walk()}, Names(scope)
    outside = {n.id for n in scope.body.walk() if isinstance(n, Name) and n not in inside}
    outside |= {p.name for p in scope.parameters}
    carried, turn = (p.name for p in turns.step.parameters)
    kept = _kept(statement, call, turns, outside - own_names(scope))
    if kept is None:
        kept = carried if carried not in outside else names.fresh(carried)
    named = {carried: kept, turn: turn if turn not in outside else names.fresh(turn)}
    rename = lambda n: Name(named[n.id]) if isinstance(n, Name) and n.id in named else None
    body = Block([Assign([Name(kept)], rebuilt(turns.step.body, rename))])
    made: list[Statement] = [For(Name(named[turn]), clone(turns.over), body)]
    if dotted(turns.start) != kept:
        made.insert(0, Assign([Name(kept)], clone(turns.start)))
    if bound_name(statement) == kept and call.parent is statement:
        statement.parent.substitute(statement, made)
    else:
        statement.parent.insert_before(statement, made)
        call.replace(Name(kept))


def _kept(statement: Statement, call: Call, turns: _Turns, outer: set[str]) -> str | None:
    """The name of all that a statement keeps, or of a lambda that it returns, where it may hold
    what is carried: no name of the functions around it."""
    carried = turns.step.parameters[0].name
    kept = carried if isinstance(statement, Return) else bound_name(statement)
    if call.parent is not statement or kept is None or kept in outer:
        return None
    if kept != carried and kept in names_in(turns.step.body):
        return None
    return kept if kept not in names_in(turns.over) or dotted(turns.start) == kept else None


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


def runs_by_name(scope: Scope, assign: Assign) -> list[Call]:
    """The calls of a Sequential of parts of self that a method has a name for, where it does
    nothing else with it: `s = nn.Sequential(self.a, nn.ReLU())`, `s(x)`"""
    name, made = bound_name(assign), assign.expression
    if not isinstance(scope, Function) or scope.owner is None or name not in bound_once(scope):
        return []
    uses = reads_of(scope, name)
    calls = [c for c in calls_of(uses) if plain_call(c, 1)]
    if not isinstance(made, Call) or len(calls) != len(uses) or scope.name == "__init__":
        return []
    parts = [n for n in made.arguments if not isinstance(n, Call)]
    own = all(_is_plain(n) and is_name(root(n), scope.receiver) for n in parts)
    as_one = Call(clone(made), [Name(name)])
    as_one.parent = assign
    return calls if own and nests(scope, as_one) else []


def nested_by_name(call: Call, made: Expression | None) -> Expression:
    assert made is not None
    call.function.replace(clone(made))
    return nested(call)


def _is_plain(layers: Expression) -> bool:
    """Whether it may be asked for elsewhere, and again: `self.a`, `self.layers[1:]`"""
    return not isinstance(layers, Starred) and not any(isinstance(n, Call) for n in layers.walk())


def nested(call: Call) -> Expression:
    assert isinstance(call.function, Call)
    made = clone(call.arguments[0])
    for layer in call.function.arguments:
        made = Call(clone(layer), [made])
    return made


# --- a Sequential of nothing ---------------------------------------------------------------------


def is_left_empty(method: Function | None, call: Call) -> bool:
    """`self.skip = nn.Sequential() if same else nn.Conv2d(n, m, 1)`, into which nothing is put: it
    is only set, called, or asked for; and no other Sequential may be in its place."""
    if call.arguments or not isinstance(call.function, Attribute) or method is None:
        return False
    if imported(method, call.function) != _SEQUENTIAL or method.file is None:
        return False
    stored = call.parent
    while isinstance(stored, Conditional):
        stored = stored.parent
    target = stored.targets[0] if isinstance(stored, Assign) else None
    if not isinstance(target, Attribute) or dotted(target.object) != method.receiver:
        return False
    named = [n for n in everywhere(method.file, Attribute) if n.name == target.name]
    said = any(c.constant == target.name for c in everywhere(method.file, Constant))
    by_name = (c for c in everywhere(method.file, Call) if dotted(c.function) == "getattr")
    computed = any(not isinstance(c.arguments[-1], Constant) for c in by_name if c.arguments)
    return not said and not computed and all(_keeps_empty(n, method) for n in named)


def _keeps_empty(named: Attribute, method: Function) -> bool:
    around = named.parent
    if is_target(named) and isinstance(around, Assign):
        made = [s for s in sides(around.expression) if isinstance(s, Call) and s.arguments]
        return not around.operator and all(
            imported(method, call.function) != _SEQUENTIAL for call in made
        )
    asked = isinstance(around, Compare)  # `if self.skip:` asks whether anything is in it
    held = isinstance(around, Call) and imported(method, around.function) == _SEQUENTIAL
    return asked or held or is_called(named)


def identity(call: Call) -> Call:
    assert isinstance(call.function, Attribute)
    return Call(Attribute(call.function.object, "Identity"), [])
