"""Paths of submodules below `self`: `self.a.b[0]`, which is one thing whenever it is asked."""

from collections.abc import Iterator

from ...facts.modules import SUBMODULE
from ...model.copy import clone
from ...model.effects import Declare, New, Support
from ...model.expressions import Attribute, Call, Constant, Display, Name, Slice, Starred, Subscript
from ...model.names import text
from ...model.node import Expression, Node
from ...model.operators import Unary
from ...model.program import Function
from ...model.statements import Assign
from .placement import ADDING, CONTAINERS

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


def is_put(node: Expression, me: str) -> bool:
    """Whether an attribute is put into a container that this module keeps."""
    part: Expression = node
    while isinstance(around := part.parent, (Display, Starred, New)):
        if isinstance(around, New) and not holds_modules(around):
            return False
        part = around
    if part is node:
        return False
    if isinstance(around, Call) and isinstance(around.function, Attribute):
        return around.function.name in GROWING and is_path(around.function.object, me)
    return isinstance(around, Declare) and around.kind == SUBMODULE


def written_out(node: Expression, init: Function) -> tuple[Declare, int] | None:
    """The container that is written out with this as one of its parts: `nn.Sequential(a, b)`,
    `nn.ModuleList([a, b])`."""
    around = node.parent
    parts = around.elements if isinstance(around, Display) else ()
    new = around.parent if isinstance(around, Display) else around
    if not isinstance(new, New) or not holds_modules(new) or any(new.keywords):
        return None
    parts = parts or new.arguments
    if any(isinstance(p, Starred) for p in parts) or not isinstance(new.parent, Declare):
        return None
    declare = new.parent
    if declare.kind != SUBMODULE or declare.parent is not init.body or node not in parts:
        return None
    return declare, next(i for i, part in enumerate(parts) if part is node)


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
