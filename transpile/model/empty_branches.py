"""Branches of which nothing is left go.

if old:                                    self.conv = conv
    pass                                   if not new:
elif new:                            →         self.conv_0 = conv
    pass
else:
    self.conv_0 = conv
"""

from .block import is_made_pass
from .edits import leave_out
from .layout import comments
from .operators import turned
from .statements import Block, If


def without_empty_branches(block: Block) -> None:
    """Take what does nothing any more out of a block, and of those below it."""
    for statement in list(block.body):
        if isinstance(statement, If):
            if _is_left_empty(statement):
                _leave_out(statement, block)
            else:
                _without_empty_side(statement)


def _leave_out(node: If, block: Block) -> None:
    """Its comments went along with what it did, or stand in its place."""
    if len(block.body) > 1:
        block.take(node)
    else:
        leave_out(node)


def _is_left_empty(node: If) -> bool:
    sides = [side for side in (node.body, node.orelse) if side is not None]
    for side in sides:
        without_empty_branches(side)
    inside = [s for side in sides for s in side.body]
    return bool(inside) and all(map(is_made_pass, inside))


def _without_empty_side(node: If) -> None:
    """A branch that does something on one way alone."""
    assert isinstance(node.parent, Block)
    if node.orelse is None or node.parent.form == "elif":
        return
    if all(map(is_made_pass, node.orelse.body)):
        made = If(node.test, node.body)
    elif all(map(is_made_pass, node.body.body)) and node.orelse.form != "elif":
        made = If(turned(node.test), node.orelse)
    else:
        return
    made.comments = comments(node)
    node.parent.substitute(node, [made])
