"""What a function gives out: what that may share memory with, and its parts."""

import dataclasses

from ...model.expressions import Display, OpaqueExpression
from ...model.names import in_scope
from ...model.node import Expression, Statement
from ...model.statements import Return
from .bindings import Binding
from .locations import Passed, Places, Result


class Giving(Binding):
    """Results, on the way through a function."""

    def result_of(self, value: Expression) -> Result:
        """What a function gives out, and the parts of it, where they are written there."""
        parts: tuple[Result, ...] = ()
        if isinstance(value, Display) and value.kind == "tuple":
            parts = tuple(self.result_of(e) for e in value.elements)
        return Result(self.shares(value), self.made(value), parts)

    def of_result(self, result: Result, left: dict[str, Places]) -> Passed:
        found = self.passed_on(result.shared, result.places, left)
        return dataclasses.replace(
            found, items=tuple(self.of_result(part, left) for part in result.parts)
        )


def outputs(node: Statement) -> list[Expression]:
    """What a statement returns or yields."""
    if isinstance(node, Return):
        return [node.expression] if node.expression is not None else []
    opaque = in_scope(node, OpaqueExpression)
    return [e for n in opaque if n.word.startswith("yield") for e in n.inside]
