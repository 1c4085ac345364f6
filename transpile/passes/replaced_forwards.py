"""What is put in the place of a module's forward is refused: calls run the one of the class here.

block.forward = lambda x: x     self.forward = self.fused, which takes other arguments
"""

from typing import Any

from ..facts.values.lattice import Module
from ..model.expressions import Attribute
from ..model.program import Scope
from ..model.statements import Assign
from .pass_ import Changes, Pass

_WHY = "another forward is put in the place of a module's own: choose inside of that forward"


def run(scope: Scope, facts: Any) -> Changes:
    """Refuse those of one function, or of a script."""
    changes, of = Changes(scope), facts.values.of
    for assign in scope.nodes(Assign):
        targets = [t for t in assign.targets if isinstance(t, Attribute) and t.name == "forward"]
        if any(isinstance(of(t.object), Module) for t in targets) and assign.expression is not None:
            if not isinstance(of(assign.expression), Module):  # which calls do not reach
                changes.unconverted("module-value", assign.expression, _WHY)
    return changes


PASS = Pass("replaced_forwards", ("values",), run)
