"""A choice between values, one side of which writes in place, is an `if`: only that side does.

    return x.relu_() if inplace else x.relu()      ->      if inplace:
                                                               return x.relu_()
                                                           else:
                                                               return x.relu()

As a statement, as what one returns, and as what one assigns. It runs before `arguments` and `mutation`; where rules make the
same of both sides, `noops` leaves one.
"""

from __future__ import annotations

from typing import Any

import libcst as cst

from .. import tree
from ..context import Context
from ..emit import bare
from ..inplace import is_inplace_name


def run(context: Context, module: cst.Module) -> cst.Module:
    """Rewrite the choices of one file."""
    return tree.rewrite(module, lambda line: _as_branch(context, line), only={cst.SimpleStatementLine})  # type: ignore[no-any-return]


def _as_branch(context: Context, line: Any) -> cst.If | None:
    small = tree.only_small(line)
    choice = small.value if isinstance(small, (cst.Expr, cst.Return, cst.Assign)) else None
    if not isinstance(choice, cst.IfExp) or not any(is_inplace_name(tree.code(n.func)) for n in tree.nodes(choice, cst.Call)):
        return None
    then, other = (tree.replace(line, body=[tree.replace(small, value=bare(side))], leading_lines=[]) for side in (choice.body, choice.orelse))
    nothing = isinstance(small, cst.Expr) and tree.code(choice.orelse) == "None"
    last = None if nothing else cst.Else(cst.IndentedBlock([tree.replace(other, trailing_whitespace=cst.TrailingWhitespace())]))
    made = cst.If(choice.test, cst.IndentedBlock([then]), _as_branch(context, other) or last, leading_lines=line.leading_lines)
    context.facts.carry(line, made)
    return made
