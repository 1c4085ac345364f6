"""What blocks write, on some way and on every way, and what else is read where a name is."""

from collections.abc import Iterable

from ...model.expressions import Call, Display, Lambda, Name, Starred, Subscript
from ...model.fallthrough import always_returns
from ...model.names import in_scope, target_names
from ...model.node import Node, Statement
from ...model.program import Class, Function
from ...model.statements import Assign, Block, ExpressionStatement, For, If, With
from ..bindings import bound, free

Names = frozenset[str]
_NONE: Names = frozenset()


def written(*blocks: Node | None) -> list[str]:
    """The names that blocks bind or store into (`found["loss"] = y` writes found), in order."""
    names: dict[str, None] = {}
    for block in blocks:
        names.update(dict.fromkeys(bound(block)))
        for node in _assignments(block):
            names.update(dict.fromkeys(root for t in node.targets for root in _stored(t)))
    return list(names)


def _assignments(node: Node | None) -> Iterable[Assign]:
    if node is None or isinstance(node, (Function, Class)):
        return ()
    return [node] if isinstance(node, Assign) else in_scope(node, Assign)


def _stored(target: Node) -> list[str]:
    if isinstance(target, Display):
        return [root for element in target.elements for root in _stored(element)]
    if isinstance(target, Starred):
        return _stored(target.expression)
    inner = target
    while isinstance(inner, Subscript):
        inner = inner.object
    return [inner.id] if isinstance(inner, Name) and inner is not target else []


def certain(block: Block | None) -> Names:
    """The names that are bound on every way through a block."""
    found = _NONE
    for statement in block.body if block is not None else ():
        found |= _certain(statement)
    return found


def _certain(statement: Statement) -> Names:
    if isinstance(statement, If):
        if always_returns(statement.body):
            return certain(statement.orelse)
        if always_returns(statement.orelse):
            return certain(statement.body)
        return certain(statement.body) & certain(statement.orelse)
    if isinstance(statement, With):
        targets = [t for _, t in statement.pairs if t is not None]
        return certain(statement.body).union(t.id for t in targets if isinstance(t, Name))
    parts = statement.parts
    if "body" in parts and not isinstance(statement, (Function, Class)):
        return _NONE  # of a loop, a try
    return frozenset(bound(statement))


def read_through(function: Function) -> dict[str, Names]:
    """What else is read where a name of a function is: the names that functions inside it read,
    which it stands for or holds.

    def near(z):
        return z * y
    steps = [near, lambda z: z + x]         near: y, steps: near, x, y
    """
    found: dict[str, Names] = {}
    if not function.nodes(Function) and not function.nodes(Lambda):
        return found
    makers = {
        f.name for f in function.nodes(Function) if any(True for _ in in_scope(f, Function, Lambda))
    }
    statements = function.nodes(Function, Assign, For, ExpressionStatement)
    holding = [h for h in map(_holding, statements) if h is not None]
    while True:
        before = dict(found)
        for names, value in holding:
            seen = _through(value, found, makers)
            found.update({name: found.get(name, _NONE) | seen for name in names if seen})
        if found == before:
            return found


def _holding(node: Node) -> tuple[list[str], Node] | None:
    """The names that have what a statement gives them, and that: `steps.append(near)` gives it to
    steps."""
    if isinstance(node, Function):
        return [node.name], node
    if isinstance(node, For):
        return target_names(node.target), node.iterable
    if isinstance(node, Assign) and node.expression is not None:
        return [name for t in node.targets for name in target_names(t)], node.expression
    call = node.expression if isinstance(node, ExpressionStatement) else None
    holder = getattr(call.function, "object", None) if isinstance(call, Call) else None
    return ([holder.id], node) if isinstance(holder, Name) else None


def _through(node: Node, found: dict[str, Names], makers: set[str]) -> Names:
    if isinstance(node, Name):
        return found.get(node.id, _NONE)
    if isinstance(node, (Function, Lambda)):
        own = frozenset(free(node))
        return own.union(*(found.get(name, _NONE) for name in own))
    parts: Iterable[Node] = node.children()
    if isinstance(node, Call) and not (
        isinstance(node.function, Name) and node.function.id in makers
    ):
        parts = node.arguments
    return _NONE.union(*(_through(part, found, makers) for part in parts))
