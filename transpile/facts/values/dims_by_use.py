"""How many dims the parameters of a function have at least, and which are masks, by what is asked
of them."""

import dataclasses
from collections.abc import Iterator

from ...model.expressions import Attribute, Call, Constant, Display, Name, Subscript
from ...model.names import dotted, everywhere, index_parts, names_assigned
from ...model.node import Node
from ...model.operators import Unary
from ...model.program import Function
from ...model.statements import Assign, For
from .attribute_names import BY_DIM
from .lattice import Tensor, Value
from .subscripts import indices
from .tables import Facts

_RESHAPES = frozenset(  # which give the same elements in another shape, or several times
    "contiguous detach expand expand_as flatten permute repeat reshape squeeze t tile to transpose "
    "unsqueeze view view_as".split()
)


def by_use(facts: Facts, function: Function, env: dict[str, Value]) -> None:
    """Tell of the tensors among the parameters what is known by their use."""
    shown, masks, project = with_dims(facts, function), _masks(facts, function), facts.project
    owner = project.owner(function)
    forward = owner is not None and project.is_module(owner) and function.name == "forward"
    for name, value in env.items():
        if isinstance(value, Tensor):
            dims = max(value.dims, shown.get(name, 0), int(forward))
            kind = "b" if value.kind is None and name in masks else value.kind
            if (dims, kind) != (value.dims, value.kind):
                env[name] = dataclasses.replace(value, dims=dims, kind=kind)


def _masks(facts: Facts, function: Function) -> frozenset[str]:
    """Those that are called masks, and are indices: `x[mask]`, `x[pad_mask[..., None].tile(1, 3)]`;
    also by another name, `m = mask.view(-1)`."""
    key = "masks", function
    if key not in facts.memory:
        named = {p.name for p in facts.project.parameters(function) if p.name.endswith("mask")}
        asked = {dotted(n.object) for n in everywhere(function, Attribute) if n.name == "dtype"}
        named -= asked | set(names_assigned(function))
        found = set(_indices_of(function)) if named else set()
        facts.memory[key] = frozenset(named & found)
    return facts.memory[key]  # type: ignore[no-any-return]


def _indices_of(function: Function) -> Iterator[str]:
    """The names of what the subscripts of a function have as an index."""
    made = {a.targets[0]: a.expression for a in everywhere(function, Assign) if not a.operator}
    others = {t.id: _reshaped(e) for t, e in made.items() if isinstance(t, Name)}
    for node in everywhere(function, Subscript):
        for part in index_parts(node.index):
            if isinstance(name := _reshaped(part), str):
                yield name
                if isinstance(other := others.get(name), str):
                    yield other


def _reshaped(node: Node | None) -> str | None:
    """mask of `mask[..., None].tile(1, 1, d)` and `~mask`."""
    while not isinstance(node, Name):
        if isinstance(node, Subscript):
            node = node.object
        elif isinstance(node, Unary) and node.operator == "~":
            node = node.operand
        elif isinstance(node, Call) and isinstance(node.function, Attribute):
            if node.function.name not in _RESHAPES:
                return None
            node = node.function.object
        else:
            return None
    return node.id


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
    return isinstance(node, Constant) and (node.constant is None or node.constant is ...)
