"""May a gradient pass here: activity analysis, forward from params and inputs.

One fixed point over names, fields and results of the project, on torch's program. What is computed
under `torch.no_grad()` has no gradient outside of its block; inside it is taken as if there were
none, since whoever takes the block away asks just that.
"""

from __future__ import annotations

from ...model.expressions import Attribute, Call, Subscript
from ...model.node import Expression
from ...model.program import Function
from ...model.project import Project
from ...model.statements import With
from ..calls import Calls
from ..values import Values, lattice
from ..values.lattice import Tensor
from .cells import OPEN
from .grad_modes import Switch, of_function, switch, torch_name
from .new_or_existing import COMPUTED, EITHER, SAME, takes_rows
from .no_grad_blocks import Off, may_carry
from .solve import Solver

__all__ = ["COMPUTED", "EITHER", "SAME", "Activity", "Off", "Switch", "may_carry", "takes_rows"]


class Activity:
    """Answers, by what was found for the project; expressions made since then are read anew."""

    def __init__(self, project: Project, values: Values, calls: Calls) -> None:
        self.project, self._solver = project, Solver(values, calls)
        self._solver.solve()

    def carries(self, node: Expression, outside: bool = False) -> bool | None:
        """Whether a gradient may pass through an expression; None where its parts are not known.
        `outside`: by what is seen of it outside of the block without gradient that it is in."""
        if not may_carry(node.value):
            return False
        at = self._solver.place(node)
        found = self._solver.transfer.of(node, at._replace(block=None) if outside else at)
        if not found:
            return False
        return True if found - {OPEN} and isinstance(node.value, _KNOWN) else None

    def history(self, node: Expression, always_off: bool = False) -> bool | None:
        """Whether the tensor that a place is of has a gradient of its own: that of y for `y.data`,
        `y.detach()[0]` and views of these. In a block that is `always_off`, which no flag turns on,
        an attribute that such blocks alone write has none: the mean of a batch norm.
        """
        while True:
            if isinstance(node, Subscript):
                node = node.object
            elif isinstance(node, Attribute) and isinstance(node.object.value, Tensor):
                node = node.object
            elif isinstance(node, Call) and isinstance(node.function, Attribute):
                method = node.function.value
                if not isinstance(method, lattice.Method):
                    return self.carries(node)
                if node.function.name not in self._solver.views:
                    return self.carries(node)
                node = node.function.object
            else:
                return self.carries(node, always_off and isinstance(node, Attribute))

    # --- blocks without gradient -----------------------------------------------------------------

    def switch(self, node: Expression) -> Switch | None:
        """What a decorator, or the item of a `with`, does to gradients."""
        return switch(self.project, node)

    def of_function(self, node: Function) -> Switch | None:
        return of_function(self.project, node)

    def off(self, node: With | Function) -> Off:
        """What a block without gradient, or a function that is one, computes itself."""
        return self._solver.off(node)

    def torch_name(self, node: Expression) -> str | None:
        """The name of torch's that an expression is, or that it calls."""
        return torch_name(self.project, node)


_KNOWN = (Tensor, lattice.Sequence, lattice.Mapping)
