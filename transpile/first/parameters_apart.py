"""Attributes that are parameters on one way only get a line of their own on each.

`self.gamma1, self.gamma2 = 1.0, 1.0` is two lines where `self.gamma1 = nn.Parameter(…)` stands elsewhere, and
`self.scale = nn.Parameter(torch.ones(n)) if learned else 1.0` is an `if`: a parameter goes to init, a number stays.
"""

from __future__ import annotations

from typing import Any

import libcst as cst

from . import tree
from .unrolled_layers import one_each

_PLAIN = (cst.Integer, cst.Float, cst.Name)


def with_parameters_apart(function: cst.FunctionDef) -> cst.FunctionDef:
    """A constructor with these lines; any other function as it is."""
    if function.name.value != "__init__":
        return function
    targets = [t.target for t in tree.nodes(function.body, cst.AssignTarget)]
    alone = {tree.dotted(t) for t in targets if isinstance(t, cst.Attribute)}

    def after(statement: Any) -> Any:
        small = tree.only_small(statement)
        if not isinstance(small, cst.Assign) or len(small.targets) != 1:
            return statement
        target = small.targets[0].target
        if isinstance(small.value, cst.IfExp) and isinstance(target, cst.Attribute):
            return _chosen(statement, small, small.value)
        if not isinstance(target, cst.Tuple) or not isinstance(small.value, cst.Tuple) or len(target.elements) != len(small.value.elements):
            return statement
        names, values = [e.value for e in target.elements], [e.value for e in small.value.elements]
        if all(tree.dotted(n) in alone for n in names) and all(isinstance(v, _PLAIN) for v in values):
            return cst.FlattenSentinel(one_each(statement, names, values))
        return statement

    return tree.rewrite(function, None, after, only={cst.SimpleStatementLine})  # type: ignore[no-any-return]


def _chosen(statement: Any, small: cst.Assign, choice: cst.IfExp) -> Any:
    """An `if` for a choice between a parameter and a number or name."""
    sides = (choice.body, choice.orelse)
    made = [isinstance(s, cst.Call) and (tree.dotted(s.func) or "").rpartition(".")[2] == "Parameter" for s in sides]
    other = sides[made.index(False)] if sum(made) == 1 else None
    if not isinstance(other, _PLAIN) or tree.code(other) == "None":
        return statement
    then, orelse = (cst.IndentedBlock([cst.SimpleStatementLine([tree.replace(small, value=s)])]) for s in sides)
    test = tree.replace(choice.test, lpar=[], rpar=[]) if choice.test.lpar else choice.test
    return cst.If(test, then, cst.Else(orelse), leading_lines=statement.leading_lines)
