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
    Subscript,
)
from ...model.names import target_names
from ...model.node import Expression, Node, Statement
from ...model.operators import Binary, Conditional, Unary, turned
from ...model.program import Function
from ...model.statements import Assign, Block, ExpressionStatement, If, Pass
from .evaluation_order import parts

_PLAIN = frozenset((Name, Constant, Subscript, Unary, Binary))


def parts_of(node: Expression) -> list[Expression]:
    if isinstance(node, Dictionary):
        return [entry for entry in node.entries if entry is not None]
    return parts(node)


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
