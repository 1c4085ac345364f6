"""Simple statements that write: stores, calls, augmented assignments, and assignments that take back what a call changed."""

from __future__ import annotations

from typing import Any

import libcst as cst

from ... import tree
from ...emit import OPERATORS, fresh_name
from ...indices import index_kind
from ...inplace import flag, is_undecided
from ...values import UNKNOWN, Method, Tensor
from . import host_arrays
from .aliases import element_written, follow
from .callees import call_taken_back
from .expressions import (
    cast_name,
    in_place,
    only_computes,
    rewritten,
    rewritten_arguments,
    undecided,
    under_flag,
    viewed_name,
    written_before,
    written_by_flag,
)
from .frame import Frame
from .histories import is_detached
from .rebinding import lvalue, memory_of, rebind
from .stores import augmented_store, binary, holds_objects, store
from .taken_back import taken_back
from .updates import store_updates, updated_by


def small(frame: Frame, node: Any) -> Any:
    """A simple statement without mutation; None where what stands before it does all."""
    if (refused := host_arrays.refused(frame, node)) is not None:
        return refused
    host_arrays.follow(frame, node)
    if isinstance(node, cst.Assign):
        frame.rebound = frozenset(name for t in node.targets for name in tree.target_names(t.target))
        frame.assigned = node.value
        if len(node.targets) == 1:
            return _assign(frame, node, node.targets[0].target)
        if any(frame.is_element(t.target) for t in node.targets):
            return _chained(frame, node)
    if isinstance(node, cst.Expr) and isinstance(node.value, cst.Call):
        return _call(frame, node, node.value)
    if isinstance(node, cst.Expr) and isinstance(node.value, cst.Tuple):
        return _several(frame, node.value)
    if isinstance(node, cst.AugAssign):
        return _augmented(frame, node)
    return rewritten(frame, node)


def _call(frame: Frame, node: cst.Expr, call: cst.Call) -> Any:
    write = in_place(frame, call)
    if write is not None and (told := flag(frame.context, call)) is not None:
        frame.prelude.append(under_flag(frame, told, lambda: rebind(frame, *write, node)))
        return None
    if write is not None:
        return rebind(frame, *write, node)
    if (taken_back := call_taken_back(frame, node, call)) is not None:
        return taken_back
    before = len(frame.prelude)
    new = rewritten(frame, node)
    if len(frame.prelude) > before and only_computes(frame, call):
        return None  # `z.view(-1).copy_(x).view_as(y)`: the write was all that it did
    return new


def _several(frame: Frame, node: cst.Tuple) -> Any:
    """`a.zero_(), b.zero_()` as a statement: one after another."""
    made = [small(frame, cst.Expr(element.value)) for element in node.elements]
    for one in made[:-1]:
        if one is not None:
            frame.before(one)
    return made[-1] if made else None


def _augmented(frame: Frame, node: cst.AugAssign) -> Any:
    target = node.target
    value = rewritten(frame, node.value)
    if frame.is_element(target):
        return augmented_store(frame, node, target, value)
    known = frame.value(target)
    number = known.number if isinstance(known, Tensor) and not known.assumed else False  # `n = x.item()`, `n += 1`: what n was stays what it is
    if isinstance(target, cst.Name) and (number is not False or frame.may_be_number(target, node.value)):
        others = frame.reached(target.value) if number is not True else []
        if others:
            frame.context.report("taken-for-granted", node, f"{target.value} is taken for a number: where it is a tensor, {', '.join(others)} may change as well")
        return node if value is node.value else tree.replace(node, value=value)
    of_object = isinstance(target, cst.Attribute) and frame.memory.name(target) is None and (known == UNKNOWN or isinstance(known, Method))
    if isinstance(target, cst.Subscript) and (frame.is_tensor(target) or known == UNKNOWN and frame.is_tensor(node.value)) or of_object:
        element_written(frame, target, node)
    held = frame.is_held_by_object(target) and frame.is_tensor(node.value)
    if isinstance(target, (cst.Name, cst.Attribute)) and (frame.is_tensor(target) or held or frame.may_be_given(target, node.value)):
        elsewhere = isinstance(target, cst.Attribute) and (target.attr.value == "data" or not frame.is_on_self(target))
        if elsewhere or lvalue(frame, target) is None or frame.is_elsewhere(target):
            return rebind(frame, target, binary(frame, target, OPERATORS[type(node.operator)], value), node)
        follow(frame, target, node)
    return node if value is node.value else tree.replace(node, value=value)


# ---------------------------------------------------------------------- assignments


def _assign(frame: Frame, node: cst.Assign, target: Any) -> Any:
    if id(node) in frame.mutations.taken:
        return taken_back(frame, node, target)
    if frame.is_element(target) and not holds_objects(frame, target, node.value):
        return store(frame, node, target, rewritten(frame, node.value))
    if frame.is_data(target):
        return rebind(frame, target, rewritten(frame, node.value), node)
    if isinstance(target, cst.Tuple) and any(frame.is_element(e.value) or frame.is_data(e.value) for e in target.elements):
        return _unpacked(frame, node, target)
    if isinstance(target, cst.Name) and isinstance(node.value, cst.Call):
        update = updated_by(frame, node.value)
        if update is not None:
            store_updates(frame, update, rewritten_arguments(frame, node.value), target.value)
            return None  # what stands before has set the name
    write = in_place(frame, node.value, used=True)
    return _through(frame, node, *write) if write is not None else rewritten(frame, node)


def _through(frame: Frame, node: cst.Assign, subject: Any, value: Any) -> Any:
    """`y = x.add_(1)`: x changes, and y is x."""
    root, target = lvalue(frame, subject), tree.code(node.targets[0].target)
    name = frame.memory.path(root) if root is not None else viewed_name(frame, subject)
    if memory_of(frame, subject) == "copy":
        return tree.replace(node, value=value)
    if root is None and name is None:
        if cast_name(frame, subject) is not None:
            frame.memory.bind(node.targets[0].target, subject)
            follow(frame, node.targets[0].target, node)
        return tree.replace(node, value=value)
    if is_undecided(frame.context, node.value) and _is_read_again(frame, name, target):
        return _by_flag(frame, node, subject, value) or tree.replace(node, value=undecided(frame, node.value, root or subject))
    if root is not None and target == tree.code(subject) == tree.code(root):
        follow(frame, root, node)
        return tree.replace(node, value=value)
    if name is not None and name not in frame.live and not frame.reached(name):
        frame.record_write(name)
        return tree.replace(node, value=value)
    if is_detached(frame, subject) and frame.carries(value):
        return _beside(frame, node, subject, value)
    if memory_of(frame, subject) == "either":
        own = isinstance(node.targets[0].target, cst.Name) and target not in tree.names_read(subject)
        return _beside(frame, node, subject, value) if own else tree.replace(node, value=written_before(frame, node.value, subject, value))
    frame.before(rebind(frame, subject, value, node))
    return tree.replace(node, value=subject)


def _by_flag(frame: Frame, node: cst.Assign, subject: Any, value: Any) -> Any:
    """`y = relu(x)`, and after it `if flag: x = y`, for `y = F.relu(x, inplace=flag)`."""
    target, told = node.targets[0].target, flag(frame.context, node.value)
    if told is None or is_detached(frame, subject) or memory_of(frame, subject) != "view":
        return None
    if not isinstance(target, cst.Name) or target.value in tree.names_read(subject) | tree.names_read(told):
        made = written_by_flag(frame, node.value, subject, value)
        return None if made is None else tree.replace(node, value=made)
    frame.facts.carry(node.value, target)
    frame.after.append(under_flag(frame, told, lambda: rebind(frame, subject, target, node)))
    return tree.replace(node, value=value)


def _beside(frame: Frame, node: cst.Assign, subject: Any, value: Any) -> Any:
    """`z = y.data.add_(x)`: z has the gradient of x, and y its own."""
    target = node.targets[0].target
    if not isinstance(target, cst.Name):
        message = "the data of a tensor is written, and what is written is kept with its gradient: make the write a statement"
        return tree.replace(node, value=frame.context.unconverted("aliased-write", node.value, message))
    made = rebind(frame, subject, target, node)
    frame.after.insert(0, cst.SimpleStatementLine([made]))
    return tree.replace(node, value=value)


def _is_read_again(frame: Frame, name: str | None, target: str) -> bool:
    """Whether what a write of a name reaches is read later under another name than the assignment's target."""
    return name is not None and (name in frame.live and target != name or bool(set(frame.reached(name)) - {target}))


# ---------------------------------------------------------------------- several targets


def _chained(frame: Frame, node: cst.Assign) -> Any:
    """`x[0] = y[1] = v`: one after another, from the left."""
    value: Any = node.value
    if not isinstance(value, (cst.Name, cst.Integer, cst.Float)):
        name = cst.Name(frame.fresh("value"))
        frame.facts.carry(value, name)
        frame.prelude.append(tree.assignment(name, rewritten(frame, value)))
        value = name
    return _one_by_one(frame, [cst.Assign([target], value) for target in node.targets])


def _unpacked(frame: Frame, node: cst.Assign, target: cst.Tuple) -> Any:
    """`x[0], y[1] = a, b`: one after another, in order, from temporaries; `x[0], x[1] = x[1], x[0]` reads views, when their turn comes."""
    left: list[Any] = [e.value for e in target.elements]
    value: Any = node.value
    late = _reads_late(frame, left, value)
    if late and all(late) and all(isinstance(one, cst.Subscript) for one in left):
        return _one_by_one(frame, [cst.Assign([cst.AssignTarget(one)], e.value) for one, e in zip(left, value.elements)])
    if any(late):
        message = "rows are given to rows of the same tensor, some of them views that the first stores change"
        return cst.Expr(frame.context.unconverted("aliased-write", value, message))
    used = tree.names_read(frame.node)
    asked = {n.value for one in left if not isinstance(one, cst.Name) for n in tree.nodes(one, cst.Name)}
    plain = [isinstance(one, cst.Name) and one.value not in asked for one in left]  # `w.data, scale = quantized(w)`
    names = [one.value if is_plain else fresh_name(used, f"value_{i}") for i, (one, is_plain) in enumerate(zip(left, plain))]
    temporaries = tree.replace(target, elements=[tree.replace(e, value=cst.Name(n)) for e, n in zip(target.elements, names)])
    frame.prelude.append(tree.assignment(temporaries, rewritten(frame, value)))
    return _one_by_one(frame, [cst.Assign([cst.AssignTarget(one)], cst.Name(name)) for one, name, is_plain in zip(left, names, plain) if not is_plain])


def _reads_late(frame: Frame, left: list[Any], value: Any) -> list[bool]:
    """For each of as many values as targets, whether it is a view of a tensor that the targets write."""
    if not isinstance(value, cst.Tuple) or len(value.elements) != len(left):
        return []
    written = {tree.code(one.value) for one in left if isinstance(one, cst.Subscript)}
    values: list[Any] = [e.value for e in value.elements]
    return [frame.is_element(v) and tree.code(v.value) in written and index_kind(frame.context, v.slice) == "basic" for v in values]


def _one_by_one(frame: Frame, singles: list[cst.Assign]) -> Any:
    """The last of several assignments, the others put before it."""
    made = _assign(frame, singles[0], singles[0].targets[0].target)
    for single in singles[1:]:
        frame.before(made)
        made = _assign(frame, single, single.targets[0].target)
    return made
