"""Locals that nothing reads any more once the rules are applied: of `device = x.device` no call asks here.

    device = x.device                                        ->
    b, n, device = *x.shape, x.device                               b, n = x.shape
    Long = torch.LongTensor                                         (nothing)
    if device is None:                                              (nothing)
        device = x.device

Names that are still in a call that was not converted stay: whoever finishes it needs them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from dataclasses import dataclass
from typing import Any

import libcst as cst

from .. import tree
from ..context import Context

_IDENTIFIERS = re.compile(r"[^\W\d]\w*")
_PURE = (cst.Name, cst.Integer, cst.Float, cst.SimpleString)


@dataclass(frozen=True)
class _Binding:
    """A name and the value that it is given, alone or in a tuple."""

    name: str
    value: Any
    made: bool  # a constant that a rule has made: None, of a device


def run(context: Context, module: cst.Module) -> cst.Module:
    """Rewrite the functions of one file."""

    def after(node: Any) -> Any:
        new = _without_unread(context, node)
        if new is not node:
            context.facts.carry(node, new)
        return new

    return tree.rewrite(module, None, after, only={cst.FunctionDef})  # type: ignore[no-any-return]


def _without_unread(context: Context, node: cst.FunctionDef) -> cst.FunctionDef:
    if id(node) not in context.facts.origin:
        return node
    written: Any = context.facts.origin[id(node)]
    bindings = [b for small in tree.scope_nodes(node.body, cst.Assign) for b in _bindings(context, small)]
    once_read = _loads(written.body, frozenset())
    unread = {b.name for b in bindings if b.made or b.name in once_read} - {n.name.value for n in tree.nodes(node, cst.NameItem)}
    if not unread or "locals" in once_read:
        return node
    while True:
        gone = {id(b.value) for b in bindings if b.name in unread}
        gone |= {id(n) for n in tree.scope_nodes(node.body, cst.If) if _goes(n, unread, gone)}
        still = unread - _loads(node.body, gone)
        if still == unread:
            break
        unread = still
    return _Removal(unread, gone).function(node) if gone else node


def _bindings(context: Context, small: cst.Assign) -> Iterator[_Binding]:
    """The names that an assignment gives values that only name things."""
    if len(small.targets) != 1:
        return
    original: Any = context.facts.origin.get(id(small), small)
    changed = tree.code(original) != tree.code(small)
    for target, value in _pairs(small.targets[0].target, small.value):
        if isinstance(target, cst.Name) and _is_pure(value):
            yield _Binding(target.value, value, changed and tree.code(value) == "None")


def _pairs(target: Any, value: Any) -> list[tuple[Any, Any]]:
    """What is assigned to what: in `b, n, device = *x.shape, x.device` the last to the last."""
    if not isinstance(target, (cst.Tuple, cst.List)) or not isinstance(value, (cst.Tuple, cst.List)):
        return [(target, value)]
    plain = [not isinstance(e, cst.StarredElement) for e in value.elements]
    if any(isinstance(e, cst.StarredElement) for e in target.elements) or plain.count(False) > 1 or len(target.elements) < sum(plain):
        return []
    before = plain.index(False) if False in plain else len(plain)
    behind = len(plain) - before - 1 if False in plain else 0
    ends = [*zip(target.elements[:before], value.elements[:before]), *zip(target.elements[len(target.elements) - behind :], value.elements[len(plain) - behind :])]
    return [(t.value, v.value) for t, v in ends]


def _is_pure(value: Any) -> bool:
    """Whether an expression does nothing but name, compare and choose."""
    if isinstance(value, cst.Attribute):
        return _is_pure(value.value)
    if isinstance(value, (cst.IfExp, cst.Comparison, cst.BooleanOperation, cst.UnaryOperation)):
        inner = [n for n in tree.children(value) if isinstance(n, cst.BaseExpression)]
        return all(map(_is_pure, [*inner, *(t.comparator for t in getattr(value, "comparisons", ()))]))
    return isinstance(value, _PURE)


def _goes(node: cst.If, unread: Set[str], gone: Set[int]) -> bool:
    """Whether nothing is left of a branch: `if device is None: device = x.device`."""
    if node.orelse is not None or not _is_pure(node.test):
        return False
    smalls = [tree.only_small(s) for s in tree.body_statements(node)]
    return all(isinstance(s, cst.Assign) and id(s.value) in gone and set(tree.names_assigned(s)) <= unread for s in smalls)


def _loads(node: Any, gone: Set[int]) -> set[str]:
    """The names that code reads, but for the values and branches that go; those in calls that were not converted count."""
    found: set[str] = set()
    stack = [node]
    while stack:
        current = stack.pop()
        if id(current) in gone:
            continue
        if isinstance(current, cst.Name):
            found.add(current.value)
        elif isinstance(current, cst.AssignTarget):
            stack.extend(e for e in _elements(current.target) if not isinstance(e, cst.Name))
        elif isinstance(current, (cst.Attribute, cst.Arg)):
            stack.append(current.value)
        elif isinstance(current, cst.Param):
            stack.extend(n for n in (current.default, current.annotation) if n is not None)
        else:
            if isinstance(current, cst.Call) and (tree.dotted(current.func) or "").rpartition(".")[2] == "unconverted":
                found |= set(_IDENTIFIERS.findall(tree.code(current)))
            stack.extend(tree.children(current))
    return found


def _elements(target: Any) -> list[Any]:
    return [inner for e in target.elements for inner in _elements(e.value)] if isinstance(target, (cst.Tuple, cst.List)) else [target]


class _Removal:
    """Takes what is not read out of a function; comments above it stay."""

    def __init__(self, unread: Set[str], gone: Set[int]) -> None:
        self.unread, self.gone = unread, gone

    def function(self, node: cst.FunctionDef) -> cst.FunctionDef:
        return tree.replace(node, body=tree.rewrite(node.body, self._left, self._after, only={cst.FunctionDef, cst.ClassDef, cst.If, cst.Assign, cst.IndentedBlock}))

    def _left(self, node: Any) -> Any:
        """Inner functions have names of their own; a branch that goes does so as it is."""
        return node if isinstance(node, (cst.FunctionDef, cst.ClassDef)) or id(node) in self.gone else None

    def _after(self, node: Any) -> Any:
        if isinstance(node, cst.Assign):
            return self._shortened(node)
        if not isinstance(node, cst.IndentedBlock) or not any(map(self._goes, node.body)):
            return node
        return tree.replace(node, body=tree.without(node.body, self._goes) or [tree.statement("pass")])

    def _goes(self, statement: Any) -> bool:
        small = tree.only_small(statement)
        return id(statement) in self.gone or isinstance(small, cst.Assign) and not self._kept(small)

    def _kept(self, small: cst.Assign) -> list[tuple[Any, Any]]:
        """What an assignment gives to names that are read, or to anything else."""
        pairs = _pairs(small.targets[0].target, small.value) if len(small.targets) == 1 else []
        return [(t, v) for t, v in pairs if not (id(v) in self.gone and isinstance(t, cst.Name) and t.value in self.unread)] if pairs else [(None, small.value)]

    def _shortened(self, node: cst.Assign) -> Any:
        """`b, n = x.shape` of `b, n, device = *x.shape, None`."""
        target: Any = node.targets[0].target
        value: Any = node.value
        pairs = _pairs(target, value) if isinstance(target, (cst.Tuple, cst.List)) else []
        lost = {id(n) for t, v in pairs if id(v) in self.gone and t.value in self.unread for n in (t, v)}
        if not lost or len(lost) == 2 * len(target.elements):
            return node
        targets, values = ([e for e in side.elements if id(e.value) not in lost] for side in (target, value))
        if len(values) == 1 and isinstance(values[0], cst.StarredElement):
            return tree.replace(node, targets=[cst.AssignTarget(_tuple(targets))], value=values[0].value)
        one = len(targets) == 1
        return tree.replace(node, targets=[cst.AssignTarget(targets[0].value if one else _tuple(targets))], value=values[0].value if one else _tuple(values))


def _tuple(elements: list[Any]) -> cst.Tuple:
    return cst.Tuple([*elements[:-1], tree.replace(elements[-1], comma=cst.MaybeSentinel.DEFAULT)], lpar=[], rpar=[])
