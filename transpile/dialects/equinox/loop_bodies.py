"""What the body of a loop over modules does beside changing them: how it ends, what it freezes."""

from ...facts.values.lattice import Tensor
from ...model.effects import Detached
from ...model.expressions import Attribute, Call
from ...model.names import dotted, names_in
from ...model.node import Node, Statement
from ...model.program import Function
from ...model.statements import Assign, Block, Break, ExpressionStatement, For, If, Return

# What a loop goes over: how its body is mapped, and whether it takes names too.
WALKS = {
    "modules": ("map_modules", False),
    "named_modules": ("map_modules", True),
    "children": ("map_children", False),
    "named_children": ("map_children", True),
    "values": ("map_children", False),
    "items": ("map_children", True),
    "parameters": ("map_parameters", False),
    "named_parameters": ("map_parameters", True),
}


def is_read_below(statement: Statement, name: str) -> bool:
    """Whether what comes after a statement in the same turn of its loop reads a name."""
    node: Node = statement
    while not isinstance(node, (For, Function)):
        around = node.parent
        assert around is not None
        if isinstance(around, Block):
            after = around.body[next(i for i, s in enumerate(around.body) if s is node) + 1 :]
            if any(name in names_in(s) for s in after):
                return True
        node = around
    return False


def leaves(body: Block) -> bool:
    """Whether a turn may end the loop, or the function."""
    return any(isinstance(node, (Break, Return)) for node in body.walk())


def freezes(statement: Node) -> bool:
    """Whether all that is done is to say of params whether they are trained."""
    if isinstance(statement, Assign):
        target = statement.targets[0]
        named = isinstance(target, Attribute) and target.name == "requires_grad"
        return named and isinstance(target.object.value, Tensor)  # type: ignore[attr-defined]
    if isinstance(statement, ExpressionStatement):
        done = statement.expression
        stopped = isinstance(done, Call) and dotted(done.function) == "lax.stop_gradient"
        return stopped or isinstance(done, Detached)
    if not isinstance(statement, (For, If)):
        return False
    blocks = [child for child in statement.children() if isinstance(child, Block)]
    return all(freezes(inner) for block in blocks for inner in block.body)
