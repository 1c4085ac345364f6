"""Which methods a module may give by a computed name: `getattr(self, f"step_{kind}")`."""

from collections.abc import Mapping

from ..model.expressions import Call, Constant, Name
from ..model.names import dotted, is_own
from ..model.node import Expression
from ..model.program import Class, Function
from ..model.project import Project
from ..model.statements import Assign
from .values.computed_names import HOLE, may_be, pattern


def methods_named(call: Call, cls: Class, project: Project) -> list[Function]:
    """The methods that `getattr(self, name)` may be; none where nothing is known of the name."""
    around = call.nearest(Function)
    if dotted(call.function) != "getattr" or len(call.arguments) < 2 or around is None:
        return []
    if dotted(call.arguments[0]) != around.receiver:
        return []
    name = pattern(_default(_kept(call.arguments[1], around, project.methods(cls)), around))
    found = [m for one in project.ancestors(cls) for m in project.methods(one).values()]
    methods = [m for m in found if not m.name.startswith("__") and not m.decorators]
    return [m for m in methods if name != HOLE and may_be(m.name, name)]


def _kept(name: Expression, around: Function, methods: Mapping[str, Function]) -> Expression:
    """What the constructor keeps as `self.mode`, by its default: `self.mode = mode`."""
    init = methods.get("__init__")
    if init is None or not is_own(name, around.receiver):
        return name
    path = f"{init.receiver}.{name.name}"
    kept = [a.expression for a in init.nodes(Assign) if path in map(dotted, a.targets)]
    return _default(kept[0], init) if len(kept) == 1 and kept[0] is not None else name


def _default(name: Expression, around: Function) -> Expression:
    """What a name is by default that a function is given."""
    for parameter in around.parameters if isinstance(name, Name) else ():
        if parameter.name == name.id and isinstance(parameter.default, Constant):  # type: ignore[attr-defined]
            return parameter.default
    return name
