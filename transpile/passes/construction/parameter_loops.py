"""Loops over the params of a module that give each another initial value: `nn.reinitialise_all(module, initial)`."""

from __future__ import annotations

from typing import Any

import libcst as cst

from ... import tree
from ...context import Context
from ...emit import call, spaced
from ...parameter_walks import parameter_walk
from ...values import External, Function, Torch


def over_parameters(context: Context, node: cst.For) -> Any:
    """`for p in self.parameters(): nn.init.xavier_uniform_(p)` gives every param a new initial value."""
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
    definition = tree.statement(f"def initial({name}, {p}, key):\n    pass\n")
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
