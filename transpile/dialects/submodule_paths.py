"""Paths of submodules below `self`: `self.a.b[0]`, which is one thing whenever it is asked."""

from collections.abc import Iterator

from ..model.copy import clone
from ..model.effects import Declare, New, Support
from ..model.expressions import Attribute, Call, Constant, Name, Slice, Subscript
from ..model.names import text
from ..model.node import Expression, Node
from ..model.operators import Unary
from ..model.statements import Assign
from .placed import ADDING, CONTAINERS

GROWING = ADDING | {"pop"}


def replaces(node: Node, above: set[str]) -> bool:
    """Whether a node puts something else on a path."""
    if isinstance(node, (Assign, Declare)):
        return any(text(target) in above for target in node.targets)
    if isinstance(node, Call) and isinstance(node.function, Attribute):
        return node.function.name in GROWING and text(node.function.object) in above
    return False


def holds_modules(new: New) -> bool:
    """Whether it is a container of torch's."""
    function = new.function
    return isinstance(function, Support) and function.name in CONTAINERS


def is_path(node: Expression, me: str) -> bool:
    """Whether it is `self.a.b[0]`, which is one thing whenever it is asked."""
    if isinstance(node, Name):
        return node.id == me
    if isinstance(node, Attribute):
        return is_path(node.object, me)
    return isinstance(node, Subscript) and _is_fixed(node.index) and is_path(node.object, me)


def _is_fixed(index: Expression) -> bool:
    if isinstance(index, Slice):
        return all(part is None or _is_fixed(part) for part in index.children())  # type: ignore[arg-type]
    return isinstance(index.operand if isinstance(index, Unary) else index, Constant)


def steps(path: Expression) -> Iterator[Expression]:
    """`self.a`, `self.a.b`, `self.a.b[0]`"""
    while isinstance(path, (Attribute, Subscript)):
        yield path
        path = path.object


def from_root(path: Expression, root: Expression) -> Expression:
    """A path from another root than `self`."""
    made = clone(path)
    own = next(n for n in made.walk() if isinstance(n, Name))
    own.replace(clone(root))
    return made
