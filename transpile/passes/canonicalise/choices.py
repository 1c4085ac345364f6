"""A choice between two calls that nobody takes the value of, as a branch; a choice between a
function of torch's and another, which may draw or hold modules, where it is called.

nn.init.ones_(w) if first else nn.init.zeros_(w)  →  if first: nn.init.ones_(w)
                                                     else: nn.init.zeros_(w)

make = uniform if not zero else torch.zeros       →
w = make(n)                                          w = uniform(n) if not zero else torch.zeros(n)
"""

from __future__ import annotations

from ...model.copy import clone
from ...model.expressions import Call, Constant, Name
from ...model.names import dotted, everywhere, imported, rebound
from ...model.node import Expression, Statement
from ...model.operators import Boolean, Compare, Conditional, Unary
from ...model.program import Function, Scope
from ...model.statements import Assign, Block, ExpressionStatement, If

_PLAIN = (Name, Constant, Unary, Boolean, Compare)


def chooses_writes(node: Expression) -> bool:
    """Whether a choice writes in place on one of its ways."""
    if isinstance(node, Conditional):
        return chooses_writes(node.body) or chooses_writes(node.orelse)
    name = (dotted(node.function) or "") if isinstance(node, Call) else ""
    return name.endswith("_") and not name.endswith("__")


def branch(statement: ExpressionStatement) -> Statement:
    """The branch that stands in the place of a choice."""
    choice = statement.expression
    assert isinstance(choice, Conditional)
    return _branch(choice)


def _branch(node: Expression) -> Statement:
    if not isinstance(node, Conditional):
        return ExpressionStatement(node)
    form = "elif" if isinstance(node.orelse, Conditional) else "indented"
    return If(node.test, Block([_branch(node.body)]), Block([_branch(node.orelse)], form))


def chosen_call(scope: Scope, assign: Assign) -> Call | None:
    """The one call of what a choice between a function of torch's and another gives a name."""
    choice, target = assign.expression, assign.targets[0]
    if not isinstance(scope, Function) or not isinstance(choice, Conditional) or assign.operator:
        return None
    if len(assign.targets) != 1 or not isinstance(target, Name):
        return None
    sides = [choice.body, choice.orelse]
    of_torch = [imported(scope, side).startswith("torch.") for side in sides]
    if any(dotted(side) is None for side in sides) or of_torch[0] is of_torch[1]:
        return None
    uses = [n for n in everywhere(scope, Name) if n.id == target.id and n is not target]
    call = uses[0].parent if len(uses) == 1 else None
    if not isinstance(call, Call) or call.function is not uses[0]:
        return None
    asked = list(choice.walk())
    plain = all(isinstance(n, _PLAIN) for n in choice.test.walk())
    changed = {target.id, *(n.id for n in asked if isinstance(n, Name))} & rebound(scope)
    here = next(n for n in call.ancestors() if isinstance(n, Scope)) is scope
    return call if plain and here and not changed else None


def called(call: Call, assign: Assign) -> Conditional:
    """The choice between two calls for the call of a choice."""
    choice = assign.expression
    assert isinstance(choice, Conditional)
    other = clone(call)
    first = Call(choice.body, call.arguments, call.keywords)
    return Conditional(first, choice.test, Call(choice.orelse, other.arguments, other.keywords))
