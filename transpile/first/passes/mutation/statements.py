"""The walk over the statements of a function: what is live and what shares memory at each, and what comes before and after it."""

from __future__ import annotations

from typing import Any

import libcst as cst

from ... import tree
from ...context import Context
from ...memory import Env, merge
from ...project import FunctionInfo
from .assignments import small
from .calls import may_write
from .expressions import rewritten
from .frame import Frame
from .rows import Stale, picking
from .shapes import of_views
from .summaries import Mutations


def run(context: Context, node: cst.FunctionDef, info: FunctionInfo, mutations: Mutations, runs: bool) -> cst.FunctionDef:
    """Rewrite the in-place operations of one function."""
    if not may_write(context, node, info, mutations):
        return node
    node = of_views(context, node)
    while True:
        try:
            frame = Frame(context, node, info, mutations, runs)
            return tree.with_body(node, _block(frame, tree.body_statements(node)))
        except Stale as stale:
            node = picking(context, stale.loop, node)


def _block(frame: Frame, statements: list[Any]) -> list[Any]:
    out: list[Any] = []
    for statement in statements:
        out.extend(_statement(frame, statement))
    return [s for i, s in enumerate(out) if id(s) not in frame.followers or not _is_overwritten(frame, s, out[i + 1 :])]


def _is_overwritten(frame: Frame, statement: Any, rest: list[Any]) -> bool:
    """Whether the same block assigns again what an alias got to follow a write, before anything reads it."""
    _, name = frame.followers[id(statement)]
    for later in rest:
        if name in frame.liveness.reads(later) or not isinstance(later, cst.SimpleStatementLine):
            return False
        if name in frame.liveness.writes(later):
            return True
    return False


def _suite(frame: Frame, node: Any) -> Any:
    body = tree.body_statements(node)
    new = _block(frame, body)
    return node if tree.same(new, body) else tree.with_body(node, new)


def _statement(frame: Frame, node: Any) -> list[Any]:
    with frame.at(node):
        new = _line(frame, node) if isinstance(node, cst.SimpleStatementLine) else [_compound(frame, node)]
        out = [*frame.prelude, *new, *frame.after]
        if frame.prelude and hasattr(node, "leading_lines"):  # comments stay above all that the statement has become
            out[0] = tree.replace(out[0], leading_lines=node.leading_lines)
            if new:
                out[len(frame.prelude)] = tree.replace(new[0], leading_lines=[])
    return out


def _line(frame: Frame, node: cst.SimpleStatementLine) -> list[Any]:
    frame.current = node
    smalls = [made for one in node.body if (made := small(frame, one)) is not None]
    if not any(id(one) in frame.mutations.taken for one in node.body):
        frame.memory.transfer(node)
    if tree.same(smalls, node.body):
        return [node]
    return [tree.replace(node, body=smalls)] if smalls else []


def _head(frame: Frame, node: Any, expression: Any) -> Any:
    """The test of a branch or loop, what a loop goes over, or a context: what it writes in place is written before the statement."""
    frame.current = cst.SimpleStatementLine([cst.Expr(expression)])
    frame.rebound, frame.assigned = frozenset(), None
    frame.inside = frame.liveness.inside.get(id(node), frozenset())
    frame.live |= frame.inside
    new = rewritten(frame, expression)
    frame.inside = frozenset()
    frame.memory.evaluated(expression)
    if new is not expression and isinstance(node, cst.While):
        frame.prelude, frame.after = [], []  # once is not every turn
        return frame.context.unconverted("aliased-write", expression, "the condition of a loop writes in place: write it in the body of `while True`")
    return new


def _compound(frame: Frame, node: Any) -> Any:
    if isinstance(node, cst.FunctionDef):
        return _inner(frame, node)
    if isinstance(node, cst.ClassDef):
        return node
    if isinstance(node, cst.Match):
        return tree.replace(node, cases=[_suite(frame, case) for case in node.cases])
    memory = frame.memory
    changes: dict[str, Any] = {name: _head(frame, node, getattr(node, name)) for name in ("test", "iter") if hasattr(node, name)}
    if isinstance(node, cst.With):
        items = [tree.replace(item, item=new) if (new := _head(frame, node, item.item)) is not item.item else item for item in node.items]
        changes = {} if tree.same(items, node.items) else {"items": items}
    before = dict(memory.env)
    if isinstance(node, (cst.For, cst.While)):
        memory.transfer(node)  # what holds at the head of any turn
        memory.env = merge(before, memory.env)
        if isinstance(node, cst.For):
            memory.loop_target(node)
    new = _turn(frame, node)
    after = memory.env
    ends = _other_parts(frame, node, before, changes)
    if not isinstance(node, cst.With) and not (isinstance(node, cst.If) and node.orelse is not None):
        ends.append(before)
    memory.env = after
    for end in ends:
        memory.env = merge(memory.env, end)
    changes = {k: v for k, v in changes.items() if v is not getattr(new, k)}
    made = tree.replace(new, **changes) if changes else new
    frame.facts.carry(node, made)
    return made


def _turn(frame: Frame, node: Any) -> Any:
    """The statement with its own body rewritten: inside a loop over the rows of a tensor, that is known of writes."""
    by_row = isinstance(node, cst.For) and isinstance(node.target, cst.Name) and frame.is_tensor(node.iter)
    over = frame.memory.name(node.iter) if by_row else None
    if over is None:
        return _suite(frame, node)
    frame.rows.append((node, over))
    new = _suite(frame, node)
    frame.rows.pop()
    return new


def _other_parts(frame: Frame, node: Any, before: Env, changes: dict[str, Any]) -> list[Env]:
    """Rewrite what a statement has beside its body, into `changes`; what holds at the ends of these parts."""
    memory, after, ends = frame.memory, frame.memory.env, []
    for name in ("orelse", "finalbody"):
        part = getattr(node, name, None)
        if part is not None:
            memory.env = dict(before) if isinstance(node, cst.If) else memory.env
            changes[name] = _otherwise(frame, part) if isinstance(part, cst.If) else _suite(frame, part)
            ends.append(memory.env)
    if hasattr(node, "handlers"):
        changes["handlers"] = []
        for handler in node.handlers:
            memory.env = merge(before, after)
            changes["handlers"].append(_suite(frame, handler))
            ends.append(memory.env)
    return ends


def _otherwise(frame: Frame, node: cst.If) -> cst.If | cst.Else:
    """An `elif`; where something must come before it, an `else` with that and an `if`."""
    made = _statement(frame, node)
    if len(made) == 1:
        return made[0]  # type: ignore[no-any-return]
    return cst.Else(cst.IndentedBlock([tree.replace(one, leading_lines=[]) if isinstance(one, cst.If) else one for one in made]), leading_lines=node.leading_lines)


def _inner(frame: Frame, node: cst.FunctionDef) -> cst.FunctionDef:
    """A function in the function: what it writes of the names around it cannot be returned by it."""
    info = frame.facts.by_node.get(id(node))
    if info is None:
        return node
    new = run(frame.context, node, info, frame.mutations, frame.runs or info in frame.mutations.running)
    frame.facts.carry(node, new)
    outside = set(tree.names_assigned(new.body)) - set(tree.names_assigned(node.body)) - tree.parameter_names(node)
    for name in sorted(outside & set(frame.memory.env)):
        frame.context.report("aliased-write", node.name, f"{node.name.value} writes {name} of the function around it in place: pass {name} in and return it")
    return new
