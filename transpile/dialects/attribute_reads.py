"""Where a project reads attributes, by their names: looked up for each submodule of each class."""

from ..model.expressions import Attribute
from ..model.project import Project


class Reads:
    """The attributes of a project by their names: looked up for each submodule of each class."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self._by_name: dict[str, list[Attribute]] | None = None

    def of(self, name: str) -> list[Attribute]:
        if self._by_name is None:
            self._by_name = {}
            for node in (n for file in self.project.ordered for n in file.walk()):
                if isinstance(node, Attribute):
                    self._by_name.setdefault(node.name, []).append(node)
        return self._by_name.get(name, [])

    def changed(self) -> None:
        """What was found is no more what there is."""
        self._by_name = None
