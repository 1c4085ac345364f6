"""What is done with the pieces of an array: `a, b = …`, `for piece in …`, `zip(…)`."""

from ...model.expressions import Call, Display, ForClause, Name, Starred, Subscript
from ...model.names import dotted, reads_of
from ...model.node import Expression, Node
from ...model.program import Scope
from ...model.statements import Assign, For
from ..operations.literals import literal


def names(call: Call) -> int | None:
    """How many pieces there are: as many as names, where these are given to names."""
    around: Node | None = call.parent
    while isinstance(around, Call) and dotted(around.function) == "lax.stop_gradient":
        around = around.parent
    targets = around.targets if isinstance(around, Assign) else []
    counts = {len(t.elements) if isinstance(t, Display) else None for t in targets}
    starred = any(isinstance(n, Starred) for t in targets for n in t.walk())
    return counts.pop() if len(counts) == 1 and not starred else None


def goes_over(made: Expression, scope: Scope) -> bool:
    """Whether all that is done with a tuple is done to its elements, one by one: `a, b = …`."""
    around = made.parent
    if isinstance(around, Assign) and around.expression is made and not around.operator:
        targets = around.targets
        if all(isinstance(t, Display) for t in targets):
            return True
        name = targets[0].id if len(targets) == 1 and isinstance(targets[0], Name) else None
        reads = reads_of(scope, name)
        return name is not None and all(_takes_apart(n) for n in reads)
    return _takes_apart(made)


def _takes_apart(node: Expression) -> bool:
    around = node.parent
    if isinstance(around, Assign):
        return all(isinstance(t, Display) for t in around.targets)
    if isinstance(around, Call):
        return node is not around.function and dotted(around.function) in _TAKING_APART
    if isinstance(around, Subscript):
        return isinstance(literal(around.index), int)
    return isinstance(around, (Starred, ForClause, For)) and node is not getattr(
        around, "target", None
    )


_TAKING_APART = frozenset("map zip enumerate len list tuple reversed".split())
