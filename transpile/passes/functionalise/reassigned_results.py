"""Assignments that take back what a call has changed: `z, x = shifted(x)` for `z = shifted(x)`; and
functions that return it."""

from ...facts.bindings import bound
from ...facts.memory import Returns, Taken
from ...facts.memory.access_paths import of, spelled
from ...facts.memory.inplace_names import is_tensor
from ...facts.memory.writes import is_element
from ...facts.values.lattice import UNKNOWN, Method
from ...model.copy import clone
from ...model.effects import Read
from ...model.expressions import Attribute, Call, Constant, Name, Subscript
from ...model.node import Expression, Statement
from ...model.program import Function
from ...model.statements import Assign, ExpressionStatement, If, Raise, Return
from . import nodes
from .aliases import element_written, follow
from .expressions import visit
from .frame import Frame
from .rebinding import kept, rebind, written_path


def taken_back(frame: Frame, node: Statement) -> list[Statement]:
    """Other names for what the call has changed follow, and parts of others are put back."""
    taken = frame.taken
    assert taken is not None
    call = frame.copies[taken.call]
    assert isinstance(call, Call)
    own: Expression | None = None
    if isinstance(node, Assign) and node.expression is call:
        own = node.targets[0]
        frame.rebound = frozenset(bound(node))
    visit(frame, node.expression)  # type: ignore[attr-defined]
    if call.parent is None or node.expression is not call and not _holds(node, call):  # type: ignore[attr-defined]
        return [node]  # refused
    if own is not None:
        return _assigned_to(frame, node, taken, call, own)
    if isinstance(node, ExpressionStatement) and node.expression is call:
        target = nodes.name("_") if taken.returns.has_value else None
        return _assigned(frame, taken, call, target)
    if not taken.returns.has_value:  # `return scale_(x)`
        made = _assigned(frame, taken, call, None)
        return [*made, Return(Constant(None))]
    result = nodes.name(frame.fresh("result"), of(call))
    call.replace(clone(result))
    frame.before_with_followers(_assigned(frame, taken, call, result))
    return [node]


def _holds(node: Statement, call: Call) -> bool:
    return any(n is call for n in node.walk())


def _assigned_to(
    frame: Frame, node: Statement, taken: Taken, call: Call, own: Expression
) -> list[Statement]:
    """What the assignment itself sets is no write. Where it gives the name of what was changed to
    the result, `x = shifted(x)`, that is set last: it is `x, _ = shifted(x)`, or goes by another
    name for the result where others for the old x are read later."""
    if not taken.returns.has_value:
        return [*_assigned(frame, taken, call, None), Assign([own], Constant(None))]
    live, rebound = frame.live, frame.rebound
    frame.live = live - rebound
    paths = [written_path(frame, s) if s is not None else None for s in taken.subjects]
    names = {frame.state.path(own), *rebound}
    text = spelled(own)
    lost = [
        path is not None and path in names or s is not None and spelled(s) == text
        for path, s in zip(paths, taken.subjects)
    ]
    read = any(lose and bool(frame.reached(p or "")) for lose, p in zip(lost, paths))
    plain = isinstance(own, Name) and not any(isinstance(s, Subscript) for s in taken.subjects)
    if any(lost) and (read or not plain):
        result = nodes.name(frame.fresh("result"), of(call))
        made = _assigned(frame, taken, call, result)
        made += [*frame.after, *_set(frame, own, clone(result), node)]
        frame.after = []
    else:
        made = _assigned(frame, taken, call, own, lost)
    frame.live = live
    return made


def _set(frame: Frame, own: Expression, value: Expression, node: Statement) -> list[Statement]:
    if is_element(own):
        put = nodes.put(clone(own.object), clone(own.index), "set", value)  # type: ignore[attr-defined]
        return rebind(frame, own.object, put, node)  # type: ignore[attr-defined]
    return [nodes.store(own, value)]


def _assigned(
    frame: Frame, taken: Taken, call: Call, own: Expression | None, lost: list[bool] | None = None
) -> list[Statement]:
    """The assignment of a call to the target of its own, if it has one, and to what it has changed:
    elements of tensors by names in between."""
    targets: list[Expression] = []
    stores: list[tuple[Expression, Name]] = []
    last: list[tuple[Expression, Name]] = []  # the assignment itself comes after the call's writes
    if own is not None:
        targets.append(_target(frame, own, last, "part"))
    through_data = set[Expression]()  # what keeps its gradient
    for i, subject in enumerate(taken.subjects):
        if subject is None or lost is not None and lost[i]:
            targets.append(nodes.name("_"))
            continue
        one = clone(subject)
        if frame.traced and not isinstance(one, Read) and subject.parent is not taken.call:
            through_data.add(one)
        targets.append(_target(frame, one, stores, f"part_{i + 1}", one in through_data))
        if not any(one is subject for one, _ in stores):
            _follow(frame, subject, call)
    followers, frame.after = frame.after, []
    made: list[Statement] = [Assign([nodes.tuple_of(targets)], call)]
    if len(targets) == 1 and stores:  # nothing else is taken: no name in between
        one = stores[0][0]
        value = kept(frame, one, call) if one in through_data else call
        made, stores = [*_set(frame, one, value, made[0]), *frame.after], []
        frame.after = []
    for one, name in [*stores, *last]:
        value = kept(frame, one, clone(name)) if one in through_data else clone(name)
        made += [*_set(frame, one, value, made[0]), *frame.after]
        frame.after = []
    return [*made, *followers]


def _target(
    frame: Frame,
    one: Expression,
    stores: list[tuple[Expression, Name]],
    stem: str,
    apart: bool = False,
) -> Expression:
    if not is_element(one) and not isinstance(one, Read) and not apart:
        return one
    name = nodes.name(frame.fresh(stem))
    stores.append((one, name))
    return clone(name)


def _follow(frame: Frame, subject: Expression, call: Call) -> None:
    if is_element(subject):
        return
    unknown = of(subject) == UNKNOWN or isinstance(of(subject), Method)
    named = isinstance(subject, Name) and is_tensor(subject)
    if named or isinstance(subject, Attribute) and (is_tensor(subject) or unknown):
        follow(frame, subject, call)
    elif isinstance(subject, Subscript):
        element_written(frame, subject, call)


# --- functions that return what they write --------------------------------------------------------


def returning(frame: Frame, function: Function, returns: Returns) -> None:
    """Let each way out of a function give what it has written."""
    frame.given_back = frozenset(returns.names)
    for node in function.nodes(Return):
        value = node.expression if returns.has_value else None
        if returns.has_value and value is None:
            value = Constant(None)
        frame.extra[node] = (value, returns.names)
    last = function.body.body[-1]
    if not _always_leaves(last):
        value = Constant(None) if returns.has_value else None
        made = Return(nodes.tuple_of(results(value, returns.names)))
        frame.changes.change(last, lambda last: last.parent.append([made]))


def results(value: Expression | None, names: tuple[str, ...]) -> list[Expression]:
    return [*([value] if value is not None else []), *(nodes.name(n) for n in names)]


def _always_leaves(node: Statement) -> bool:
    if isinstance(node, If):
        blocks = [node.body, node.orelse]
        return all(b is not None and b.body and _always_leaves(b.body[-1]) for b in blocks)
    return isinstance(node, (Return, Raise))
