"""What an in-place operation on an expression writes, and the statements that give it the new
value."""

from typing import Any

from ...facts.casts import is_cast, is_copy
from ...facts.memory import indices
from ...facts.memory.access_paths import of
from ...facts.memory.inplace_names import is_tensor
from ...facts.memory.views import view_of
from ...facts.memory.writes import is_data, is_element, stripped
from ...facts.values.lattice import Static, Torch
from ...model.copy import clone
from ...model.effects import Put, Read, Write
from ...model.expressions import (
    Attribute,
    Call,
    Dictionary,
    Display,
    Name,
    Slice,
    Starred,
    Subscript,
)
from ...model.names import dotted, index_parts
from ...model.node import Expression, Node, Statement
from ...model.program import Function
from ...model.statements import Assign, ExpressionStatement, Return
from . import nodes
from .aliases import element_written, follow
from .container_entries import is_of_tuple, tuple_with
from .frame import Frame

_ELSEWHERE = (
    "what is written by this name is an array of a module, and which is not known: "
    "write it by its path, self.fc.weight"
)
_PROPERTY = (
    "what is written here is what a property gives, and which array that is, is not known: "
    "write it by the name of the array"
)
_PARAMS = (
    "a loop writes the params of a module, which do not change here: return new ones, "
    "jax.tree.map(lambda old, new: ..., old, new)"
)
_OUTER = "a name of the function around is written in place: pass it in and return it"
_NAMELESS = "a part of a list without a name is written in place: write it by its own name"
_TUPLE = "an element of a tuple is written in place, which takes no other: give it a name"
_UNKNOWN = "an in-place operation on an expression whose memory is not known"

# Methods of tensors, and what they are as a way to put something into an array.
_UPDATES = {"add": "add", "sub": "subtract", "mul": "multiply", "div": "divide", "pow": "power"}
_UPDATES["copy_"] = "set"  # which spreads the new value too


def rebind(
    frame: Frame, subject: Any, value: Expression, node: Node, detached: bool = False
) -> list[Statement]:
    """Statements that give what an in-place operation wrote its new value, and let its aliases
    follow.

    `detached`: it was written through its data, and keeps its gradient.
    """
    detached = detached or is_detached(frame, subject)
    whole = stripped(subject, frame.views)
    if whole is not subject and frame.reshapes(nodes.called_by(node)) is not None:
        return _refuse(frame, subject, _UNKNOWN)  # `x.data.resize_(3)` leaves x its shape
    subject = whole
    if frame.is_computed(subject):
        return [nodes.registered(subject, value)]
    if frame.is_elsewhere(subject) and not frame.goes_over_params(subject):
        return _refuse(frame, subject, _ELSEWHERE)
    if (prop := frame.property_of(subject)) is not None:
        held = _held_by(frame, subject, prop)
        if held is None:
            return _refuse(frame, subject, _PROPERTY)
        return rebind(frame, held, value, node, detached)
    if isinstance(_root(subject), (Display, Dictionary)):
        return _refuse(frame, subject, _NAMELESS)
    if isinstance(subject, Subscript) and not is_element(subject):
        if view_of(subject, frame.views) is None:
            return _rebind_held(frame, subject, value, node, detached)
    if isinstance(subject, (Name, Read)) or _is_own(frame, subject):
        return _rebind_name(frame, subject, value, node, detached)
    return _rebind_view(frame, subject, value, node, detached)


def _root(subject: Any) -> Any:
    """The list in `[z, y][0]`."""
    while isinstance(subject, (Attribute, Subscript)):
        subject = subject.object
    return subject


def _is_own(frame: Frame, subject: Any) -> bool:
    """An attribute that is no view: `self.h`, `obj.h`."""
    return isinstance(subject, Attribute) and view_of(subject, frame.views) is None


def _rebind_name(
    frame: Frame, subject: Any, value: Expression, node: Node, detached: bool
) -> list[Statement]:
    if frame.goes_over_params(subject):  # the name of a walk stands for its array
        if not frame.traced:
            return [Write(clone(subject), value)]
        if not frame.is_walked(subject):
            return _refuse(frame, subject, _PARAMS, "parameter-write")
        follow(frame, subject, node)
        return [Write(clone(subject), value, detached=True)]  # torch takes no other of a leaf
    if frame.is_outer(subject):
        return _refuse(frame, subject, _OUTER)
    follow(frame, subject, node)
    target, value = clone(subject), nodes.in_dtype(subject, value)
    if isinstance(subject, Read) and subject.name not in frame.memory.set_anew:
        return [nodes.store(target, value, detached)]  # what it holds has no gradient
    return [nodes.store(target, kept(frame, subject, value) if detached else value)]


def _rebind_held(
    frame: Frame, subject: Subscript, value: Expression, node: Node, detached: bool
) -> list[Statement]:
    """`xs[0].add_(y)` of a list: its element is set."""
    if isinstance(subject.object, Call) and isinstance(of(subject.object.function), Torch):
        return _refuse(frame, subject, _UNKNOWN)
    element_written(frame, subject, node)
    value = kept(frame, subject, value) if detached else value
    tuple_ = is_of_tuple(subject)
    made = tuple_with(frame, subject, value) if tuple_ else Assign([clone(subject)], value)
    return [made] if made is not None else _refuse(frame, subject, _TUPLE)


def _rebind_view(
    frame: Frame, subject: Any, value: Expression, node: Node, detached: bool
) -> list[Statement]:
    """`x[0].add_(y)`, `x.view(-1).relu_()`: x gets the new value at these places."""
    if isinstance(subject, Subscript) and is_element(subject):
        kind = indices.kind(subject.index)
        if kind != "basic" and not indices.copies(subject.index):
            base = stripped(subject.object, frame.views)  # a view, where all are numbers
            made = nodes.put(clone(base), clone(subject.index), "item", value)
            return rebind(frame, subject.object, made, node, detached)
    view = view_of(subject, frame.views)
    if view is None:
        return _refuse(frame, subject, _UNKNOWN)
    if view.kind == "copy" or view.kind == "cast" and is_copy(subject):
        if isinstance(node, (ExpressionStatement, Call)):
            return [ExpressionStatement(value)]  # nothing changes
        return _refuse(frame, subject, _UNKNOWN)
    if view.kind == "cast":
        return _refuse(frame, subject, _UNKNOWN)
    back = _put(frame, subject, value) or nodes.put_back(subject, view, value)
    if back is None:
        return _refuse(frame, subject, _UNKNOWN)
    return rebind(frame, view.base, back, node, detached)


def _put(frame: Frame, subject: Any, value: Expression) -> Expression | None:
    """`x[0].mul(2)` as the new value of x[0] is a product at that place; a row of a row is one
    place: `y[0][1] = v`."""
    if not isinstance(subject, Subscript) or not is_element(subject):
        return None
    how, given = "set", value
    if isinstance(value, Call) and isinstance(value.function, Attribute):
        word = _UPDATES.get(value.function.name) if value.keywords == [None] else None
        same = value.function.object is subject or is_same(value.function.object, subject)
        if same and word is not None:
            new = value.arguments[0]
            if not isinstance(new, Starred) and (word != "set" or nodes.fits(subject, new)):
                how, given = word, new
    base, index = stripped(subject.object, frame.views), clone(subject.index)
    if isinstance(value, Put) and is_same(value.base, subject) and not _is_through(value):
        inner = _joined(subject.index, value.index)
        if inner is not None:
            return nodes.put(clone(base), inner, value.how, value.new)
    return nodes.put(clone(base), index, how, given)


def is_same(one: Expression, other: Expression) -> bool:
    """Whether two expressions are copies of one another."""
    return one.origin is not None and one.origin == other.origin


def _is_through(value: Put) -> bool:
    return (
        value.how in ("data", "item")
        or not isinstance(value.index, (Display, Slice, Name, Subscript, Attribute))
        and not isinstance(of(value.index), Static)
    )


def _joined(outer: Expression, inner: Expression) -> Expression | None:
    """`[0, 1]` for `[0]` behind which `[1]` stands; None where the first is more than numbers."""
    first = index_parts(outer)
    if not all(isinstance(of(p), Static) and of(p).type == "int" for p in first):  # type: ignore[attr-defined]
        return None
    return Display("tuple", [clone(p) for p in (*first, *index_parts(inner))])


# --- refusals -------------------------------------------------------------------------------------


def _refuse(
    frame: Frame, subject: Node, message: str, id: str = "aliased-write"
) -> list[Statement]:
    return [ExpressionStatement(frame.unconverted(id, subject, message))]


# --- data -----------------------------------------------------------------------------------------


def is_detached(frame: Frame, node: Any) -> bool:
    """`y.data` and `y.detach()`, and views of them, in a function that computes with tensors."""
    while frame.traced:
        if is_data(node) or _is_detach(node):
            return True
        if isinstance(node, Subscript):
            node = node.object
        elif isinstance(node, Call) and isinstance(node.function, Attribute):
            if node.function.name not in frame.views:
                return False
            node = node.function.object
        else:
            return False
    return False


def _is_detach(node: Any) -> bool:
    if not isinstance(node, Call) or not isinstance(node.function, Attribute):
        return False
    return node.function.name == "detach" and is_tensor(node.function.object)


def kept(frame: Frame, subject: Expression, value: Expression) -> Expression:
    """The new value of a tensor that was written through its data, with the gradient that it
    has."""
    return nodes.with_data(clone(subject), value) if frame.traced else value


# --- what is written ------------------------------------------------------------------------------


def lvalue(frame: Frame, subject: Any) -> Any:
    """The name or attribute that an in-place operation on this expression writes."""
    subject = stripped(subject, frame.views)
    while isinstance(subject, Subscript):
        subject = stripped(subject.object, frame.views)
    return subject if isinstance(subject, (Name, Attribute)) else None


def written_path(frame: Frame, subject: Any) -> str | None:
    """That name for the alias analysis: `x`, or `self.x`; x also of `x.view(-1)[0]`."""
    root = lvalue(frame, subject)
    path = frame.state.path(root) if root is not None else None
    return path if path is not None else viewed_path(frame, subject)


def viewed_path(frame: Frame, subject: Any) -> str | None:
    """The path whose memory a chain of views shows: x of `x.view(-1)[0]`. What may be a copy,
    `x.float()`, is none."""
    node = stripped(subject, frame.views)
    while True:
        view = view_of(node, frame.views)
        if view is None or view.kind in ("copy", "cast"):
            named = isinstance(node, (Name, Attribute)) and frame.is_tensor(node)
            return frame.state.path(node) if named else None
        node = stripped(view.base, frame.views)


def cast_path(frame: Frame, subject: Any) -> str | None:
    """The name of what a cast may give itself: x of `x.float()`."""
    node = stripped(subject, frame.views)
    return frame.state.view_base(node) if is_cast(node) and is_tensor(node) else None


def memory_of(frame: Frame, subject: Any) -> str:
    """Whether an expression is a "view" of what it is taken from, a "copy", or "either", which only
    the run tells: `x[i]` of an i that may be an array."""
    subject = stripped(subject, frame.views)
    if isinstance(subject, Call) and isinstance(subject.function, Attribute):
        return memory_of(frame, subject.function.object)
    if not isinstance(subject, (Subscript, Attribute)):
        return "view"
    found = memory_of(frame, subject.object)
    if found == "copy" or not isinstance(subject, Subscript) or not is_element(subject):
        return found
    if indices.kind(subject.index) == "basic":
        return found
    return "copy" if indices.copies(subject.index) else "either"


def _held_by(frame: Frame, subject: Any, prop: Function) -> Expression | None:
    """`self.sn_u` for `self.u`, a property that only returns that; None where it does more."""
    body = [s for s in prop.body.body if not isinstance(s, ExpressionStatement)]
    held = body[0].expression if len(body) == 1 and isinstance(body[0], Return) else None
    own = frame.memory.program.project.self_name(prop)
    if not isinstance(held, Attribute) or dotted(held.object) != own or not is_tensor(held):
        return None
    made = clone(held)
    made.object.replace(clone(subject.object))
    return made
