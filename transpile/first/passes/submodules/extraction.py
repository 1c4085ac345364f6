"""What is taken out of an expression into statements before it: calls that return new state, and what they stand in."""

from __future__ import annotations

from typing import Any

import libcst as cst

from ... import tree
from ...effects import ALL
from ...emit import display, fresh_name
from .calls import called
from .containers import iterate
from .scope import Scope


def call(scope: Scope, node: cst.Call) -> Any:
    """A converted call; one that returns new state goes before the statement, and its result stands here."""
    made = called(scope, node)
    if made.state is None:
        return made.node
    if scope.nested or not made.state.startswith("state"):
        return refused(scope, node)
    name = scope.hint or _temporary(scope, node)
    bind(scope, cst.Name(name), made.state, made.node)
    return _named(scope, node, name)


def _named(scope: Scope, node: Any, name: str) -> Any:
    """The name that stands for what was taken out, with its value: `not self.reached(2)` is `~reached` where data tell."""
    made = cst.Name(name)
    scope.facts.carry(node, made)
    return made


def bind(scope: Scope, target: Any, state: str, value: Any) -> None:
    """`target, state["bn"] = value` before the current statement."""
    if state != "state":
        scope.writes.add(state.count("["))
    scope.prelude.append(tree.assignment(display([target, tree.expression(state)]), value))


def refused(scope: Scope, node: Any) -> Any:
    return scope.context.unconverted("state-in-expression", node, "a module with state is called where its new state cannot be kept")


def chosen(scope: Scope, node: cst.IfExp) -> Any:
    """A conditional expression with a stateful call in it becomes an `if` statement."""
    name = scope.hint if scope.hint and scope.hint != "_" else fresh_name(scope.used, "y")
    scope.hint = None
    test = scope.expression(node.test)
    branches = []
    for part in (node.body, node.orelse):
        with scope.apart() as prelude:
            scope.hint = name if not read_outside(scope, part, name) else None
            value = scope.expression(part)
            scope.hint = None
        named = prelude and isinstance(value, cst.Name) and value.value == name
        branches.append([*prelude, *([] if named else [tree.assignment(name, value)])])
    scope.prelude.append(cst.If(test, cst.IndentedBlock(branches[0]), cst.Else(cst.IndentedBlock(branches[1]))))
    return _named(scope, node, name)


def unrolled(scope: Scope, node: cst.ListComp | cst.GeneratorExp) -> Any:
    """A list of stateful calls becomes a loop that appends."""
    name = fresh_name(scope.used, "outputs")
    scope.hint = None
    node = _with_own_names(scope, node)
    target, iterated = iterate(scope, node.for_in.target, node.for_in.iter)
    with scope.apart() as prelude:
        value = scope.expression(node.elt)
    append = tree.replace(tree.expression(f"{name}.append()"), args=[cst.Arg(value)])
    body: list[Any] = [*prelude, cst.SimpleStatementLine([cst.Expr(append)])]
    for condition in reversed(node.for_in.ifs):
        body = [cst.If(scope.expression(condition.test), cst.IndentedBlock(body))]
    scope.prelude.append(tree.statement(f"{name} = []"))
    scope.prelude.append(cst.For(target, iterated, cst.IndentedBlock(body)))
    return _named(scope, node, name)


def _with_own_names(scope: Scope, node: Any) -> Any:
    """A comprehension whose names no statement reads later, as those of a loop would be there then: `[self.bn(x) for x in xs], x`."""
    names = {name: fresh_name(scope.used, name) for name in tree.target_names(node.for_in.target) if scope.lives_on(name, node)}
    if not names:
        return node

    def renamed(n: cst.Name) -> Any:
        if n.value not in names:
            return None
        new = cst.Name(names[n.value])
        scope.facts.carry(n, new)
        return new

    iterated = node.for_in.iter  # of what is around it
    new = tree.with_names(node, renamed)
    return tree.replace(new, for_in=tree.replace(new.for_in, iter=iterated))


def read_outside(scope: Scope, node: cst.BaseExpression, name: str) -> bool:
    """Whether a name is read outside the innermost stateful calls of an expression, or there are none."""
    calls = scope.stateful_calls(node)
    if not calls:
        return True
    inside = sum(1 for n in tree.nodes(calls[-1], cst.Name) if n.value == name)
    total = sum(1 for n in tree.nodes(node, cst.Name) if n.value == name)
    return total > inside or len(calls) > 1 and not all(any(c is n for n in tree.walk(calls[0])) for c in calls)


def _temporary(scope: Scope, node: cst.Call) -> str:
    """A name for a result taken out of its expression: the module's."""
    func = node.func
    while isinstance(func, (cst.Subscript, cst.Call)):
        func = func.value if isinstance(func, cst.Subscript) else func.func
    stem = func.attr.value if isinstance(func, cst.Attribute) else func.value if isinstance(func, cst.Name) else "y"
    if stem in ("forward", "__call__", "getattr"):
        stem = "y"
    return fresh_name(scope.used, f"{stem}_" if stem in ALL else stem)
