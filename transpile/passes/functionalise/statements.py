"""The walk over the statements of a function: what comes in the place of each."""

from ...facts.memory.access_paths import of
from ...facts.memory.inplace_names import is_tensor
from ...facts.memory.writes import calls_in
from ...facts.values.lattice import SHAPE, Module, Static, Tensor
from ...model.copy import clone
from ...model.expressions import Lambda, Name, Subscript
from ...model.names import in_scope
from ...model.node import Expression, Node, Statement
from ...model.program import Class, Function
from ...model.statements import (
    Assign,
    Block,
    ExpressionStatement,
    For,
    Handler,
    If,
    Return,
    While,
    With,
)
from . import host_arrays, nodes
from .assignments import simple
from .expressions import visit
from .frame import Frame
from .inplace_forms import plain_views
from .reassigned_results import results


def block(frame: Frame, part: Block) -> None:
    """Plan the edits of the statements of a block."""
    for statement in part.body:
        if isinstance(statement, (Function, Class)):
            continue
        if any(isinstance(child, (Block, Handler)) for child in statement.children()):
            _compound(frame, statement)
        else:
            _simple(frame, statement)


def _simple(frame: Frame, statement: Statement) -> None:
    extra, concerned = frame.extra.get(statement), concerns(statement)
    if not concerned and extra is None:
        return
    copy = clone(statement)
    with frame.at(statement, copy):
        refused = host_arrays.refused(frame, copy)
        made = [copy] if refused is None else [refused]
        if refused is None and concerned:
            host_arrays.follow(frame, copy)
            made = simple(frame, copy)
        if extra is not None and made and isinstance(made[-1], Return):
            had, names = extra
            value = made[-1].expression if had is not None else None
            if had is not None and value is None:
                value = had
            made[-1] = Return(nodes.tuple_of(results(value, names)))
        made = [*frame.before, *made, *frame.after]
    unchanged = made == [copy] and not copy.touched
    if not unchanged:
        frame.changes.substitute(statement, made)


def concerns(statement: Statement) -> bool:
    """Whether a statement may have anything to do with writes: most have no call nor store."""
    if isinstance(statement, Assign) and (statement.operator or not _binds_names(statement)):
        return True
    return bool(calls_in(statement)) or any(True for _ in in_scope(statement, Lambda))


def _binds_names(statement: Assign) -> bool:
    return all(isinstance(t, Name) for t in statement.targets)


# --- compound statements --------------------------------------------------------------------------


def _compound(frame: Frame, statement: Statement) -> None:
    """What a statement evaluates at its head is written before it; its blocks by themselves."""
    heads: list[Expression] = []
    if isinstance(statement, (If, While)):
        heads = [statement.test]
    elif isinstance(statement, For):
        heads = [statement.iterable]
    elif isinstance(statement, With):
        heads = [context for context, _ in statement.pairs]
    for head in heads:
        _head(frame, statement, head)
    over = _rows(frame, statement)
    if over is not None and isinstance(statement, For):
        frame.rows.append((statement, over))
        block(frame, statement.body)
        frame.rows.pop()
        if statement in frame.stale:
            _by_index(frame, statement)
    else:
        _blocks(frame, statement)
        return
    if statement.orelse is not None:
        block(frame, statement.orelse)


def _blocks(frame: Frame, statement: Node) -> None:
    for part in statement.children():
        if isinstance(part, Block):
            block(frame, part)
        elif isinstance(part, Handler):
            block(frame, part.body)


def _head(frame: Frame, statement: Statement, head: Expression) -> None:
    copy = ExpressionStatement(clone(head))
    with frame.at(statement, copy):
        frame.taken = None
        frame.inside = _live_inside(frame, statement)
        frame.live |= frame.inside
        plain_views(frame, copy)
        visit(frame, copy.expression)
        made, before, after = copy.expression, frame.before, frame.after
    if not made.touched and not before and not after and made.origin == head.origin:
        return
    if isinstance(statement, While):
        message = "the condition of a loop writes in place: write it in the body of `while True`"
        made, before, after = frame.unconverted("aliased-write", head, message), [], []
    frame.changes.replace(head, made)
    if before:
        frame.changes.insert_before(statement, before)
    if after:
        frame.changes.insert_after(statement, after)


def _live_inside(frame: Frame, statement: Statement) -> frozenset[str]:
    found: frozenset[str] = frozenset()
    for part in statement.children():
        if isinstance(part, Block):
            found |= frame.liveness.before.get(part, frozenset())
    return found


# --- rows -----------------------------------------------------------------------------------------


def _rows(frame: Frame, statement: Statement) -> str | None:
    """The tensor that a loop goes over by rows."""
    if not isinstance(statement, For) or not isinstance(statement.target, Name):
        return None
    iterable = statement.iterable
    held = isinstance(of(iterable), Module)
    return frame.state.path(iterable) if is_tensor(iterable) and not held else None


def _by_index(frame: Frame, loop: For) -> None:
    """`for row in x: x.add_(1)` sees the new rows, and goes by index; a row that is written goes
    back into x."""
    index, over = frame.flow.row_index(loop), loop.iterable
    target = loop.target

    def edit(loop: For) -> None:
        row = Subscript(clone(over), clone(index))
        row.value = Tensor()
        length = Subscript(nodes.attribute(clone(over), "shape", SHAPE), nodes.number(0))
        length.value = Static(type="int")
        loop.body.insert_before(loop.body.body[0], [Assign([clone(target)], row)])
        loop.target.replace(clone(index))
        loop.iterable.replace(nodes.call("range", [length]))

    frame.changes.change(loop, edit)
