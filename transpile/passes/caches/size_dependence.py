"""Whether what is kept follows from the sizes of one call, and is not asked for those of the next.

if self.mask is None:                            torch keeps the mask of the first call
    self.mask = torch.ones(x.shape[1])
"""

from ...model.expressions import Attribute, Call
from ...model.names import dotted, names_in, root, target_names
from ...model.node import Node
from ...model.operators import Compare
from ...model.statements import Assign, Block, If


def keeps_first(body: Block, guards: list[If], me: str) -> bool:
    """Whether torch has what the first call made of its sizes, whatever those of the next are."""
    assigned = [n for n in body.walk() if isinstance(n, Assign) and _measures(n.expression, me)]
    sizes = {name for a in assigned for target in a.targets for name in target_names(target)}
    for guard in guards:
        tests = [n for n in guard.test.walk() if isinstance(n, Compare)]
        compared = any(_measures(test, me) or names_in(test) - {me} for test in tests)
        if not compared and (_measures(guard.body, me) or names_in(guard.body) & sizes):
            return True
    return False


def _measures(node: Node | None, me: str) -> bool:
    """Whether a size of what a method is given is read: `x.shape`, `x.size(0)`, `len(x)`."""
    for n in node.walk() if node is not None else ():
        measured: Node | None = None
        if isinstance(n, Attribute) and n.name in ("shape", "size"):
            measured = n.object
        elif isinstance(n, Call) and n.arguments and dotted(n.function) == "len":
            measured = n.arguments[0]
        held = root(measured) if measured is not None else None
        if held is not None and held.id != me:
            return True
    return False
