"""What a statement writes in place: stores, augmented assignments, calls of torch's that do."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ...model.effects import Apply, New, Read
from ...model.expressions import Attribute, Call, Display, Name, Slice, Starred, Subscript
from ...model.names import in_scope
from ...model.node import Expression, Node
from ...model.program import Class, Function
from ...model.statements import Assign, For, If, Try, While, With
from ..casts import is_cast, is_copy
from ..values.lattice import (
    UNKNOWN,
    Mapping,
    Method,
    Module,
    Sequence,
    Static,
    Tensor,
    Torch,
    Value,
    is_anything,
)
from . import indices
from .access_paths import of
from .flow_state import State
from .inplace_names import is_tensor
from .object_fields import may_be_held

CALLS = (Call, Apply, New)
_SIZED = frozenset(f"torch.{name}" for name in "rand randn zeros ones full empty".split())


@dataclass(frozen=True, eq=False)
class Site:
    """One write: the call or statement that does it, and the expression that it writes."""

    node: Node
    subject: Expression
    call: Call | None = None


def heads(statement: Node) -> list[Node]:
    """What a statement evaluates itself, apart from its blocks."""
    if isinstance(statement, (If, While)):
        return [statement.test]
    if isinstance(statement, For):
        return [statement.iterable]
    if isinstance(statement, With):
        return [context for context, _ in statement.pairs]
    return [] if isinstance(statement, (Try, Function, Class)) else [statement]


def calls_in(statement: Node) -> list[Call]:
    """The calls that a statement makes itself."""
    found: list[Call] = []
    for head in heads(statement):
        found += [head] if isinstance(head, Call) else []
        found += in_scope(head, *CALLS)
    return found


def sites(state: State, statement: Node) -> Iterator[Site]:
    """The writes of a statement in place, apart from those of the user's functions that it runs."""
    for call in calls_in(statement):
        written = state.program.spellings.written(call)
        if written is not None:
            yield Site(call, written.subject, call)
        elif (begun := state.program.spellings.begins(call)) is not None:
            yield Site(call, begun, call)
    if isinstance(statement, Assign) and statement.expression is not None:
        if statement.operator:
            if writes_augmented(state, statement):
                yield Site(statement, statement.targets[0])
        else:
            for target in stores(statement):
                yield Site(statement, target)


def flattened(targets: list[Expression]) -> Iterator[Expression]:
    for target in targets:
        if isinstance(target, Display):
            yield from flattened(target.elements)
        else:
            yield target.expression if isinstance(target, Starred) else target


def stores(node: Assign) -> Iterator[Expression]:
    """The targets by which an assignment writes memory: b[0] of `a, b[0] = b, a[0]`."""
    for one in node.targets:
        for target, value in _given(one, of(node.expression)):
            if is_store(target, value):
                yield target


def _given(target: Expression, value: Value) -> Iterator[tuple[Expression, Value]]:
    if isinstance(target, Display):
        for element, part in zip(target.elements, unpacked(target, value)):
            yield from _given(element, part)
    else:
        yield target.expression if isinstance(target, Starred) else target, value


def unpacked(target: Display, value: Value) -> list[Value]:
    """What each of several targets is given of a value."""
    held, elements = value if isinstance(value, Sequence) else Sequence(), target.elements
    starred = [isinstance(e, Starred) for e in elements]
    if held.items is not None and len(held.items) == len(elements) and not any(starred):
        return list(held.items)
    return [Sequence(held.element) if many else held.element for many in starred]


def is_store(target: Expression, value: Value) -> bool:
    """Whether an assignment to a target writes memory: `x[0] = v`, `x.data = v`."""
    if isinstance(target, Subscript):
        return is_element(target) and not _holds_objects(target, value)
    return is_data(target)


def is_element(node: Any) -> bool:
    """`x[i]` of a tensor x; what is only assumed to be one is none where it is asked for a
    string."""
    if not isinstance(node, Subscript) or not is_tensor(node.object):
        return False
    base, key = of(node.object), of(node.index)
    named = isinstance(base, Tensor) and base.assumed
    return not (named and isinstance(key, Static) and key.type == "str")


def is_data(node: Any) -> bool:
    """`x.data` of a tensor."""
    if not isinstance(node, Attribute) or node.name != "data" or isinstance(node, Read):
        return False
    return is_tensor(node.object)


def _holds_objects(target: Subscript, value: Value) -> bool:
    """Whether what is only assumed to be a tensor must be a list: by what is stored."""
    base = of(target.object)
    if not (isinstance(base, Tensor) and base.assumed):
        return False
    return isinstance(value, (Sequence, Mapping, Module))


# --- augmented assignments ------------------------------------------------------------------------


def writes_augmented(state: State, node: Assign) -> bool:
    """Whether `x += y` writes memory: a number is bound anew."""
    target, value = node.targets[0], node.expression
    assert value is not None
    if is_element(target):
        return True
    known = of(target)
    if may_be_number(state, node):
        return False
    if isinstance(target, Subscript):
        return is_tensor(target) or known == UNKNOWN and is_tensor(value)
    if isinstance(target, Attribute) and state.path(target) is None:
        unknown = known == UNKNOWN or isinstance(known, Method)
        return is_tensor(target) or unknown and is_tensor(value)
    held = isinstance(target, Attribute) and state.owner is not None and is_tensor(value)
    held = held and not state.project.is_module(state.owner)  # type: ignore[arg-type]
    return is_tensor(target) or held or _may_be_given(state, target, value)


def may_be_number(state: State, node: Assign) -> bool:
    """Whether what is augmented is rather a number than a tensor, which is bound anew: `n += 1`
    after `n = x.item()`; `keep = 1 - p`, `mask = keep`, `mask += torch.rand(3, 1)`; a size of what
    is built, of which nothing says more: `ratio = options.pop("ratio")`, `ratio /= 4`."""
    target, value = node.targets[0], node.expression
    known = of(target)
    if not isinstance(target, Name) or value is None:
        return False
    operand = of(value)
    sure = isinstance(operand, Tensor) and not operand.assumed
    if is_anything(known) and not sure and state.program.is_built(state.scope):
        return True
    if isinstance(known, Tensor) and not known.assumed and known.number is not False:
        return True
    if known == UNKNOWN and _bounds_slice(state, target.id):
        return True
    made = [p.computed for p in state.places(target.id)] if is_tensor(value) else []
    function = of(value.function) if isinstance(value, Call) else None
    sized = isinstance(function, Torch) and function.name in _SIZED
    return bool(made) and all(one is not None and (sized or one == UNKNOWN) for one in made)


def _bounds_slice(state: State, name: str) -> bool:
    """Whether a name says where a slice begins or ends: `mel[:, seek : seek + n]`."""
    slices = state.scope.nodes(Slice) if hasattr(state.scope, "nodes") else []
    bounds = [b for s in slices for b in (s.lower, s.upper)]
    return any(isinstance(b, Name) and b.id == name for b in bounds)


def _may_be_given(state: State, target: Expression, operand: Expression) -> bool:
    """Whether a name of unknown value may be a tensor that has another name:
    `h = default(h, make)`, `h += x`."""
    if not isinstance(target, Name) or of(target) != UNKNOWN:
        return False
    if all(p.parameter is not None for p in state.places(target.id)):
        return False  # a parameter itself, `size *= scale[0]`: a number as often as not
    if is_tensor(operand):
        return True
    same = state.parameters(target.id) | set(state.sharing(target.id, frozenset(state.env)))
    names = state.scope.nodes(Name) if hasattr(state.scope, "nodes") else []
    if any(n.id in same and is_tensor(n) for n in names):
        return True
    return bool(same) and may_be_held(state.program, state.original(target))


# --- which memory is written ----------------------------------------------------------------------


def stripped(node: Any, views: dict[str, str]) -> Any:
    """`x.data`, `x.detach()` and the like are x itself, as far as a write goes."""
    while True:
        if is_data(node):
            node = node.object
        elif _is_same(node, views):
            node = node.function.object
        else:
            return node


def _is_same(node: Any, views: dict[str, str]) -> bool:
    """`x.detach()`, `x.contiguous()`, `x.requires_grad_()`."""
    if not isinstance(node, Call) or not isinstance(node.function, Attribute):
        return False
    name = node.function.name
    return name in ("detach", "contiguous", "requires_grad_") and views.get(name) == "same"


def written_root(node: Any, views: dict[str, str]) -> Any:
    """The expression whose memory a write to another reaches, through views: x of
    `x.view(-1)[0]`; None of a copy."""
    while True:
        node = stripped(node, views)
        if isinstance(node, Subscript) and is_element(node):
            if indices.copies(node.index):
                return None
            node = node.object
        elif isinstance(node, Call) and isinstance(node.function, Attribute):
            if is_cast(node) and is_copy(node):
                return None
            if node.function.name not in views or not is_tensor(node.function.object):
                return node
            node = node.function.object
        elif isinstance(node, Subscript) and isinstance(node.object, Call):
            function = node.object.function
            if not isinstance(function, Attribute) or views.get(function.name) != "parts":
                return node
            node = function.object
        elif isinstance(node, Attribute) and node.name in ("T", "mT") and is_tensor(node.object):
            node = node.object
        else:
            return node
