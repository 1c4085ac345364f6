"""Loops over the params of a module that give each another initial value: `nn.reinitialise_all(module, initial)`."""

from __future__ import annotations

from typing import Any

import libcst as cst

from ... import tree
from ...context import Context
from ...emit import call, spaced
from ...values import External, Function, Torch


def over_parameters(context: Context, node: cst.For) -> Any:
    """`for p in self.parameters(): nn.init.xavier_uniform_(p)` gives every param a new initial value."""
    walk: Any = node.iter
    if not (isinstance(walk, cst.Call) and isinstance(walk.func, cst.Attribute) and walk.func.attr.value in ("parameters", "named_parameters")):
        return None
    names = _names(node.target, walk.func.attr.value == "named_parameters")
    if names is None:
        return None
    name, p = names
    body = tree.body_statements(node)
    assigned = [n for s in body for n in tree.nodes(s, cst.Assign) if isinstance(n.targets[0].target, cst.Name) and n.targets[0].target.value == p]
    if not assigned:
        return cst.RemoveFromParent() if _only_flags(body) else None
    if any(isinstance(n, (cst.Continue, cst.Break)) for s in body for n in tree.walk(s)):
        return None
    body = [tree.rewrite(s, lambda n: _passed_on(context, n, p), only={cst.Expr}) for s in body]
    definition = tree.statement(f"def initial({name}, {p}, key):\n    pass\n")
    definition = tree.with_body(definition, [*body, tree.statement(f"return {p}")])
    use = cst.SimpleStatementLine([cst.Expr(call(context.name("reinitialise_all"), [walk.func.value, cst.Name("initial")]))])
    comments = [line for line in node.leading_lines if line.comment is not None]
    return cst.FlattenSentinel([tree.replace(definition, leading_lines=[cst.EmptyLine(indent=False), *comments]), spaced(use)])


def _names(target: Any, named: bool) -> list[str] | None:
    """What a loop calls the name of a param and the param; None where it takes them apart otherwise."""
    if not named:
        return ["name", target.value] if isinstance(target, cst.Name) else None
    if not isinstance(target, cst.Tuple) or not all(isinstance(e.value, cst.Name) for e in target.elements):
        return None
    return [e.value.value for e in target.elements]  # type: ignore[attr-defined]


def _passed_on(context: Context, node: Any, p: str) -> Any:
    """`self.initialiser(p)` as a statement, of a function that is passed in: what it writes does not come back."""
    made = node.value
    if not isinstance(made, cst.Call) or not any(isinstance(a.value, cst.Name) and a.value.value == p for a in made.args):
        return None
    if isinstance(context.value(made.func), (External, Function, Torch)):
        return None
    return tree.replace(node, value=context.unconverted("aliased-write", made, f"a function that is not known here may write {p} in place: let it return the new value, and assign that"))


def _only_flags(body: list[Any]) -> bool:
    """`p.requires_grad = False` and nothing else: which params are trained is the training step's affair."""
    for statement in body:
        if isinstance(statement, cst.SimpleStatementLine):
            if not all(isinstance(small, cst.Pass) or _is_flag(small) for small in statement.body):
                return False
        elif not isinstance(statement, cst.If) or not _only_flags(tree.body_statements(statement)):
            return False
    return True


def _is_flag(small: Any) -> bool:
    target = small.targets[0].target if isinstance(small, cst.Assign) else None
    return isinstance(target, cst.Attribute) and target.attr.value == "requires_grad"
