"""Whether control passes the end of statements, and what a function gives back at its own."""

from ..model.node import Expression, Node
from ..model.program import Function, Scope
from ..model.statements import For, While
from .names import names_assigned
from .node import Statement
from .operators import Conditional
from .statements import Block, Break, Continue, If, Raise, Return, With

_JUMPS = (Return, Raise, Break, Continue)


def always_returns(block: Block | None) -> bool:
    """Whether all ways through a block return or raise."""
    return block is not None and any(_ends(inner, (Return, Raise)) for inner in block.body)


def completes(block: Block | None) -> bool:
    """Whether the end of a block may be come to: no jump, return or raise ends all ways."""
    return block is None or not any(_ends(inner, _JUMPS) for inner in block.body)


def _ends(current: Statement, kinds: tuple[type[Statement], ...]) -> bool:
    """Whether nothing behind a statement is run, since it is one of these, on all ways."""
    if isinstance(current, If) and current.orelse is not None:
        return all(any(_ends(s, kinds) for s in b.body) for b in (current.body, current.orelse))
    if isinstance(current, With):
        return any(_ends(inner, kinds) for inner in current.body.body)
    return isinstance(current, kinds)


def own_jumps(node: Node) -> list[Break | Continue]:
    """The jumps at or below a node that belong to the loop around it."""
    if isinstance(node, (Break, Continue)):
        return [node]
    if isinstance(node, (For, While)):
        return own_jumps(node.orelse) if node.orelse is not None else []
    if isinstance(node, (Scope, Expression)):
        return []
    return [found for child in node.children() for found in own_jumps(child)]


def returned_parameters(function: Function) -> set[str]:
    """The parameters of which a function returns one: `return n if n is not None else d`."""
    if len(function.body.body) > 2 or not always_returns(function.body):
        return set()
    found = [r.expression for r in function.nodes(Return)]
    for e in found:
        if isinstance(e, Conditional):
            found += [e.body, e.orelse]
    names = {getattr(e, "id", "") for e in found if not isinstance(e, Conditional)}
    kept = {p.name for p in function.parameters if p.kind in ("/", "")}
    return names if names <= kept.difference(names_assigned(function.body)) else set()
