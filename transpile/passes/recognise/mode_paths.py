"""What a mode is set of, as it is written: `backbone`, `self.net.bn`."""

from collections.abc import Set

from ...facts.values import lattice
from ...facts.values.lattice import Module
from ...model.classes import MODES
from ...model.effects import Declare
from ...model.expressions import Attribute, Call, Name, Subscript
from ...model.names import dotted
from ...model.node import Expression
from ...model.program import Function
from ...model.statements import Assign
from .context import Scene

# What gives modules of a module that it does not name.
WALKS = frozenset("children modules named_children named_modules _modules __getattr__".split())


def kept_parameters(function: Function, own: str | None, given: Set[str]) -> dict[str, str]:
    """`self.backbone = backbone`: the parameters that are kept, of those that always stand for what
    was `given`, by the path that they have then."""
    found: dict[str, str] = {}
    stored: list[str] = []
    for assign in function.nodes(Assign, Declare):
        paths = [p for p in map(dotted, assign.targets) if p is not None]
        stored += paths
        value = assign.expression
        if own is not None and isinstance(value, Name) and value.id in given:
            found |= {p: value.id for p in paths if p.startswith(f"{own}.") and p.count(".") == 1}
    return {path: name for path, name in found.items() if stored.count(path) == 1}


def sets_mode(scene: Scene, call: Call) -> bool:
    """`self.bn.eval()`, of a module, and of no method of the user's own."""
    function = call.function
    if not isinstance(function, Attribute) or function.name not in MODES:
        return False
    own = isinstance(scene.of(function), lattice.Function)
    return not own and isinstance(scene.of(function.object), Module)


def is_below(path: str, other: str) -> bool:
    """Whether a path is another one, or below it."""
    return path == other or path.startswith(f"{other}.")


def is_run(node: Expression) -> bool:
    """Whether a module is called, or something of it read, where it stands."""
    around = node.parent
    if isinstance(around, (Attribute, Subscript)):
        return around.object is node
    return isinstance(around, Call) and around.function is node
