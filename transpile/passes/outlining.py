"""What becomes of a statement under control of data that cannot be carried, for branches and
loops: refused at its node, or left to Python."""

from collections.abc import Iterator

from ..facts.carried import Carrying, Obstacle
from ..model.effects import Unconverted
from ..model.expressions import Name
from ..model.names import target_names
from ..model.node import Expression, Node, Statement
from ..model.positions import source_of
from ..model.program import Scope
from ..model.statements import Assign, ExpressionStatement, For, If, While
from .pass_ import Changes

Control = If | While | For


class Refused(Exception):
    """Why a statement cannot be carried; `keep` where it stays as Python's."""

    def __init__(self, why: str, keep: bool = False) -> None:
        super().__init__(why)
        self.keep = keep


def refuse_first(found: Iterator[Obstacle]) -> None:
    """Refuse for the first obstacle that there is."""
    for obstacle in found:
        raise Refused(obstacle.why, obstacle.keep)


def refuse_sorted(ordered: list[str], names: list[str]) -> None:
    """Refuse to give back a dict whose order counts."""
    for name in ordered:
        if name in names:
            raise Refused(
                f"{name} is a dict whose order counts, and would come back sorted by its keys"
            )


def refuse(
    changes: Changes, carrying: Carrying, id: str, node: Control, why: Refused, made: list[str]
) -> None:
    """Report a statement, and put what raises in its place, unless it is left to Python.

    `made` are the names that it binds: those that are read later are not left without a value.
    """
    head = node.iterable if isinstance(node, For) else node.test
    if why.keep:
        message = f"{why}: it is left to Python, and cannot be under jax.jit"
        changes.report(id, head, message)
        return
    changes.report(id, head, str(why))
    live = carrying.liveness.after.get(node, frozenset())
    lost = [n for n in made if n in live and carrying.start(n, node) == "missing"]
    changes.substitute(node, [_raising(lost, Unconverted(id, source_of(head)))])


def _raising(lost: list[str], poison: Expression) -> Statement:
    return Assign([Name(n) for n in lost], poison) if lost else ExpressionStatement(poison)


def bound_by(node: Control) -> list[str]:
    """The names that the head of a statement binds."""
    return target_names(node.target) if isinstance(node, For) else []


def nested(node: Node) -> Iterator[Node]:
    """The blocks of a statement, but for those of functions and classes."""
    if not isinstance(node, Scope):
        yield from (c for c in node.children() if not isinstance(c, Expression))
