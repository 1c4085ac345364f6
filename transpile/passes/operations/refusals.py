"""What a layer refuses, where the call already tells: `nn.Embedding(6, 3, max_norm=1.0)`.

The constructors of the layers say it themselves, and would raise when the model is built.

    if max_norm is not None:
        raise Unsupported("max_norm changes the weight in forward")
"""

from ...facts.values.lattice import NONE, UNKNOWN, Static, Tensor, Value
from ...model.constants import is_none
from ...model.expressions import Call, Constant, Name
from ...model.node import Expression
from ...model.operators import Compare
from ...model.program import Class, Function
from ...model.statements import If, Raise
from .bind import Argument
from .literals import known
from .specialise import Refused


def refuse(layer: Class, arguments: list[Argument]) -> None:
    """Raise Refused where a layer is given what it has no words for."""
    init = next(
        (s for s in layer.body.body if isinstance(s, Function) and s.name == "__init__"), None
    )
    if init is None or any(argument.star for argument in arguments):
        return
    given = _given(init, arguments)
    for statement in init.body.body:
        if isinstance(statement, If) and isinstance(statement.body.body[0], Raise):
            why = _why(statement.body.body[0])
            if why is not None and _holds(statement.test, given):
                raise Refused(why)


def _given(init: Function, arguments: list[Argument]) -> dict[str, Value]:
    """The values of parameters, by what a call gives and by their defaults."""
    parameters = init.parameters[1:]
    found = {p.name: _constant(p.default) for p in parameters if p.default is not None}
    for place, argument in enumerate(arguments):
        name = argument.keyword
        if name is None and place < len(parameters):
            name = parameters[place].name
        if name is not None:
            found[name] = known(argument.node)
    return found


def _constant(node: Expression) -> Value:
    if is_none(node):
        return NONE
    return Static(node.constant) if isinstance(node, Constant) else UNKNOWN


def _why(statement: Raise) -> str | None:
    """The message of `raise Unsupported("…")`."""
    call = statement.exception
    if not isinstance(call, Call) or not isinstance(call.function, Name):
        return None
    if call.function.id != "Unsupported" or not isinstance(call.arguments[0], Constant):
        return None
    return str(call.arguments[0].constant)


def _holds(test: Expression, given: dict[str, Value]) -> bool:
    """Whether a test is certain to be true: of `max_norm is not None`, or of a flag."""
    if isinstance(test, Compare) and len(test.operands) == 2 and is_none(test.operands[1]):
        subject = test.operands[0]
        value = given.get(subject.id, UNKNOWN) if isinstance(subject, Name) else UNKNOWN
        certain = isinstance(value, (Static, Tensor)) and value != NONE
        return test.operators[0] == "is not" and certain and not getattr(value, "none", False)
    value = given.get(test.id, UNKNOWN) if isinstance(test, Name) else UNKNOWN
    return isinstance(value, Static) and value.const is True
