"""The walk over expressions: what in them needs effects, and what of it cannot stay in one."""

from __future__ import annotations

from typing import Any

import libcst as cst

from ... import tree
from ...values import Class, Function, Module
from . import attributes, extraction, references
from .arguments import own_parameters
from .containers import iterate, parameters
from .scope import Scope

_COMPREHENSIONS = (cst.ListComp, cst.GeneratorExp, cst.SetComp, cst.DictComp)


def visit(scope: Scope, node: Any) -> Any:
    """What takes the place of a node; None to go on below."""
    kind = node.__class__  # isinstance is slow to ask where the answer is mostly no
    if kind in (cst.Import, cst.ImportFrom):
        return node
    if kind is cst.Call:
        for construct in (attributes.asked, references.checkpointed, _of_parameters):
            if (made := construct(scope, node)) is not None:
                return made
        return extraction.call(scope, node)
    if kind is cst.Attribute and id(node) in scope.lists.leaves:
        return tree.expression(f"{tree.code(node)}.layers()")
    if kind is cst.Attribute:
        return attributes.attribute(scope, node)
    if kind is cst.UnaryOperation and isinstance(node.operator, cst.Not) and isinstance(node.expression, cst.Call):
        return _not_there(attributes.asked(scope, node.expression))
    if kind is cst.Comparison:
        return attributes.none_test(scope, node)
    if kind is cst.Subscript:
        return attributes.entry(scope, node)
    if kind is cst.Arg and node.keyword is not None:
        value = scope.expression(node.value)
        return node if value is node.value else tree.replace(node, value=tree.fit(node, "value", value))
    if kind in _COMPREHENSIONS:
        return _comprehension(scope, node)
    if kind is cst.IfExp and (scope.stateful_calls(node.body) or scope.stateful_calls(node.orelse)):
        return extraction.chosen(scope, node)
    if kind is cst.BooleanOperation and scope.stateful_calls(node.right):
        return extraction.refused(scope, node)
    if kind is cst.Lambda and scope.stateful_calls(node.body):
        return extraction.refused(scope, node)
    if kind is cst.Lambda:
        return _lambda(scope, node)
    if kind is cst.Name:
        bound = references.reference(scope, node)
        return bound if bound is not None else scope.renamed(node) if node.value in scope.renames else None
    return None


def _of_parameters(scope: Scope, node: cst.Call) -> Any:
    """`sum(self.weights)`, `self.weights.values()` of a list or dict of params; None of other calls."""
    if isinstance(node.func, cst.Attribute) and not node.args and (arrays := parameters(scope, node.func)) is not None:
        return arrays
    if isinstance(scope.facts.of(node.func), (Function, Module, Class)) or tree.dotted(node.func) in ("len", "isinstance", "type", "id"):
        return None
    given = {id(a): parameters(scope, a.value) for a in node.args}
    if not any(given.values()):
        return None
    if tree.dotted(node.func) == "list":
        return given[id(node.args[0])]
    args = [tree.replace(a, value=given[id(a)] if given[id(a)] is not None else scope.expression(a.value)) for a in node.args]
    return tree.replace(node, func=scope.callee(node.func), args=args)


def _not_there(test: Any) -> Any:
    """`"w" not in params` of the test that `not hasattr(self, "w")` denies; None of other tests."""
    if not isinstance(test, cst.Comparison) or not isinstance(test.comparisons[0].operator, cst.In):
        return None
    return tree.replace(test, comparisons=[tree.replace(test.comparisons[0], operator=cst.NotIn())])


def _lambda(scope: Scope, node: cst.Lambda) -> Any:
    params = own_parameters(scope, node.params)
    with scope.inside(node):
        body = scope.expression(node.body)
    if params is node.params and body is node.body:
        return node
    new = tree.replace(node, params=params, body=body)
    scope.facts.carry(node, new)
    return new


def _comprehension(scope: Scope, node: Any) -> Any:
    if scope.stateful_calls(node):
        if isinstance(node, (cst.ListComp, cst.GeneratorExp)) and node.for_in.inner_for_in is None:
            return extraction.unrolled(scope, node)
        return extraction.refused(scope, node)
    with scope.inside(node):
        return _clauses(scope, node)


def _clauses(scope: Scope, node: Any) -> Any:
    clauses = []
    clause = node.for_in
    while clause is not None:
        target, iterated = iterate(scope, clause.target, clause.iter)
        ifs = [scope.expression(i) for i in clause.ifs]
        clauses.append(tree.replace(clause, target=target, iter=iterated, ifs=ifs, inner_for_in=None))
        clause = clause.inner_for_in
    inner = None
    for clause in reversed(clauses):
        inner = tree.replace(clause, inner_for_in=inner)
    parts = ("key", "value") if isinstance(node, cst.DictComp) else ("elt",)
    new = tree.replace(node, for_in=inner, **{part: scope.expression(getattr(node, part)) for part in parts})
    scope.facts.carry(node, new)
    return new
