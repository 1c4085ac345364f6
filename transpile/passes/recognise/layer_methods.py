"""A method of the layers that are written once, and what names mean in it."""

from typing import Any

from ...facts.modules import Field, Modules
from ...facts.values import lattice
from ...facts.values.lattice import Value
from ...model.expressions import Attribute, Call, Name
from ...model.names import dotted
from ...model.node import Expression, Node
from ...model.program import Class, Function
from ...model.project import Project


class Method:
    """A function of the layer files, and what names mean in it."""

    def __init__(self, function: Function, project: Project, modules: Modules) -> None:
        self.function, self.project, self.modules = function, project, modules
        self.cls = function.owner
        self.self_name = project.self_name(project.method(function) or function)

    @property
    def children(self) -> dict[str, Field]:
        return self.modules.children(self.cls) if self.cls is not None else {}

    def resolve(self, node: Expression) -> Any:
        name, file = dotted(node), self.function.file
        return self.project.resolve(file, name) if name and file is not None else None

    def is_self(self, node: Node | None) -> bool:
        return isinstance(node, Name) and node.id == self.self_name and self.cls is not None

    def builds(self, node: Node | None) -> lattice.Class | None:
        """The layer that a call builds, or in whose place it builds another that is given:
        `norm_layer(dim)` of a parameter with LayerNorm for its default."""
        if not isinstance(node, Call):
            return None
        found = self.resolve(node.function)
        if isinstance(found, Class) and self._is_layer(found):
            return lattice.Class(found)
        name = dotted(node.function)
        defaults = (p.default for p in self.function.parameters if p.name == name and p.default)
        found = next(map(self.resolve, defaults), None)
        known = isinstance(found, Class) and self._is_layer(found)
        return lattice.Class(lattice.Open(found)) if known else None

    def _is_layer(self, cls: Class) -> bool:
        return any(base.endswith("layer.Module") for base in self.project.foreign_bases(cls))

    def is_called(self, name: str) -> bool:
        """Whether a method of the class calls what it keeps under a name."""
        methods = self.project.methods(self.cls).values() if self.cls is not None else ()
        calls = (call for method in methods for call in method.nodes(Call))
        return any(dotted(call.function) == f"{self.self_name}.{name}" for call in calls)

    def array(self, node: Attribute) -> str | None:
        """The kind of the array that `self.name` is, declared here or in a class below; or that of
        `self.part.name`."""
        if self.cls is None:
            return None
        part = node.object
        if isinstance(part, Attribute) and self.is_self(part.object):
            child = self.modules.children(self.cls).get(part.name)
            held = held_value(child.values) if child is not None else None
            refs = held.refs if isinstance(held, lattice.Module) else []
            kinds = {
                self.modules.arrays(c)[node.name].kind
                for c in refs
                if node.name in self.modules.arrays(c)
            }
            return kinds.pop() if len(kinds) == 1 else None
        if not self.is_self(node.object):
            return None
        for cls in (self.cls, *self.project.descendants(self.cls)):
            found = self.modules.arrays(cls).get(node.name)
            if found is not None:
                return found.kind
        return None


def held_value(values: list[Expression]) -> Value:
    """What a place of modules may hold, to which these are assigned."""
    held = [v.value for v in values if isinstance(v.value, lattice.Module)]
    if len(held) < len(values):
        return lattice.Module(open=True)
    classes = frozenset[Any]().union(*(value.classes for value in held))
    return lattice.Module(classes, open=any(value.open for value in held))
