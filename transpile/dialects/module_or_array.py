"""Attributes that are a module on one way through a class, and an array on another.

self.proj = nn.Linear(4, n)             self.proj = nn.Parameter(w)
"""

from collections.abc import Iterator

from ..facts.modules import ARRAYS, SUBMODULE, Modules
from ..facts.values.lattice import Tensor
from ..model.effects import Declare
from ..model.expressions import Attribute
from ..model.names import is_name
from ..model.program import Function
from ..model.statements import Assign
from .reports import Reports

WHY = "self.{} is a module on another way through this class: give the array a name of its own"


def refuse(modules: Modules, reports: Reports, declared: bool) -> None:
    """Let such arrays raise: where they are `declared`, or where a method sets another one."""
    for method, names in _methods(modules):
        for node in list(method.nodes(Declare, Assign)):
            if isinstance(node, Declare):
                if declared and node.kind in ARRAYS and node.name in names:
                    reports.refuse("module-value", node, WHY.format(node.name))
            elif not declared and node.expression is not None and (both := _set(node) & names):
                reports.unconverted("module-value", node.expression, WHY.format(*both))


def _methods(modules: Modules) -> Iterator[tuple[Function, set[str]]]:
    """The methods of classes that have such attributes, with the names that are taken to be those
    of modules."""
    for cls in filter(modules.is_module, modules.project.classes()):
        methods = modules.project.methods(cls).values()
        arrays = {d.name for m in methods for d in m.nodes(Declare) if d.kind in ARRAYS}
        fields = modules.fields(cls) if arrays else {}
        if names := {name for name in arrays if fields[name].kind == SUBMODULE}:
            yield from ((method, names) for method in methods)


def _set(assign: Assign) -> set[str]:
    """The attributes of the module that an array is put under."""
    if assign.expression is None or not isinstance(assign.expression.value, Tensor):
        return set()
    method = assign.nearest(Function)
    own = (t for t in assign.targets if isinstance(t, Attribute))
    return {t.name for t in own if method is not None and is_name(t.object, method.receiver)}
