"""What has been asked, and holds, where a node stands."""

from .copy import clone
from .names import text
from .node import Expression, Node
from .operators import Unary, conjuncts, turned
from .statements import If


def guards(node: Node, body: Node) -> dict[str, Expression]:
    """What holds where a node of a body stands, by its text: `stride != 1` in the else of
    `if stride == 1`, and in `if not stride == 1`."""
    found: dict[str, Expression] = {}
    while node is not body and (around := node.parent) is not None:
        if isinstance(around, If) and node is not around.test:
            test = around.test if node is around.body else Unary("not", clone(around.test))
            for one in conjuncts(test):
                inverted = isinstance(one, Unary) and one.operator == "not"
                holds = turned(clone(one.operand)) if inverted else one  # type: ignore[attr-defined]
                found[text(holds)] = holds
        node = around
    return found
