"""What is put in the place of a module's forward is refused: calls run the one of the class here.

block.forward = lambda x: x     self.forward = self.fused, which takes other arguments
self.forward, self.inverse = self.inverse, self.forward
class Block(nn.Module): forward = run
"""

from typing import Any

from ..facts.values.lattice import Module
from ..model.expressions import Attribute, Name
from ..model.names import stored_by
from ..model.program import Class, Scope
from .pass_ import Changes, Pass

_WHY = "another forward is put in the place of a module's own: choose inside of that forward"


def run(scope: Scope, facts: Any) -> Changes:
    """Refuse those of one function, or of a script."""
    changes, of = Changes(scope), facts.values.of
    for target in scope.nodes(Attribute):
        if target.name != "forward" or not isinstance(of(target.object), Module):
            continue
        assign = stored_by(target)
        if assign is None or assign.expression is None:
            continue
        if target not in assign.targets:
            changes.unconverted("module-value", target, _WHY)
        elif not isinstance(of(assign.expression), Module):  # which calls do not reach
            changes.unconverted("module-value", assign.expression, _WHY)
    for cls in scope.nodes(Class):
        for name in cls.nodes(Name) if facts.project.is_module(cls) else ():
            if name.id == "forward" and (assign := stored_by(name)) is not None:
                changes.report("module-value", assign, _WHY)
    return changes


PASS = Pass("replaced_forwards", ("values",), run)
