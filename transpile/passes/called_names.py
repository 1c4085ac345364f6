"""A constructor's own short name for what registers under a name that it is given: it is written
out where it is called, for else it would declare nothing.

    keep = lambda name, v: self.register_buffer(name, v.float())
    keep("betas", betas)                           →  self.register_buffer("betas", betas.float())

    keep = partial(self.register_buffer, persistent=False)
    keep("betas", betas)                  →  self.register_buffer("betas", betas, persistent=False)

    array = partial(torch.tensor, dtype=torch.float32)
    x = array(betas)                               →  x = torch.tensor(betas, dtype=torch.float32)

A partial of torch's keeps what its rule asks for out of its sight.

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
    Lambda,
    Name,
    NamedExpression,
    Starred,
)
from ..model.layout import comments
from ..model.names import bound_once, dotted, everywhere, imported, rebound
from ..model.node import Expression, Node
from ..model.operators import Boolean, Conditional
from ..model.program import Class, Function, Parameter, Scope
from ..model.statements import Assign, Block, ExpressionStatement
from .pass_ import Changes, Pass

_REGISTERS = frozenset("add_module register_buffer register_module register_parameter".split())
_NOT_PLAIN = (Lambda, Comprehension, NamedExpression, Boolean, Conditional)


class Named(NamedTuple):
    """A statement that gives a name to what registers, what that is, and the calls of the name.

    `parameters`: those of a function that is written out; None where the calls go on to `function`.
    """

    statement: Assign | Function
    parameters: list[Parameter] | None
    function: Expression
    calls: list[Call]


def run(scope: Scope, facts: Any = None) -> Changes:
    """Write out the names of one constructor, the methods of one class."""
    changes = Changes(scope)
    if isinstance(scope, Function):
        if next(_found(scope), None) is not None:
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
        return _called(found.function, call)
    given = _bound(found.parameters, call) or {}
    body = clone(found.function)
    for name in [n for n in body.walk() if isinstance(n, Name) and n.id in given]:
        name.replace(clone(given[name.id]))
    return body


def _called(function: Expression, call: Call) -> Call:
    """The call that a call of a partial is: what it says by a word goes before the partial's."""
    words = list(zip(call.keywords, call.arguments))
    if isinstance(function, Call):
        held = list(zip(function.keywords[1:], map(clone, function.arguments[1:])))
        words += [pair for pair in held if pair[0] not in call.keywords]
        function = function.arguments[0]
    return Call(clone(function), [value for _, value in words], [word for word, _ in words])


def _found(scope: Function) -> Iterator[Named]:
    once: set[str] | None = None
    statements: list[Assign | Function] = [*scope.nodes(Assign), *scope.nodes(Function)]
    for statement in statements:
        name, parameters, function = _named(scope, statement)
        if name is None or function is None:
            continue
        once = bound_once(scope) - {p.name for p in scope.parameters} if once is None else once
        uses = [n for n in everywhere(scope, Name) if n.id == name and n.parent is not statement]
        calls = [n.parent for n in uses if isinstance(n.parent, Call) and n.parent.function is n]
        if name in once and calls and len(calls) == len(uses):
            found = Named(statement, parameters, function, calls)
            if all(_may_stand(found, call) for call in calls):
                yield found


def _named(
    scope: Function, statement: Assign | Function
) -> tuple[str | None, list[Parameter] | None, Expression | None]:
    """The name that a statement gives to what registers, with what that is."""
    me = scope.parameters[0].name if scope.parameters else ""
    if isinstance(statement, Function):
        lone = statement.body.body[0] if len(statement.body.body) == 1 else None
        plain = isinstance(lone, ExpressionStatement) and not statement.decorators
        body = lone.expression if plain and isinstance(lone, ExpressionStatement) else None
        return statement.name, statement.parameters, body if _registers(body, me) else None
    target, value = statement.targets[0], statement.expression
    if len(statement.targets) != 1 or not isinstance(target, Name) or statement.operator:
        return None, None, None
    if isinstance(value, Lambda):
        return target.id, value.parameters, value.body if _registers(value.body, me) else None
    partial = isinstance(value, Call) and imported(scope, value.function) == "functools.partial"
    if partial and isinstance(value, Call) and value.arguments and None not in value.keywords[1:]:
        function, *held = value.arguments
        of_torch = imported(scope, function).startswith("torch.")
        if of_torch:  # a layer's class is as well made by a partial
            of_torch = (dotted(function) or "").rpartition(".")[2][:1].islower()
        changing = rebound(scope)
        stays = all(_stays(scope, node, changing) for node in held)
        return target.id, None, value if stays and (of_torch or _is_own(function, me)) else None
    return target.id, None, value if _is_own(value, me) else None


def _stays(scope: Function, node: Expression, changing: set[str]) -> bool:
    """Whether an expression is the same, and costs nothing, wherever it stands."""
    if isinstance(node, Name):
        return node.id not in changing
    if isinstance(node, Attribute) and node.name in ("device", "dtype"):
        return _stays(scope, node.object, changing)
    return isinstance(node, Constant) or bool(imported(scope, node))


def _is_own(node: Node | None, me: str) -> bool:
    """`self.register_buffer`"""
    word = isinstance(node, Attribute) and node.name in _REGISTERS
    return word and isinstance(node, Attribute) and dotted(node.object) == me


def _registers(body: Expression | None, me: str) -> bool:
    """`self.register_buffer(name, v.float())`, `setattr(self, name, v)`"""
    if not isinstance(body, Call) or any(isinstance(n, _NOT_PLAIN) for n in body.walk()):
        return False
    sets = dotted(body.function) == "setattr" and dotted(body.arguments[0]) == me
    return sets or _is_own(body.function, me)


def _may_stand(found: Named, call: Call) -> bool:
    """Whether the function means the same where it is called, after it has got its name."""
    block, around = found.statement.parent, list(call.ancestors())
    if not isinstance(block, Block) or block not in around:
        return False
    there = around[around.index(block) - 1]
    if block.body.index(there) <= block.body.index(found.statement):  # type: ignore[arg-type]
        return False
    between = around[: around.index(block)]
    if any(isinstance(n, (Lambda, Function, Comprehension, Class)) for n in between):
        return False
    if found.parameters is None:
        return not any(isinstance(a, Starred) for a in call.arguments)
    given = _bound(found.parameters, call) if isinstance(call.parent, ExpressionStatement) else None
    if given is None:
        return False
    costly = [name for name, value in given.items() if not _names_value(value)]
    used = [n.id for n in found.function.walk() if isinstance(n, Name) and n.id in costly]
    return used == costly and len(costly) < 2  # evaluated once, and in the order of the call


def _bound(parameters: list[Parameter], call: Call) -> dict[str, Expression] | None:
    """What a call gives to each parameter; None where that is not known, or an error."""
    places = [p.name for p in parameters if p.kind in ("", "/")]
    given = {p.name: p.default for p in parameters if isinstance(p.default, Constant)}
    passed: list[str] = []
    for word, value in zip(call.keywords, call.arguments):
        place = len(passed)
        if isinstance(value, Starred) or word is None and place >= len(places):
            return None
        passed.append(places[place] if word is None else word)
        given[passed[-1]] = value  # type: ignore[assignment]
    known = len(passed) == len(set(passed)) and given.keys() == {p.name for p in parameters}
    return dict(given) if known else None


def _names_value(node: Node) -> bool:
    """`x`, `2`, `self.fc.weight`"""
    return isinstance(node, (Name, Constant)) or dotted(node) is not None


PASS = Pass("called_names", (), run)
