"""`forward` of modules is called `__call__`, in definitions and in what refers to them."""

from ...model.classes import MODULES
from ...model.program import Class, Function
from ...model.project import Project
from .context import Scene

CALL = "__call__"


def is_renamed(project: Project, function: Function) -> bool:
    """Whether a function is the forward of a module; none of a class that calls it by a `__call__`
    of its own, which stands before torch's: `class Net(nn.Module, Callable)` has torch's.
    """
    owner = project.owner(function)
    if function.name != "forward" or owner is None or not project.is_module(owner):
        return False
    return not any(_has_own_call(project, cls) for cls in project.family(owner))


def _has_own_call(project: Project, cls: Class) -> bool:
    order = project.order(cls)
    outside = [b for b in order if isinstance(b, str) and b.startswith(MODULES)]
    before = order[: order.index(outside[-1])] if outside else []
    return any(isinstance(base, Class) and CALL in project.methods(base) for base in before)


def rename(scene: Scene) -> None:
    """Rename the function of a scene."""
    function, project = scene.scope, scene.project
    if isinstance(function, Function) and is_renamed(project, function):
        owner = project.owner(function)
        assert owner is not None
        scene.changes.change(function, lambda f: project.rename_method(owner, f, CALL))
