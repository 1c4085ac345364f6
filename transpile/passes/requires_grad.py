"""What says by syntax alone whether a param is trained."""

from ..model.expressions import Attribute, Call
from ..model.node import Expression, Node
from ..model.statements import Assign, ExpressionStatement

FLAG = "requires_grad"


def asked(node: Node) -> tuple[Expression | None, Expression | None]:
    """The p of `p.requires_grad = v` and of `p.requires_grad_(v)`, and v where that is given."""
    made = node.expression if isinstance(node, ExpressionStatement) else node
    if isinstance(made, Assign):
        target = made.targets[0] if len(made.targets) == 1 else None
        sets = isinstance(target, Attribute) and target.name == FLAG
        return (target.object, made.expression) if sets else (None, None)  # type: ignore[union-attr]
    if isinstance(made, Call) and isinstance(made.function, Attribute):
        if made.function.name == f"{FLAG}_":
            return made.function.object, next(iter(made.arguments), None)
    return None, None
