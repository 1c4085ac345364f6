"""A local name of a function that is only called, for what the function does: it is written out
where it is called.

    keep = lambda name, v: self.register_buffer(name, v.float())
    keep("betas", betas)                           →  self.register_buffer("betas", betas.float())

    keep = partial(self.register_buffer, persistent=False)
    keep("betas", betas)                  →  self.register_buffer("betas", betas, persistent=False)

    array = partial(torch.tensor, dtype=torch.float32)
    x = array(betas)                               →  x = torch.tensor(betas, dtype=torch.float32)

What registers under a name that it is given would declare nothing; a partial of torch's keeps what
its rule asks for out of its sight.

A second name of a method in the body of a module's class is a method that does the same:

    inverse = forward                              →  def inverse(self, x): …
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from ..model.copy import clone
from ..model.expressions import (
    Attribute,
    Call,
    Comprehension,
    Constant,
    Display,
    Lambda,
    Name,
    NamedExpression,
    Starred,
    Subscript,
)
from ..model.functions import bound_arguments, called_by
from ..model.layout import comments
from ..model.names import (
    bound_once,
    calls_of,
    dotted,
    everywhere,
    imported,
    last_word,
    rebound,
    target_names,
)
from ..model.node import Expression, Node
from ..model.operators import Boolean, Conditional, Unary
from ..model.program import Class, Function, Parameter, Scope
from ..model.statements import Assign, Block, ExpressionStatement
from .pass_ import Changes, Pass

_REGISTERS = frozenset("add_module register_buffer register_module register_parameter".split())
_OWN_NAMES = (Lambda, Comprehension, NamedExpression)


class Named(NamedTuple):
    """A statement that gives a name to a function, what that is, and the calls of the name.

    `parameters`: those of a function that is written out; None where the calls go on to `function`.
    """

    statement: Assign | Function
    parameters: list[Parameter] | None
    function: Expression
    calls: list[Call]


def run(scope: Scope, facts: Any = None) -> Changes:
    """Write out the functions of one function, one after the other: they may call each other."""
    changes = Changes(scope)
    if isinstance(scope, Function) and next(_found(scope), None) is not None:
        changes.change(scope, _write_out)
    elif isinstance(scope, Class) and any(_is_method(s, "forward") for s in scope.body.body):
        _second_methods(scope, changes)
    return changes


def _is_method(statement: Node, name: str) -> bool:
    return isinstance(statement, Function) and statement.name == name


def _second_methods(cls: Class, changes: Changes) -> None:
    methods: dict[str, Function] = {}
    for statement in cls.body.body:
        if isinstance(statement, Function) and not statement.decorators:
            methods[statement.name] = statement
        elif isinstance(statement, Assign) and not statement.operator:
            method = methods.get(dotted(statement.expression) or "")
            name = dotted(statement.targets[0]) if len(statement.targets) == 1 else None
            if method is not None and name is not None:
                made = clone(method)
                made.name = name
                made.restate()
                changes.substitute(statement, [made])


def _write_out(function: Function) -> None:
    while (found := next(_found(function), None)) is not None:
        for call in found.calls:
            call.replace(_written(found, call))
        block = found.statement.parent
        assert isinstance(block, Block)
        commented = "#" in comments(found.statement)[0]  # it is of the calls as well
        (block.remove if commented else block.take)(found.statement)


def _written(found: Named, call: Call) -> Expression:
    """What stands in the place of a call."""
    if found.parameters is None:
        return called_by(found.function, call)
    given = bound_arguments(found.parameters, call)
    assert given is not None
    body = clone(found.function)
    for name in [n for n in (body, *body.walk()) if isinstance(n, Name) and n.id in given]:
        name.replace(clone(given[name.id]))
    return body


# --- which names ---------------------------------------------------------------------------------


def _found(scope: Function) -> Iterator[Named]:
    names: set[str] | None = None
    statements: list[Assign | Function] = [*scope.nodes(Assign), *scope.nodes(Function)]
    for statement in statements:
        name, parameters, function = _named(scope, statement)
        if name is None or function is None:
            continue
        names = bound_once(scope) - {p.name for p in scope.parameters} if names is None else names
        uses = [n for n in everywhere(scope, Name) if n.id == name and n.parent is not statement]
        calls = calls_of(uses)
        if name in names and calls and len(calls) == len(uses):
            found = Named(statement, parameters, function, calls)
            if all(_may_stand(found, call, scope) for call in calls):
                yield found


def _named(
    scope: Function, statement: Assign | Function
) -> tuple[str | None, list[Parameter] | None, Expression | None]:
    """The name that a statement gives to a function, with what the function is."""
    if isinstance(statement, Function):
        body = statement.body.body
        lone = body[0] if len(body) == 1 and not statement.decorators else None
        if isinstance(lone, ExpressionStatement) and not statement.asynchronous:
            return statement.name, statement.parameters, _plain(lone.expression)
        return None, None, None
    target, value = statement.targets[0], statement.expression
    if len(statement.targets) != 1 or not isinstance(target, Name) or statement.operator:
        return None, None, None
    if isinstance(value, Lambda):
        return target.id, value.parameters, _plain(value.body)
    return target.id, None, value if _goes_on(scope, value) else None


def _plain(body: Expression) -> Expression | None:
    """The call that a function is made of, which gives no name to anything."""
    named = any(isinstance(n, _OWN_NAMES) for n in body.walk())
    return body if isinstance(body, Call) and not named else None


def _goes_on(scope: Function, value: Expression | None) -> bool:
    """`self.register_buffer`, `partial(self.f, scale=s)`, `partial(torch.tensor, dtype=d)`"""
    own = scope.receiver
    if isinstance(value, Attribute):
        return value.name in _REGISTERS and dotted(value.object) == own
    if not isinstance(value, Call) or imported(scope, value.function) != "functools.partial":
        return False
    if not value.arguments or value.keywords[0] is not None:
        return False
    function, *held = value.arguments
    of_torch = imported(scope, function).startswith("torch.")
    if isinstance(function, Attribute) and isinstance(function.object, Name) and not of_torch:
        stores = [t for a in everywhere(scope, Assign) for t in a.targets]
        stored = any(isinstance(t, Attribute) and t.name == function.name for t in stores)
        of_torch = function.object.id == own and not stored
    elif of_torch:  # a layer's class is as well made by a partial
        of_torch = not last_word(function)[:1].isupper()
    changing = rebound(scope)
    return of_torch and all(_stays(scope, node, changing) for node in held)


def _stays(scope: Function, node: Expression, changing: set[str]) -> bool:
    """Whether an expression is the same, and costs nothing, wherever it stands."""
    if isinstance(node, Name):
        return node.id not in changing
    if isinstance(node, Unary):
        return _stays(scope, node.operand, changing)
    if isinstance(node, Attribute) and node.name in ("device", "dtype"):
        return _stays(scope, node.object, changing)
    if isinstance(node, Display):
        return node.kind == "tuple" and all(_stays(scope, e, changing) for e in node.elements)
    return isinstance(node, Constant) or bool(imported(scope, node))


# --- which calls ---------------------------------------------------------------------------------


def _may_stand(found: Named, call: Call, scope: Function) -> bool:
    """Whether the function means the same where it is called, after it has got its name."""
    statement, parameters = found.statement, found.parameters
    block, around = statement.parent, list(call.ancestors())
    if not isinstance(block, Block) or block not in around:
        return False
    there = around[around.index(block) - 1]
    if block.body.index(there) <= block.body.index(statement):  # type: ignore[arg-type]
        return False
    inside = around[: around.index(scope)]
    read = {n.id for n in _names(found.function)} - {p.name for p in parameters or ()}
    hidden = {name for node in inside for name in _own_names(node)}
    assert isinstance(call.function, Name)
    if hidden & {*read, call.function.id} or any(isinstance(node, Class) for node in inside):
        return False
    if parameters is None:
        held = found.function.keywords if isinstance(found.function, Call) else []
        spread = any(isinstance(a, Starred) and a.double for a in call.arguments)
        return not (spread and any(held))
    alone = isinstance(call.parent, ExpressionStatement)
    given = bound_arguments(parameters, call) if alone else None
    return given is not None and _in_order(found.function, given)


def _names(node: Node) -> list[Name]:
    return [n for n in (node, *node.walk()) if isinstance(n, Name)]


def _own_names(node: Node) -> list[str]:
    """The names that a node between a function and a call may give another meaning."""
    if isinstance(node, (Lambda, Function)):
        bound = bound_once(node) | rebound(node) if isinstance(node, Function) else set()
        return [*bound, *(p.name for p in node.parameters)]
    if isinstance(node, Comprehension):
        return [name for clause in node.clauses for name in target_names(clause.target)]
    return []


def _in_order(body: Expression, given: dict[str, Expression]) -> bool:
    """Whether what is given is evaluated once, in its order, before all that the body does; what
    only names a value may stand anywhere."""
    costly = [name for name, value in given.items() if not _names_value(value)]
    walked = list(body.walk())
    used = [n for n in walked if isinstance(n, Name) and n.id in costly]
    if [n.id for n in used] != costly:
        return False
    if any(isinstance(given[n.id], Display) and _is_taken_apart(n) for n in used):
        return False
    around = {around for n in used for around in n.ancestors()}
    if any(isinstance(n, (Boolean, Conditional)) for n in around):
        return False
    before = walked[: walked.index(used[-1])] if used else []
    return all(n in around for n in before if isinstance(n, Call))


def _is_taken_apart(name: Name) -> bool:
    """Whether a part is asked for: what `ts[0].add_(1)` changes has another name in `[z, y]`."""
    around = name.parent
    return isinstance(around, (Attribute, Subscript)) and around.object is name


def _names_value(node: Node) -> bool:
    """`x`, `2`, `self.fc.weight`, `self.fcs[0]`"""
    if isinstance(node, Attribute):
        return _names_value(node.object)
    if isinstance(node, Subscript):
        return _names_value(node.object) and isinstance(node.index, Constant)
    return isinstance(node, (Name, Constant))


PASS = Pass("local_functions", (), run)
