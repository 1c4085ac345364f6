"""Whether code writes in place what a name stands for, by its syntax alone: before facts are
solved."""

from ..model.expressions import Attribute, Call, Name, Subscript
from ..model.names import dotted
from ..model.node import Expression, Node
from ..model.statements import Assign


def is_written(name: Name) -> bool:
    """Whether what a name stands for, or a view of it, is written in place: `w.zero_()`,
    `init.normal_(w)`, `w[0] = 1`, `w.data.fill_(2)`."""
    node: Expression = name
    while True:
        around: Node | None = node.parent
        call = around.parent if isinstance(around, Attribute) else None
        if isinstance(around, Subscript) and around.object is node:
            node = around
        elif isinstance(around, Attribute) and isinstance(call, Call) and call.function is around:
            if around.name.endswith("_"):
                return True
            node = call
        elif isinstance(around, Attribute) and around.name == "data":
            node = around
        else:
            break
    if isinstance(around, Assign):
        return node is not name and any(node is target for target in around.targets)
    if not isinstance(around, Call) or not around.arguments or around.arguments[0] is not node:
        return False
    return (dotted(around.function) or "").endswith("_")
