"""`forward` of modules is called `__call__`, in definitions and in what refers to them."""

from __future__ import annotations

from ...model.program import Function
from ...model.project import Project
from .scene import Scene

CALL = "__call__"


def is_renamed(project: Project, function: Function) -> bool:
    """Whether a function is the forward of a module; none of a class that calls it by a `__call__`
    of its own.
    """
    owner = project.owner(function)
    if function.name != "forward" or owner is None or not project.is_module(owner):
        return False
    return not any(CALL in project.methods(cls) for cls in project.family(owner))


def rename(scene: Scene) -> None:
    """Rename the function of a scene."""
    function, project = scene.scope, scene.project
    if isinstance(function, Function) and is_renamed(project, function):
        owner = project.owner(function)
        assert owner is not None
        scene.changes.change(function, lambda f: project.rename_method(owner, f, CALL))
