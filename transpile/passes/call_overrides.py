"""The `__call__` of nn.Module runs the forward of the object.

def __call__(self, x):
    return super().__call__(x) + 1         →         return self.forward(x) + 1

The forward of a layer of torch's, which is its `__call__` here, stays that of `super()`.
"""

from collections.abc import Callable
from typing import Any

from ..facts.values.calls import is_super
from ..model.expressions import Attribute, Name
from ..model.names import is_called
from ..model.node import Node
from ..model.program import Function
from ..model.project import Project
from .pass_ import Changes, Pass


def run(project: Project, facts: Any = None) -> list[Changes]:
    """The calls in methods of modules, of which no class above has a `__call__` of its own."""
    found = []

    def forward(own: Function, inherits: bool) -> Callable[[Any], Node]:
        name = own.receiver
        return lambda n: Attribute(n.object if inherits else Name(name), "forward")

    for cls in (c for file in project.ordered for c in file.classes()):
        own = project.methods(cls).get("__call__")
        if own is None or not own.parameters or not project.is_module(cls):
            continue
        if not isinstance(project.above(cls, "__call__"), Function):
            outside = isinstance(project.above(cls, "forward"), str)  # else a class below has it
            changes, inherits = Changes(own), outside and project.find(cls, "forward") is None
            for node in own.nodes(Attribute):
                called = is_called(node)
                if node.name == "__call__" and called and is_super(node.object):
                    changes.replace(node, forward(own, inherits))
            found.append(changes)
    return found


PASS = Pass("call_overrides", (), run, of_project=True)
