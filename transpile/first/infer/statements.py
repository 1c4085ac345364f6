"""Statements: branches, loops and definitions, and the environments around them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import libcst as cst

from .. import tree
from ..values import NONE, Class, Function, Mapping, Tensor, Value, element_of, is_anything, is_traced, join
from . import environments, functions, narrowing
from .annotations import annotated, holds_numpy
from .assignments import bind
from .evidence import dict_targets
from .frame import Env, Frame, Handlers
from .unrolled import after_turns, with_order


def _line(frame: Frame, node: cst.SimpleStatementLine, env: Env) -> None:
    frame.block(node.body, env)


def _if(frame: Frame, node: cst.If, env: Env) -> None:
    traced = is_traced(frame.expression(node.test, env))
    then, other = dict(env), dict(env)
    narrowing.narrow(frame, node.test, then, other)
    parted = dict(then), dict(other)
    frame.suite(node, then)
    if isinstance(node.orelse, cst.If):
        frame.block([node.orelse], other)
    elif node.orelse is not None:
        frame.suite(node.orelse, other)
    ways = environments.live(node.body, then), environments.live(node.orelse, other)
    before = dict(env)
    environments.merge(env, *ways)
    if None not in ways:
        for way in parted:
            narrowing.restore(before, way, env, node)
    if traced:
        environments.trace_numbers(env, node, before)


def _for(frame: Frame, node: cst.For, env: Env) -> None:
    iterated = frame.expression(node.iter, env)
    counted = frame.facts.counts_on_data(node.iter)
    exact = after_turns(frame, node, iterated, env)
    before, dicts = dict(env), dict_targets(node)
    for _ in range(2):  # the second turn starts from what the first one has set
        bind(frame, node.target, Tensor(kind="i") if counted else element_of(iterated), env)
        env.update({name: Mapping(Tensor(assumed=True)) for name in dicts if is_anything(env[name])})
        _turn(frame, node, env)
        environments.merge(env, dict(env), before)
        if counted or _leaves_on_data(frame, node):
            environments.trace_numbers(env, node)
    with_order(env, exact)
    if node.orelse is not None:
        frame.suite(node.orelse, env)


def _while(frame: Frame, node: cst.While, env: Env) -> None:
    before = dict(env)
    for _ in range(2):
        traced = is_traced(frame.expression(node.test, env))
        _turn(frame, node, env)
        environments.merge(env, dict(env), before)
        if traced or _leaves_on_data(frame, node):
            environments.trace_numbers(env, node)
    if node.orelse is not None:
        frame.suite(node.orelse, env)


def _turn(frame: Frame, node: cst.For | cst.While, env: Env) -> None:
    """The body of a loop: what it sets may be what it is where a `break` or `continue` leaves, `found = x; break`."""
    frame.jumps.append([])
    frame.suite(node, env)
    bound = set(tree.names_assigned(node.body))
    for left in frame.jumps.pop():  # of other names only tests have told something there
        environments.merge(env, dict(env), {name: value for name, value in left.items() if name in bound})


def _jump(frame: Frame, node: cst.Break | cst.Continue, env: Env) -> None:
    if frame.jumps:
        frame.jumps[-1].append(dict(env))


def _leaves_on_data(frame: Frame, loop: Any) -> bool:
    """Whether a loop has a `break` or `continue` under a branch on data."""
    if cst.If not in tree.kinds(loop.body):
        return False
    branches = (n for n in tree.walk_scope(loop.body) if isinstance(n, cst.If))
    return any(is_traced(frame.facts.of(n.test)) and tree.jumps(n) for n in branches)


def _with(frame: Frame, node: cst.With, env: Env) -> None:
    for item in node.items:
        value = frame.expression(item.item, env)
        if item.asname is not None:
            bind(frame, item.asname.name, value, env)
    frame.suite(node, env)


def _try(frame: Frame, node: cst.Try | cst.TryStar, env: Env) -> None:
    frame.suite(node, env)
    for handler in node.handlers:
        inner = dict(env)
        frame.suite(handler, inner)
        environments.merge(env, dict(env), inner)
    for part in (node.orelse, node.finalbody):
        if part is not None:
            frame.suite(part, env)


def _match(frame: Frame, node: cst.Match, env: Env) -> None:
    frame.expression(node.subject, env)
    for case in node.cases:
        frame.suite(case, env)


def _function(frame: Frame, node: cst.FunctionDef, env: Env) -> None:
    """A function inside another is interpreted where it stands, with the names around it; others have their turn by themselves."""
    info = frame.facts.by_node.get(id(node))
    if info is None:
        return
    if info.outer is not None:
        functions.interpret(frame.of_function(info, {**frame.closure, **env}))
    env[info.name] = Function(info)
    if info.outer is None:
        for parameter in info.parameters():
            if parameter.default is not None:
                frame.expression(parameter.default, env)


def _class(frame: Frame, node: cst.ClassDef, env: Env) -> None:
    for base in node.bases:
        frame.expression(base.value, env)
    cls = frame.facts.class_by_node.get(id(node))
    if cls is not None:
        env[cls.name] = Class(cls)
        frame.block([s for s in tree.body_statements(node) if not isinstance(s, cst.FunctionDef)], dict(env))
        for name, declared in [] if cls.is_module else _fields(frame, node):
            frame.facts.set_attribute(cls, name, declared)


def _fields(frame: Frame, node: cst.ClassDef) -> Iterator[tuple[str, Value]]:
    """The fields of a class that are declared to hold arrays of NumPy's: `y: Dict[str, np.ndarray]`."""
    for field in tree.scope_nodes(node.body, cst.AnnAssign):
        declared = annotated(frame, field.annotation.annotation)
        if isinstance(field.target, cst.Name) and declared is not None and holds_numpy(declared):
            yield field.target.value, declared


def _return(frame: Frame, node: cst.Return, env: Env) -> None:
    value = frame.expression(node.value, env) if node.value is not None else NONE
    frame.result = join(frame.result, value)


def _expression(frame: Frame, node: cst.Expr, env: Env) -> None:
    frame.expression(node.value, env)


def _import(frame: Frame, node: cst.Import | cst.ImportFrom, env: Env) -> None:
    """A name that is imported here is looked up among the imports of the file."""
    for alias in node.names if not isinstance(node.names, cst.ImportStar) else ():
        env.pop(tree.bound_by(alias), None)


def _delete(frame: Frame, node: cst.Del, env: Env) -> None:
    frame.expression(node.target, env)


def _check(frame: Frame, node: cst.Assert | cst.Raise, env: Env) -> None:
    for child in tree.children(node):
        if isinstance(child, cst.BaseExpression):
            frame.expression(child, env)
    if isinstance(node, cst.Assert):
        narrowing.narrow(frame, node.test, env, dict(env))


HANDLERS: Handlers = {
    cst.SimpleStatementLine: _line,
    cst.If: _if,
    cst.For: _for,
    cst.While: _while,
    cst.With: _with,
    cst.Try: _try,
    cst.TryStar: _try,
    cst.Match: _match,
    cst.FunctionDef: _function,
    cst.ClassDef: _class,
    cst.Return: _return,
    cst.Break: _jump,
    cst.Continue: _jump,
    cst.Expr: _expression,
    cst.Import: _import,
    cst.ImportFrom: _import,
    cst.Del: _delete,
    cst.Assert: _check,
    cst.Raise: _check,
}
