"""Statements: branches, loops and definitions, and the environments around them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from ...model import statements as nodes
from ...model.expressions import Call, Name, Subscript
from ...model.fallthrough import own_jumps
from ...model.names import dotted, in_scope, names_assigned
from ...model.node import Expression, Node, Statement
from ...model.program import Class, Function
from ...model.statements import Block
from . import functions, lattice, narrowing
from .annotations import annotated, holds_numpy
from .assignments import assign, bind, store
from .containers_by_use import dict_targets
from .frame import Env, Frame, Handlers
from .joins import join
from .lattice import NONE, UNKNOWN, Mapping, Static, Tensor, element_of, is_anything, is_traced
from .operators import NUMBERS

# --- where ways meet -----------------------------------------------------------------------------


def live(block: Block | None, env: Env) -> Env | None:
    """The environment after a block, or None where the block always leaves."""
    leaving = (nodes.Return, nodes.Raise, nodes.Continue, nodes.Break)
    ends = block is not None and block.form != "elif" and block.body
    return None if ends and isinstance(block.body[-1], leaving) else env  # type: ignore[union-attr]


def merge(into: Env, a: Env | None, b: Env | None) -> None:
    """What holds after two ways: a name that only one of them sets is taken as set."""
    if a is None or b is None:
        into.update(a or b or {})
        return
    for name, first in a.items():
        second = b.get(name)
        into[name] = first if second is None or second is first else join(first, second)
    for name in b.keys() - a.keys():
        into[name] = b[name]


def _assigned(frame: Frame, node: Node) -> list[str]:
    memory = frame.facts.memory
    found = memory.get(node)
    if found is None:
        found = memory[node] = names_assigned(node)
    return found


def _trace_numbers(frame: Frame, env: Env, node: Node, before: Env | None = None) -> None:
    """Numbers that are set under control of data are data themselves: `if x.sum() > 0: n = n + 1`.

    What is not known, `n = self.step`, is data where a number stands on the other way.
    """
    for name in _assigned(frame, node):
        value, old = env.get(name), (before or {}).get(name)
        if value in (UNKNOWN, Static()) and isinstance(old, Static) and old.type in NUMBERS:
            env[name] = Tensor()
        if isinstance(value, Static) and value.type in NUMBERS:
            env[name] = Tensor(kind=NUMBERS[value.type])


# --- control -------------------------------------------------------------------------------------


def if_(frame: Frame, node: nodes.If, env: Env) -> None:
    traced = is_traced(frame.expression(node.test, env))
    if frame.first_turns and (told := narrowing.of_none(node.test, env)) is not None:
        frame.block(node.body if told else node.orelse, env)  # the other way has its turn
        return
    then, other = dict(env), dict(env)
    narrowing.narrow(frame, node.test, then, other)
    parted = dict(then), dict(other)
    frame.block(node.body, then)
    frame.block(node.orelse, other)
    ways = live(node.body, then), live(node.orelse, other)
    before = dict(env)
    merge(env, *ways)
    if None not in ways:
        for way in parted:
            _restore(frame, before, way, env, node)
    if traced:
        _trace_numbers(frame, env, node, before)


def _restore(frame: Frame, before: Env, then: Env, env: Env, node: nodes.If) -> None:
    """After an `if` both of whose ways lead on, what a test said of a name holds no longer."""
    narrowed = [name for name, value in before.items() if then.get(name) is not value]
    if narrowed:
        assigned = _assigned(frame, node)
        env.update({name: before[name] for name in narrowed if name not in assigned})


def for_(frame: Frame, node: nodes.For, env: Env) -> None:
    iterated = frame.expression(node.iterable, env)
    counted = _counts_on_data(frame, node.iterable)
    before, dicts = dict(env), dict_targets(frame.facts, node)
    for more in (1, 0):  # the second turn starts from what the first one has set
        item = Tensor(kind="i") if counted else element_of(iterated)
        bind(frame, node.target, item, env)
        for name in dicts:
            if is_anything(env[name]):
                env[name] = Mapping(Tensor(assumed=True))
        _turn(frame, node, env, more)
        merge(env, dict(env), before)
        if counted or _leaves_on_data(frame, node):
            _trace_numbers(frame, env, node)
    frame.block(node.orelse, env)


def _counts_on_data(frame: Frame, node: Expression) -> bool:
    """`range(n)` of a number that only the data tells."""
    if not isinstance(node, Call) or dotted(node.function) != "range":
        return False
    return any(is_traced(frame.facts.of(a)) for a in node.arguments)


def while_(frame: Frame, node: nodes.While, env: Env) -> None:
    before = dict(env)
    for more in (1, 0):
        traced = is_traced(frame.expression(node.test, env))
        _turn(frame, node, env, more)
        merge(env, dict(env), before)
        if traced or _leaves_on_data(frame, node):
            _trace_numbers(frame, env, node)
    frame.block(node.orelse, env)


def _turn(frame: Frame, node: nodes.For | nodes.While, env: Env, more: int) -> None:
    """The body of a loop: what it sets may be what it is where a `break` leaves."""
    frame.jumps.append([])
    frame.first_turns += more
    frame.block(node.body, env)
    frame.first_turns -= more
    left_at = frame.jumps.pop()
    bound = set(_assigned(frame, node.body)) if left_at else ()
    for left in left_at:  # of other names only tests have told something there
        merge(env, dict(env), {name: value for name, value in left.items() if name in bound})


def jump(frame: Frame, node: Statement, env: Env) -> None:
    if frame.jumps:
        frame.jumps[-1].append(dict(env))


def _leaves_on_data(frame: Frame, loop: nodes.For | nodes.While) -> bool:
    """Whether a loop has a `break`, `continue` or `return` under a branch on data."""
    memory = frame.facts.memory
    branches = memory.get(("leaving", loop))
    if branches is None:
        branches = [
            n
            for n in in_scope(loop.body, nodes.If)
            if own_jumps(n) or any(in_scope(n, nodes.Return))
        ]
        memory["leaving", loop] = branches
    return any(is_traced(frame.facts.of(n.test)) for n in branches)


def with_(frame: Frame, node: nodes.With, env: Env) -> None:
    for context, target in node.pairs:
        value = frame.expression(context, env)
        if target is not None:
            bind(frame, target, value, env)
    frame.block(node.body, env)


def try_(frame: Frame, node: nodes.Try, env: Env) -> None:
    frame.block(node.body, env)
    for handler in node.handlers:
        inner = dict(env)
        frame.block(handler.body, inner)
        merge(env, dict(env), inner)
    frame.block(node.orelse, env)
    frame.block(node.final, env)


def opaque(frame: Frame, node: nodes.OpaqueStatement, env: Env) -> None:
    """`match`: what it asks, and what it runs. The names in its patterns are parts of what is
    asked: arrays where any of that is one."""
    for part in node.inside:
        if isinstance(part, Block):
            frame.block(part, env)
        elif isinstance(part, Expression):
            found = frame.expression(part, env)
            if part is node.inside[0]:
                parts = (found.items or ()) if isinstance(found, lattice.Sequence) else (found,)
                array = any(isinstance(one, Tensor) for one in parts)
                held = Tensor(assumed=True) if array else UNKNOWN
                env.update(dict.fromkeys(node.binds, held))


# --- definitions ---------------------------------------------------------------------------------


def function(frame: Frame, node: Function, env: Env) -> None:
    """A function inside another is interpreted where it stands; others have their own turn."""
    if frame.facts.project.outer(node) is not None:
        inner = frame.of_function(node, {**frame.closure, **env})
        for name, grown in functions.interpret(inner, node):
            env[name] = join(env.get(name), grown)
        env[node.name] = lattice.Function(node)
        return
    env[node.name] = lattice.Function(node)
    for parameter in frame.facts.project.parameters(node):
        if parameter.default is not None:
            frame.expression(parameter.default, env)


def class_(frame: Frame, node: Class, env: Env) -> None:
    for base, word in zip(node.bases, node.keywords):
        if word is None:
            frame.expression(base, env)
    env[node.name] = lattice.Class(node)
    frame.run((s for s in node.body.body if not isinstance(s, Function)), dict(env))
    if not frame.facts.project.is_module(node):
        for name, declared in _fields(frame, node):
            frame.facts.set_attribute(node, name, declared)


def _fields(frame: Frame, node: Class) -> Iterator[tuple[str, lattice.Value]]:
    """The fields that are declared to hold arrays of NumPy's: `y: Dict[str, np.ndarray]`."""
    for assignment in node.nodes(nodes.Assign):
        target = assignment.targets[0]
        if assignment.annotation is not None and isinstance(target, Name):
            declared = annotated(frame, assignment.annotation)
            if declared is not None and holds_numpy(declared):
                yield target.id, declared


# --- simple statements ---------------------------------------------------------------------------


def return_(frame: Frame, node: nodes.Return, env: Env) -> None:
    value = frame.expression(node.expression, env) if node.expression is not None else NONE
    frame.result = join(frame.result, value)


def expression(frame: Frame, node: nodes.ExpressionStatement, env: Env) -> None:
    frame.expression(node.expression, env)


def import_(frame: Frame, node: nodes.Import, env: Env) -> None:
    """A name that is imported here is looked up among the imports of the file."""
    for one in node.names:
        env.pop(one.bound, None)


def delete(frame: Frame, node: nodes.Delete, env: Env) -> None:
    """`del self.layers[0]`: the others stand in other places."""
    frame.inside(node, env)
    for target in node.targets:
        if not isinstance(target, Subscript):
            continue
        held = frame.facts.of(target.object)
        if isinstance(held, (lattice.Sequence, lattice.Module)) and held.items is not None:
            store(frame, target.object, dataclasses.replace(held, items=None), env)


def check(frame: Frame, node: nodes.Assert | nodes.Raise, env: Env) -> None:
    frame.inside(node, env)
    if isinstance(node, nodes.Assert):
        narrowing.narrow(frame, node.test, env, dict(env))


STATEMENTS: Handlers = {
    nodes.Assign: assign,
    nodes.If: if_,
    nodes.For: for_,
    nodes.While: while_,
    nodes.With: with_,
    nodes.Try: try_,
    nodes.OpaqueStatement: opaque,
    Function: function,
    Class: class_,
    nodes.Return: return_,
    nodes.Break: jump,
    nodes.Continue: jump,
    nodes.ExpressionStatement: expression,
    nodes.Import: import_,
    nodes.Delete: delete,
    nodes.Assert: check,
    nodes.Raise: check,
}
