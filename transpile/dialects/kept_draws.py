"""Functions that draw and are kept where no key reaches their calls: `f = noisy if on else plain`,
`def sample(x, draw=noisy)`, `KINDS = {"noisy": noisy}`."""

from collections.abc import Callable

from ..facts.values.lattice import Function as FunctionValue
from ..model.expressions import Call, Name
from ..model.operators import Compare
from ..model.program import Class, Function
from ..model.project import Project
from ..model.statements import Assign

KEPT = "this function draws, and what it is kept as is called without a key for it"


def kept_draws(project: Project, draws: Callable[[Function], bool]) -> list[Name]:
    """Their names; a call, an assignment and a comparison know what the name is, and a method that
    is handed on has its key with it."""
    names = (n for file in project.ordered for n in file.walk() if isinstance(n, Name))
    return [
        name
        for name in names
        if isinstance(name.value, FunctionValue)
        and name.value.owner is None
        and not isinstance(name.parent, (Call, Assign, Compare, Function, Class))
        and name.value.function.nearest(Function) is None
        and draws(name.value.function)
    ]
