"""Simple statements that write: stores, calls, augmented assignments, and assignments that take
back what a call changed."""

from typing import Any

from ...facts.bindings import bound
from ...facts.borrowed_params import is_lent
from ...facts.memory import indices
from ...facts.memory.access_paths import of, on_module
from ...facts.memory.writes import is_data, is_store, stores, stripped, unpacked
from ...model.copy import clone
from ...model.effects import PARAM, Declare, Read, Write
from ...model.expressions import Attribute, Call, Constant, Display, Name, Starred, Subscript
from ...model.names import names_in
from ...model.node import Expression, Statement
from ...model.statements import Assign, Delete, ExpressionStatement
from . import nodes
from .aliases import element_written, follow
from .augmented import augmented
from .callees import taken_as_statement
from .expressions import in_place, rewritten, undecided_write, under_flag, visit
from .frame import Frame
from .inplace_forms import is_dropped, plain_views
from .order import reads_late
from .reassigned_results import taken_back
from .rebinding import cast_path, is_detached, lvalue, memory_of, rebind, viewed_path, written_path


def simple(frame: Frame, node: Statement) -> list[Statement]:
    """A simple statement, a copy, without mutation; nothing where what is before does all."""
    plain_views(frame, node)
    if frame.taken is not None:
        return taken_back(frame, node)
    if isinstance(node, Assign) and node.expression is not None:
        frame.rebound = frozenset(bound(node))
        if node.operator:
            return augmented(frame, node)
        if len(node.targets) > 1 and any(True for _ in stores(node)):
            return _chained(frame, node)
        return _assign(frame, node)
    if isinstance(node, ExpressionStatement):
        return _expression(frame, node)
    if not isinstance(node, Delete):
        rewritten(frame, node)
    return [node]


def _expression(frame: Frame, node: ExpressionStatement) -> list[Statement]:
    call = node.expression
    if isinstance(call, Display):  # `a.zero_(), b.zero_()`: one after another
        made = []
        for element in list(call.elements):
            made += [*_expression(frame, ExpressionStatement(element)), *frame.after]
            frame.after = []
        return made
    if not isinstance(call, Call):
        visit(frame, call)
        return [node]
    write = frame.spellings.written(call)
    if write is not None:
        told, was = frame.spellings.flag(call), clone(node)
        frame.reshaped[was.expression] = frame.spellings.reshapes(call)
        subject = in_place(frame, call, write)
        if told is not None:
            return [under_flag(frame, told, subject, call, node)]
        return rebind(frame, subject, call, was)
    taken = taken_as_statement(frame, node)
    if taken is not None:
        return [taken]
    before, dropped = len(frame.before), is_dropped(frame, call)
    visit(frame, call)
    if len(frame.before) > before and (dropped or isinstance(node.expression, Name)):
        return []  # `z.view(-1).copy_(x).view_as(y)`: the write was all that it did
    return [node]


# --- assignments ----------------------------------------------------------------------------------


def _assign(frame: Frame, node: Assign) -> list[Statement]:
    target, value = node.targets[0], node.expression
    assert value is not None
    if isinstance(node, Declare):
        if node.kind == PARAM:
            _tell_shared(frame, target, value)
        rewritten(frame, node)
        return [node]
    if isinstance(target, Subscript) and is_store(target, of(value)):
        visit(frame, target.index)
        visit(frame, value)
        return _store(frame, node, target, node.expression or value)
    if is_data(target):
        _tell_shared(frame, target, value)
        visit(frame, value)
        return rebind(frame, target, node.expression or value, node)
    if isinstance(target, Display) and (
        any(True for _ in stores(node)) or any(isinstance(e, Read) for e in target.elements)
    ):
        return _unpacked(frame, node, target)
    if isinstance(target, Read) and target.kind == PARAM:
        _tell_shared(frame, target, value)
    write = frame.spellings.written(value)
    if write is not None and isinstance(value, Call) and len(node.targets) == 1:
        return _reads(_through(frame, node, value))
    visit(frame, value)
    return _reads([node])


def _tell_shared(frame: Frame, target: Expression, value: Expression) -> None:
    """`self.decoder.weight.data = self.encoder.weight.data.t()`, and `nn.Parameter` of that: what
    trains one of them in torch changes the other, too."""
    held, own = written_path(frame, value), written_path(frame, target)
    if frame.traced or held is None or not on_module(held) or held == own:
        return
    whole = value.object if isinstance(value, Attribute) and is_data(value) else value
    if is_lent(frame.facts.values, whole, frame.scope):
        return  # nothing else trains it
    name = nodes.source(target).removesuffix(".data")
    message = (
        f"the data of {name} is that of {held}: each has an array of its own here, so that "
        "training makes them differ; tie them by the array itself, or clone it"
    )
    frame.changes.report("shared-module", target, message)


def _reads(statements: list[Statement]) -> list[Statement]:
    """Assignments to arrays of modules as writes of them: `self.h = x`."""
    made: list[Statement] = []
    for one in statements:
        plain = isinstance(one, Assign) and not isinstance(one, Declare) and not one.operator
        if plain and isinstance(one, Assign) and any(isinstance(t, Read) for t in one.targets):
            made += _writes(one)
        else:
            made.append(one)
    return made


def _writes(node: Assign) -> list[Statement]:
    assert node.expression is not None
    names = [t for t in node.targets if not isinstance(t, Read)]
    reads = [t for t in node.targets if isinstance(t, Read)]
    made, value = list[Statement](), node.expression
    if names:
        made, value = [Assign(names, value)], clone(names[0])
    for i, one in enumerate(reads):
        made.append(Write(one, value if not i else clone(reads[0]), bound=True))
    return made


def _store(frame: Frame, node: Assign, target: Subscript, value: Expression) -> list[Statement]:
    """`x[i] = v`"""
    if indices.may_overlap(target, value):
        message = (
            "source and target of this copy may overlap: it is converted as if the source were "
            "cloned first"
        )
        frame.changes.report("overlapping-copy", target, message)
    base = stripped(target.object, frame.views)
    made = nodes.put(clone(base), clone(target.index), "set", value)
    return rebind(frame, target.object, made, node, is_detached(frame, target))


def _through(frame: Frame, node: Assign, call: Call) -> list[Statement]:
    """`y = x.add_(1)`: x changes, and y is x."""
    write = frame.spellings.written(call)
    assert write is not None
    undecided, told = frame.spellings.is_undecided(call), frame.spellings.flag(call)
    subject = in_place(frame, call, write, used=True)
    target, root = node.targets[0], lvalue(frame, subject)
    path = frame.state.path(root) if root is not None else viewed_path(frame, subject)
    if memory_of(frame, subject) == "copy":
        return [node]
    if path is None:
        if root is None and cast_path(frame, subject) is not None:
            frame.state.bind(target, clone(subject))
            follow(frame, target, node)
        elif root is not None:
            element_written(frame, subject, node)
            if isinstance(root, Attribute):
                return _twice(frame, node, subject, call)
        return [node]
    own = frame.state.path(target)
    again = path in frame.live and own != path or bool(set(frame.reached(path)) - {own})
    if undecided and again:
        return _by_flag(frame, node, subject, call, told)
    whole = isinstance(subject, (Name, Attribute)) and not is_data(subject)
    if root is not None and own == path and whole:
        follow(frame, root, node)
        return [node]
    if path not in frame.live and not frame.reached(path) and "." not in path:
        return [node]
    if is_detached(frame, subject) or memory_of(frame, subject) == "either":
        return _beside(frame, node, subject)
    return _twice(frame, node, subject, call)


def _twice(frame: Frame, node: Assign, subject: Expression, call: Call) -> list[Statement]:
    stands = clone(subject)
    call.replace(stands)
    frame.before += rebind(frame, subject, call, node)
    return [node]


def _by_flag(
    frame: Frame, node: Assign, subject: Expression, call: Call, told: Any
) -> list[Statement]:
    """`y = relu(x)`, and after it `if flag: x = y`, for `y = F.relu(x, inplace=flag)`."""
    target = node.targets[0]
    if told is None or is_detached(frame, subject) or memory_of(frame, subject) != "view":
        call.replace(undecided_write(frame, call, lvalue(frame, subject) or subject))
        return [node]
    own = nodes.name(frame.fresh("result"))
    call.replace(clone(own))
    frame.before.append(Assign([own], call))
    frame.before.append(under_flag(frame, told, clone(subject), clone(own), node))
    return [Assign([target], clone(own))] if isinstance(target, Name) else [node]


def _beside(frame: Frame, node: Assign, subject: Expression) -> list[Statement]:
    """`z = y.data.add_(x)`: z has the gradient of x, and y its own."""
    target = node.targets[0]
    if not isinstance(target, Name) or frame.state.path(target) == frame.state.path(subject):
        message = (
            "the data of a tensor is written, and what is written is kept with its gradient: "
            "make the write a statement"
        )
        assert node.expression is not None
        node.expression.replace(frame.unconverted("aliased-write", node.expression, message))
        return [node]
    made = rebind(frame, clone(subject), clone(target), node)
    return [node, *made]


# --- several targets ------------------------------------------------------------------------------


def _chained(frame: Frame, node: Assign) -> list[Statement]:
    """`x[0] = y[1] = v`: one after another, from the left."""
    value = node.expression
    assert value is not None
    visit(frame, value)
    value = node.expression or value
    made: list[Statement] = []
    if not isinstance(value, (Name, Constant)):
        name = nodes.name(frame.fresh("value"), of(value))
        made, value = [Assign([name], value)], clone(name)
    return [*made, *_one_by_one(frame, [Assign([t], clone(value)) for t in list(node.targets)])]


def _unpacked(frame: Frame, node: Assign, target: Display) -> list[Statement]:
    """`x[0], y[1] = a, b`: one after another, in order, from temporaries; `x[0], x[1] = x[1], x[0]`
    reads views, when their turn comes."""
    left, value = list(target.elements), node.expression
    assert value is not None
    given = unpacked(target, of(value))
    late = reads_late(left, value)
    if late and all(late) and isinstance(value, Display):
        singles = [Assign([t], clone(v)) for t, v in zip(left, value.elements)]
        return _one_by_one(frame, singles)
    visit(frame, value)
    asked = {
        n.id for one in left if not isinstance(one, Name) for n in one.walk() if isinstance(n, Name)
    }
    first: list[Expression] = []
    singles = []
    for i, one in enumerate(left):
        if isinstance(one, Name) and one.id not in asked:
            first.append(clone(one))  # `w.data, scale = quantized(w)`
            continue
        starred = isinstance(one, Starred)
        inner = one.expression if isinstance(one, Starred) else one
        stem = inner.name if isinstance(inner, Attribute) else f"value_{i}"
        name = nodes.name(frame.fresh(stem), given[i])
        first.append(Starred(name) if starred else name)
        singles.append(Assign([inner], clone(name)))
    begun = Assign([Display("tuple", first)], node.expression)
    frame.state.bind(begun.targets[0], node.expression or value)
    return [begun, *_one_by_one(frame, singles)]


def _one_by_one(frame: Frame, singles: list[Assign]) -> list[Statement]:
    """Assignments in turn, each of which finds the names as those before have left them."""
    made: list[Statement] = []
    after = frame.live
    for i, single in enumerate(singles):
        frame.live = after.union(*(names_in(later) for later in singles[i + 1 :]))
        target, value = single.targets[0], single.expression
        assert value is not None
        bound_anew = not is_store(target, of(value))
        made += [*_assign(frame, single), *frame.after]
        frame.after = []
        if bound_anew:
            frame.state.bind(target, value)
    return made
