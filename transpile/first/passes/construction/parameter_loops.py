"""Loops over the params of a module that give each another initial value: `nn.reinitialise_all(module, initial)`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import libcst as cst

from ... import tree, walks
from ...context import Context
from ...emit import call, spaced
from ...parameter_walks import parameter_walk
from ...project import FunctionInfo
from ...values import External, Function, Torch
from .attribute_names import AttributeNames
from .declarations import present_values
from .present import changing

_COPIED = "a loop writes the params of a module, which are not made yet here: copy them in what init returns, params | {'target': params['online']}"


def over_parameters(context: Context, node: cst.For, info: FunctionInfo, attributes: AttributeNames) -> Any:
    """`for p in self.parameters(): nn.init.xavier_uniform_(p)` gives every param a new initial value; other writes of params are refused."""
    made = _reinitialised(context, node, info, attributes)
    if made is not None or not walks.over_parameters(node):
        return made
    names = set(tree.target_names(node.target))

    def written(n: cst.CSTNode) -> str | None:
        target = n.targets[0].target if isinstance(n, cst.Assign) and id(n) in context.facts.in_place else None
        return target.value if isinstance(target, cst.Name) and target.value in names else None

    if not any(written(n) for n in tree.nodes(node.body, cst.Assign)):
        return None
    target = _copied_into(node, written)
    if target is None:
        return tree.rewrite(node, lambda n: cst.Expr(_refused(context, n)) if written(n) else None, only={cst.Assign})
    function = tree.expression("lambda name, value, key: 0")
    first = next(n for n in tree.nodes(node.body, cst.Assign) if written(n))
    made = call(context.name("reinitialise_all"), [target, tree.replace(function, body=_refused(context, first))])
    return cst.SimpleStatementLine([cst.Expr(made)], leading_lines=node.leading_lines)


def _copied_into(node: cst.For, written: Callable[[cst.CSTNode], str | None]) -> Any:
    """The module whose params get those of another, in a loop that does only that: they are refused where it makes its own."""
    walk: Any = node.iter
    body = tree.body_statements(node)
    if not isinstance(walk, cst.Call) or tree.dotted(walk.func) != "zip" or not isinstance(node.target, cst.Tuple) or not all(isinstance(s, cst.SimpleStatementLine) for s in body):
        return None
    names = {written(small) for s in body for small in s.body}
    for element, argument in zip(node.target.elements, walk.args):
        walked: Any = argument.value
        if names == {tree.code(element.value)} and isinstance(walked, cst.Call) and isinstance(walked.func, cst.Attribute) and walked.func.attr.value == "parameters":
            return walked.func.value
    return None


def _refused(context: Context, assignment: Any) -> Any:
    return context.unconverted("parameter-write", assignment.value, _COPIED)


def _reinitialised(context: Context, node: cst.For, info: FunctionInfo, attributes: AttributeNames) -> Any:
    walk = parameter_walk(context, node)
    if walk is None:
        return None
    name, p = walk.name, walk.p
    body = tree.body_statements(node)
    assigned = [n for s in body for n in tree.nodes(s, cst.Assign) if isinstance(n.targets[0].target, cst.Name) and n.targets[0].target.value == p]
    if not assigned:
        return None
    body = [_returning(s, p) for s in body]
    body = [tree.rewrite(s, lambda n: _passed_on(context, n, p), only={cst.Expr}) for s in body]
    kept = {code: now for code, now in changing(context, attributes, info, node.body).items() if code.partition(".")[0] not in (name, p)}
    body, present = present_values(body, kept)
    defaults = "".join(f", {value}={present[value]}" for value in sorted(present))
    definition = tree.statement(f"def initial({name}, {p}, key{defaults}):\n    pass\n")
    definition = tree.with_body(definition, [*body, tree.statement(f"return {p}")])
    use = cst.SimpleStatementLine([cst.Expr(call(context.name("reinitialise_all"), [walk.module, cst.Name("initial")]))])
    comments = [line for line in node.leading_lines if line.comment is not None]
    return cst.FlattenSentinel([tree.replace(definition, leading_lines=[cst.EmptyLine(indent=False), *comments]), spaced(use)])


def _returning(node: Any, p: str) -> Any:
    """A statement of the loop with `continue` as `return p`; that of loops inside is theirs."""

    def before(n: Any) -> Any:
        return n if isinstance(n, (cst.For, cst.While)) else cst.Return(cst.Name(p)) if isinstance(n, cst.Continue) else None

    return tree.rewrite(node, before, only={cst.For, cst.While, cst.Continue})


def _passed_on(context: Context, node: Any, p: str) -> Any:
    """`self.initialiser(p)` as a statement, of a function that is passed in: what it writes does not come back."""
    made = node.value
    if not isinstance(made, cst.Call) or not any(isinstance(a.value, cst.Name) and a.value.value == p for a in made.args):
        return None
    if isinstance(context.value(made.func), (External, Function, Torch)):
        return None
    return tree.replace(node, value=context.unconverted("aliased-write", made, f"a function that is not known here may write {p} in place: let it return the new value, and assign that"))
