"""What is made of an expression that is taken out of a statement."""

from collections.abc import Callable

from ...model.expressions import (
    Attribute,
    Call,
    Comprehension,
    Constant,
    Dictionary,
    Display,
    Name,
    Starred,
    Subscript,
)
from ...model.names import names_in, target_names
from ...model.node import INSERTED, Expression, Node, Statement
from ...model.operators import Binary, Conditional, Unary, turned
from ...model.program import Function
from ...model.statements import Assign, Block, ExpressionStatement, If, Pass
from .evaluation_order import parts

_PLAIN = frozenset((Name, Constant, Subscript, Unary, Binary))


def parts_of(node: Expression) -> list[Expression]:
    if isinstance(node, Dictionary):
        return [entry for entry in node.entries if entry is not None]
    return parts(node)


def binding(call: Call, target: Expression | None, state: str, alone: bool) -> Assign:
    """`target, state = call`; of what gives the state `alone`, `state = call`."""
    if alone:
        return Assign([Name(state)], call)
    return Assign([Display("tuple", [target or Name("_"), Name(state)])], call)


def is_target(target: Expression) -> bool:
    """Whether a target may stand beside the state: evaluating it does nothing."""
    if isinstance(target, Display):
        return all(map(is_target, target.elements))
    if isinstance(target, Subscript):  # `xs[i][-1]` of a list
        return all(type(part) in _PLAIN for part in target.walk())
    return isinstance(target, (Name, Attribute))


def building(node: Comprehension, name: str) -> tuple[Expression, Statement]:
    """What a comprehension begins with, and what each turn does."""
    if node.kind == "dict":
        assert node.key is not None
        return Dictionary([]), Assign([Subscript(Name(name), node.key)], node.element)
    if node.kind == "set":
        return Call(Name("set")), _called(name, "add", node.element)
    return Display("list", []), _called(name, "append", node.element)


def _called(name: str, method: str, value: Expression) -> Statement:
    return ExpressionStatement(Call(Attribute(Name(name), method), [value]))


def rename_targets(node: Comprehension, fresh: Callable[[str], str]) -> None:
    """The names of a comprehension are its own: those that the function has too get others."""
    own = {n for clause in node.clauses for n in target_names(clause.target)}
    inside = {inner for inner in node.walk() if isinstance(inner, Name)}
    inside -= set(node.clauses[0].iterable.walk())  # which is found before there are turns
    around: Node = node
    while not isinstance(around, Function) and around.parent is not None:
        around = around.parent
    outside = {n.id for n in around.walk() if isinstance(n, Name) and n not in inside}
    outside |= {p.name for p in around.parameters} if isinstance(around, Function) else set()
    for word in own & outside:
        new = fresh(word)
        for name in inside:
            if name.id == word:
                name.rename(new)


def assigned_by(choice: Conditional, name: str) -> If:
    """`x = a if test else b` as a branch; without `else` where b is x, as it is then."""
    body, orelse = (
        None if isinstance(side, Name) and side.id == name else Block([Assign([Name(name)], side)])
        for side in (choice.body, choice.orelse)
    )
    if body is None and orelse is not None:
        return If(turned(choice.test), orelse)
    return If(choice.test, body or Block([Pass()]), orelse)


def taken_apart(statement: Statement, gives: Callable[[Expression], bool]) -> list[Statement]:
    """`a, b = f(x), g(y)`, where f or g gives a state, as two assignments; none where that would be
    another program: what is evaluated later reads a."""
    if not isinstance(statement, Assign) or statement.operator or len(statement.targets) != 1:
        return []
    target, value = statement.targets[0], statement.expression
    if not isinstance(target, Display) or not isinstance(value, Display):
        return []
    names = [t.id for t in target.elements if isinstance(t, Name)]
    if not len(set(names)) == len(target.elements) == len(value.elements):
        return []
    starred = any(isinstance(e, Starred) for e in value.elements)
    if starred or not any(map(gives, value.elements)):
        return []
    scope = statement.nearest(Function)
    inner = [f for f in scope.nodes(Function) if f is not scope] if scope is not None else []
    for i, name in enumerate(names):
        if any(name in names_in(part) for part in [*value.elements[i + 1 :], *inner]):
            return []
    return [Assign([t], e) for t, e in zip(list(target.elements), list(value.elements))]


def joined(block: Block, statement: Statement, write: Statement) -> bool:
    """Let the assignment before a statement that is none of the user's do its write, where a name
    is there for that alone: `y, mean = f(x); state["mean"] = mean` as `y, state["mean"] = f(x)`."""
    if statement.start >= 0 or statement.slot not in (None, INSERTED):
        return False
    at = block.body.index(statement)
    before = block.body[at - 1] if at else None
    if not isinstance(before, Assign) or not isinstance(write, Assign) or len(write.targets) != 1:
        return False
    value, pair = write.expression, before.targets[0]
    if not isinstance(value, Name) or len(before.targets) != 1 or not isinstance(pair, Display):
        return False
    scope = statement.nearest(Function)
    same = [n for n in scope.walk() if isinstance(n, Name) and n.id == value.id] if scope else []
    target = next((n for n in same if n.parent is pair), None)
    if target is None or len(same) != 2:
        return False
    target.replace(write.targets[0])
    block.remove(statement)
    return True
