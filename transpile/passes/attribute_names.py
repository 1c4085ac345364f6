"""Where a program names attributes, which passes ask before facts are solved."""

import functools

from ..model.expressions import Attribute, Constant
from ..model.names import everywhere
from ..model.project import Project


class Attributes:
    """The attributes and texts of a project, by name: gone over once, where one is asked for."""

    def __init__(self, project: Project) -> None:
        self.project = project

    @functools.cached_property
    def attributes(self) -> dict[str, list[Attribute]]:
        found: dict[str, list[Attribute]] = {}
        for file in self.project.ordered:
            for node in everywhere(file, Attribute):
                found.setdefault(node.name, []).append(node)
        return found

    @functools.cached_property
    def texts(self) -> dict[str, list[Constant]]:
        found: dict[str, list[Constant]] = {}
        for file in self.project.ordered:
            for node in everywhere(file, Constant):
                if isinstance(node.constant, str):
                    found.setdefault(node.constant, []).append(node)
        return found
