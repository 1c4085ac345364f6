"""What has been asked, and holds, where a node stands; and whether its truth is asked there."""

from .copy import clone
from .names import text
from .node import Expression, Node
from .operators import Boolean, Unary, conjuncts, turned
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


def asks_for_truth(node: Expression) -> bool:
    """Whether the truth of an expression is asked where it stands: `if m.bias:`, `not m.bias`."""
    around = node.parent
    if isinstance(around, Unary):
        return around.operator == "not"
    return isinstance(around, Boolean) or isinstance(around, If) and around.test is node
