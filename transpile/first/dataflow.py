"""Which names statements read before they set them, which they set, and how control leaves them."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Any

import libcst as cst

from . import tree

_COMPREHENSIONS = (cst.ListComp, cst.SetComp, cst.DictComp, cst.GeneratorExp)


def called_once(code: cst.CSTNode, name: str) -> bool:
    """Whether a name is called at one place of a piece of code, and used in no turn of a loop, comprehension or inner function."""
    called = [call for call in tree.nodes(code, cst.Call) if isinstance(call.func, cst.Name) and call.func.value == name]
    turns = tree.nodes(code, cst.For, cst.While, cst.FunctionDef, cst.Lambda, *_COMPREHENSIONS)
    return len(called) == 1 and not any(n.value == name for turn in turns for n in tree.nodes(turn, cst.Name))


def reads(node: cst.CSTNode) -> list[str]:
    """Names that an expression, or all of a statement, reads, in order; those bound inside it left out."""
    found: dict[str, None] = {}
    _reads(node, frozenset(), found)
    return list(found)


def _reads(node: Any, bound: frozenset[str], found: dict[str, None]) -> None:
    if isinstance(node, cst.Name):
        if node.value not in bound and node.value not in ("None", "True", "False"):
            found[node.value] = None
    elif isinstance(node, cst.Attribute):
        _reads(node.value, bound, found)
    elif isinstance(node, cst.Arg):
        _reads(node.value, bound, found)
    elif isinstance(node, (cst.Lambda, cst.FunctionDef)):
        parameters = [p for p in tree.walk(node.params) if isinstance(p, cst.Param)]
        for parameter in parameters:
            if parameter.default is not None:
                _reads(parameter.default, bound, found)
        inner = bound | {p.name.value for p in parameters}
        if isinstance(node, cst.FunctionDef):
            inner |= set(tree.names_assigned(node.body))
        _reads(node.body, inner, found)
    elif isinstance(node, _COMPREHENSIONS):
        inner = bound
        clause: Any = node.for_in
        while clause is not None:
            _reads(clause.iter, inner, found)
            inner |= set(tree.target_names(clause.target))
            for condition in clause.ifs:
                _reads(condition, inner, found)
            clause = clause.inner_for_in
        for part in (node.key, node.value) if isinstance(node, cst.DictComp) else (node.elt,):
            _reads(part, inner, found)
    elif isinstance(node, cst.AssignTarget):
        _target(node.target, bound, found)
    elif isinstance(node, cst.For):
        _reads(node.iter, bound, found)
        _target(node.target, bound, found)
        for block in (node.body, node.orelse):
            if block is not None:
                _reads(block, bound, found)
    elif isinstance(node, cst.Assign):
        _reads(node.value, bound, found)
        for target in node.targets:
            _target(target.target, bound, found)
    elif isinstance(node, cst.AnnAssign):
        if node.value is not None:
            _reads(node.value, bound, found)
        _target(node.target, bound, found)
    elif isinstance(node, cst.IfExp):
        for part in (node.test, node.body, node.orelse):
            _reads(part, bound, found)
    else:
        for child in tree.children(node):
            _reads(child, bound, found)


def _target(node: Any, bound: frozenset[str], found: dict[str, None]) -> None:
    """What an assignment reads on its left: `a[i] = v` reads a and i."""
    if isinstance(node, (cst.Tuple, cst.List)):
        for element in node.elements:
            _target(element.value, bound, found)
    elif isinstance(node, (cst.Subscript, cst.Attribute)):
        _reads(node, bound, found)


def writes(statements: Iterable[cst.CSTNode]) -> list[str]:
    """Names that statements bind or store into (`state["bn"] = …` writes state), in order."""
    found: dict[str, None] = {}
    for statement in statements:
        found.update(dict.fromkeys(tree.names_assigned(statement)))
        for node in itertools.chain([statement], tree.scope_nodes(statement, cst.Assign, cst.AugAssign)):
            targets = [t.target for t in node.targets] if isinstance(node, cst.Assign) else [node.target] if isinstance(node, cst.AugAssign) else []
            found.update(dict.fromkeys(root for t in targets for root in _stored(t)))
    return list(found)


def _stored(target: Any) -> list[str]:
    if isinstance(target, (cst.Tuple, cst.List)):
        return [root for element in target.elements for root in _stored(element.value)]
    if not isinstance(target, cst.Subscript):
        return []
    while isinstance(target, cst.Subscript):
        target = target.value
    return [target.value] if isinstance(target, cst.Name) else []


def read_through(function: Any) -> dict[str, frozenset[str]]:
    """What else is read where a name of a function is: the names that functions inside it read, which it stands for or holds.

        def near(z):
            return z * y
        steps = [near, lambda z: z + x]        near: y, steps: near, x, y
    """
    found: dict[str, frozenset[str]] = {}
    makers: set[str] = set()  # of functions
    if not any(tree.nodes(function.body, cst.FunctionDef, cst.Lambda)):
        return found

    def through(node: Any) -> frozenset[str]:
        if isinstance(node, cst.Name):
            return found.get(node.value, frozenset())
        if isinstance(node, (cst.FunctionDef, cst.Lambda)):
            own = frozenset(reads(node))
            return own.union(*(found.get(name, frozenset()) for name in own))
        called = isinstance(node, cst.Call) and not (isinstance(node.func, cst.Name) and node.func.value in makers)
        return frozenset().union(*map(through, node.args if called else tree.children(node)))

    before = None
    while found != before:
        before = dict(found)
        for node in tree.nodes(function.body, cst.FunctionDef, cst.Assign, cst.For, cst.Expr):
            names, value = _holding(node)
            if isinstance(node, cst.FunctionDef) and any(tree.nodes(node.body, cst.FunctionDef, cst.Lambda)):
                makers.add(node.name.value)
            read = through(value) if names else frozenset()
            found.update({name: found.get(name, frozenset()) | read for name in names if read})
    return found


def _holding(node: Any) -> tuple[list[str], Any]:
    """The names that have what a statement gives them, and that: `steps.append(near)` gives it to steps."""
    if isinstance(node, cst.FunctionDef):
        return [node.name.value], node
    if isinstance(node, cst.For):
        return tree.target_names(node.target), node.iter
    if isinstance(node, cst.Assign):
        return tree.names_assigned(node), node.value
    holder = node.value.func.value if isinstance(node.value, cst.Call) and isinstance(node.value.func, cst.Attribute) else None
    return [holder.value] if isinstance(holder, cst.Name) else [], node.value


def given(node: cst.FunctionDef) -> set[str]:
    """The names that a function starts with: its parameters, and the params and state that its signature is yet to get."""
    return tree.parameter_names(node) | ({"params", "state"} & set(exposed(tree.body_statements(node))))


def exposed(statements: Sequence[Any]) -> list[str]:
    """Names that are read before these statements certainly set them."""
    found: dict[str, None] = {}
    _block(statements, frozenset(), found)
    return list(found)


def certain(statements: Sequence[Any]) -> frozenset[str]:
    """Names that are set on every way through these statements."""
    return _block(statements, frozenset(), {})


def _block(statements: Sequence[Any], known: frozenset[str], found: dict[str, None]) -> frozenset[str]:
    for statement in statements:
        known = _statement(statement, known, found)
    return known


def _statement(node: Any, known: frozenset[str], found: dict[str, None]) -> frozenset[str]:
    if isinstance(node, cst.SimpleStatementLine):
        for small in node.body:
            _reads(small, known, found)
            if isinstance(small, cst.AugAssign):
                _reads(small.target, known, found)
            known |= set(tree.names_assigned(small))
        return known
    if isinstance(node, cst.If):
        _reads(node.test, known, found)
        then = _block(tree.body_statements(node), known, found)
        other = known
        if isinstance(node.orelse, cst.If):
            other = _statement(node.orelse, known, found)
        elif node.orelse is not None:
            other = _block(tree.body_statements(node.orelse), known, found)
        leaves = tree.always_returns(tree.body_statements(node))
        return other if leaves else then & other
    if isinstance(node, cst.For):
        _reads(node.iter, known, found)
        _block(tree.body_statements(node), known | set(tree.target_names(node.target)), found)
        return known if node.orelse is None else _block(tree.body_statements(node.orelse), known, found) & known | known
    if isinstance(node, cst.While):
        _reads(node.test, known, found)
        _block(tree.body_statements(node), known, found)
        return known
    if isinstance(node, cst.With):
        for item in node.items:
            _reads(item, known, found)
        return _block(tree.body_statements(node), known | set(tree.names_assigned(node)), found)
    if isinstance(node, (cst.FunctionDef, cst.ClassDef)):
        _reads(node, known, found)
        return known | {node.name.value}
    _reads(node, known, found)
    return known
