"""What a constructor says itself of the classes and functions that it is given."""

from __future__ import annotations

from ...model.expressions import Call, is_none
from ...model.names import dotted
from ...model.node import Expression
from ...model.operators import Compare
from ...model.program import Function
from ...model.statements import Assign, ExpressionStatement, If


def gives_values(function: Function | None, name: str) -> bool:
    """Whether a parameter is called on a weight and nothing is made of the result: `init(fc.weight)`
    can only be one of torch.nn.init, or what is like one."""
    for statement in function.nodes(ExpressionStatement) if function is not None else ():
        call = statement.expression
        if isinstance(call, Call) and dotted(call.function) == name and call.arguments:
            first = (dotted(call.arguments[0]) or "").removesuffix(".data")
            if first.rpartition(".")[2] in ("weight", "bias") and "." in first:
                return True
    return False


def stood_for(function: Function | None, name: str) -> Expression | None:
    """What a parameter becomes where it is given None: `if norm is None: norm = nn.BatchNorm2d`."""
    for branch in function.nodes(If) if function is not None else ():
        test, body = branch.test, branch.body.body
        if not isinstance(test, Compare) or test.operators != ["is"]:
            continue
        if dotted(test.operands[0]) == name and is_none(test.operands[1]):
            for statement in body:
                if isinstance(statement, Assign) and not statement.operator:
                    if [dotted(t) for t in statement.targets] == [name]:
                        return statement.expression
    return None
