"""How many dims the parameters of a function have at least, by what is asked of them."""

from ...model.expressions import Attribute, Call, Constant, Display, Name, Subscript
from ...model.names import dotted, everywhere
from ...model.node import Node
from ...model.operators import Unary
from ...model.program import Function
from ...model.statements import Assign, For
from .subscripts import indices
from .tables import Facts
from .vocabulary import BY_DIM


def with_dims(facts: Facts, function: Function) -> dict[str, int]:
    """How many dims the parameters have at least, by what is asked of them."""
    found: dict[str, int] | None = facts.memory.get(("dims", function))
    if found is None:
        found = facts.memory["dims", function] = {}
        names = {p.name for p in facts.project.parameters(function)}
        for node in everywhere(function, Call, Subscript, Assign, For) if names else ():
            one, count = _asked_for_dims(node)
            name = _holder(one)
            if name in names:
                found[name] = max(found.get(name, 0), count)
    return found


def _holder(node: Node | None) -> str:
    """x of `x`, `x.shape` and `x.size()`."""
    if isinstance(node, Attribute) and node.name == "shape":
        node = node.object
    elif _is_size(node):
        node = node.function.object  # type: ignore[union-attr]
    return node.id if isinstance(node, Name) else ""


def _is_size(node: Node | None) -> bool:
    if not isinstance(node, Call) or node.arguments or not isinstance(node.function, Attribute):
        return False
    return node.function.name == "size"


def _asked_for_dims(node: Node) -> tuple[Node | None, int]:
    """x of `x.t()`, `len(x)`, `b, c = x.shape`, `x[:, 0]`, and how many dims it has then."""
    if isinstance(node, Subscript):
        sizes = _is_size(node.object)
        if sizes or isinstance(node.object, Attribute) and node.object.name == "shape":
            return node.object, 1
        return node.object, sum(not _is_new_dim(part) for part in indices(node))
    if isinstance(node, For):
        return node.iterable, 1
    if isinstance(node, Assign):
        target = node.targets[0]
        several = isinstance(target, Display) and target.kind == "tuple"
        plain = not node.operator and node.annotation is None
        return (node.expression, len(target.elements)) if several and plain else (None, 0)  # type: ignore[attr-defined]
    assert isinstance(node, Call)
    return _called_for_dims(node)


def _called_for_dims(node: Call) -> tuple[Node | None, int]:
    if isinstance(node.function, Attribute):
        name, least = node.function.name, 0
        for word, argument in zip(node.keywords, node.arguments):
            if word in ("dim", "axis") or word is None and name == "unsqueeze":
                least = max(least, _least_of_dim(argument))
        sized = name == "size" and bool(node.arguments)
        return node.function.object, max(least, int(name in BY_DIM or sized))
    counted = node.arguments and dotted(node.function) == "len"
    return (node.arguments[0], 1) if counted else (None, 0)


def _least_of_dim(node: Node) -> int:
    """How many dims `dim=2` or `dim=-1` asks for, as the old ones beside a new one."""
    if isinstance(node, Constant) and node.constant.__class__ is int:
        return int(node.constant)
    if isinstance(node, Unary) and node.operator == "-" and isinstance(node.operand, Constant):
        return int(node.operand.constant) - 1 if node.operand.constant.__class__ is int else 0
    return 0


def _is_new_dim(node: Node) -> bool:
    return isinstance(node, Constant) and node.constant in (None, ...)
