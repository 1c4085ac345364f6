"""Statements of a constructor in parts: line by line, branch by branch, and without those that have moved away."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from typing import Any

import libcst as cst

from ... import tree


@dataclass(frozen=True)
class Mark:
    """Stands where a moved statement stood: what it needs is stored there."""

    statement: Any
    names: Set[str]


def without_marks(items: list[Any]) -> list[Any]:
    return [i for i in items if not isinstance(i, Mark)]


def returned(line: Any, value: Any) -> Any:
    """`return value` in place of a line."""
    return tree.replace(line, body=[cst.Return(value)])


def branch(statement: cst.If, then: list[Any], other: list[Any]) -> cst.If:
    """An `if` with other sides, one of which may be empty."""
    if not then:
        return cst.If(_negated(statement.test), cst.IndentedBlock(other), leading_lines=statement.leading_lines)
    orelse = None
    if other:
        orelse = other[0] if len(other) == 1 and isinstance(other[0], cst.If) and isinstance(statement.orelse, cst.If) else cst.Else(cst.IndentedBlock(other))
    return cst.If(statement.test, cst.IndentedBlock(then), orelse, leading_lines=statement.leading_lines)


def _negated(test: Any) -> Any:
    if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        return test.expression
    if isinstance(test, cst.Comparison) and len(test.comparisons) == 1:
        flipped = {cst.Is: cst.IsNot, cst.IsNot: cst.Is, cst.Equal: cst.NotEqual, cst.NotEqual: cst.Equal}
        kind = flipped.get(type(test.comparisons[0].operator))
        if kind is not None:
            return tree.replace(test, comparisons=[tree.replace(test.comparisons[0], operator=kind())])
    return unless(test)


def unless(test: Any) -> cst.UnaryOperation:
    """`not test`"""
    return cst.UnaryOperation(cst.Not(), tree.fit(cst.UnaryOperation(cst.Not(), cst.Name("x")), "expression", test))


def one_by_one(line: Any) -> list[Any]:
    """`self.w, self.b = nn.Parameter(w), nn.Parameter(b)` as two lines; none where it is another statement."""
    pairs = _pairs(line.body[0]) if isinstance(line.body[0], cst.Assign) else []
    lines: list[Any] = [cst.SimpleStatementLine([cst.Assign([cst.AssignTarget(target)], value)]) for target, value in pairs]
    if lines:
        lines[0] = tree.replace(lines[0], leading_lines=line.leading_lines)
        lines[-1] = tree.replace(lines[-1], trailing_whitespace=line.trailing_whitespace)
    return lines


def _pairs(node: cst.Assign) -> list[tuple[Any, Any]]:
    """Each target with its value in `self.w, self.b = w, b`; none where one value may depend on another target."""
    target, value = node.targets[0].target, node.value
    if len(node.targets) != 1 or not isinstance(target, cst.Tuple) or not isinstance(value, cst.Tuple) or len(target.elements) != len(value.elements):
        return []
    parts = [e.value for e in target.elements]
    if not all(isinstance(e, cst.Element) for e in (*target.elements, *value.elements)) or not all(isinstance(p, cst.Attribute) for p in parts):
        return []
    names = {tree.code(p) for p in parts}
    holders = {name.split(".")[0] for name in names}
    reads = any(isinstance(n, cst.Attribute) and tree.code(n) in names for n in tree.walk(value))
    called = any((tree.dotted(n.func) or "").split(".")[0] in holders or any(tree.dotted(a.value) in holders for a in n.args) for n in tree.nodes(value, cst.Call))
    return [] if reads or called or any(tree.dotted(p) is None for p in parts) else [(p, e.value) for p, e in zip(parts, value.elements)]


def without_dead(statements: list[Any], locals_: Set[str], moved: Set[str]) -> list[Any]:
    """Leave out assignments of locals that only moved code read."""
    names = set(moved & locals_)
    bound = [_names_bound(small) & locals_ for s in without_marks(statements) for small in tree.nodes(s, cst.Assign)]
    names |= {name for together in bound if together & names for name in together}  # the _ of `q, _ = qr(w)`
    while names:
        left = _pruned(statements, names)
        read = {n for s in without_marks(left) for n in tree.names_read(s)}
        if not names & read:
            return left
        names = names - read
    return statements


def _pruned(statements: list[Any], names: set[str]) -> list[Any]:
    """The statements without assignments of these names, also in branches and loops, of which none is left empty."""
    out: list[Any] = []
    for s in statements:
        small = tree.only_small(s)
        bound = _names_bound(small)
        if bound and bound <= names:
            continue
        if isinstance(s, (cst.If, cst.For, cst.While)) and names & set(tree.names_assigned(s)):
            out += _pruned_block(s, names)
        else:
            out.append(s)
    return out


def _names_bound(small: Any) -> set[str]:
    """The names that a statement assigns, where it assigns names alone: `q, r = …`."""
    target: Any = small.targets[0].target if isinstance(small, cst.Assign) and len(small.targets) == 1 else small.target if isinstance(small, cst.AugAssign) else None
    parts: list[Any] = [e.value for e in target.elements] if isinstance(target, cst.Tuple) else [target]
    return {part.value for part in parts} if all(isinstance(part, cst.Name) for part in parts) else set()


def _pruned_block(s: Any, names: set[str]) -> list[Any]:
    body, other = _pruned(tree.body_statements(s), names), _pruned(tree.else_statements(s), names)
    if isinstance(s, cst.If):
        return [branch(s, body, other)] if body or other else []
    return [tree.with_body(s, body)] if body else other
