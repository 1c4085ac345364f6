"""What functions take and give where a module that has been built is frozen."""

from ...model.names import is_own
from ...model.node import Node
from ...model.program import Function
from ...model.statements import Assign
from ..threading.signatures import Signatures


class Conventions(Signatures):
    """The threads of functions and calls in Equinox."""

    def is_filled(self, statement: Node) -> bool:
        return super().is_filled(statement) or _sets_own(statement)


def _sets_own(statement: Node) -> bool:
    """`self.dropout = p`"""
    function = statement.nearest(Function) if isinstance(statement, Assign) else None
    if not isinstance(statement, Assign) or function is None:
        return False
    return any(is_own(target, function.receiver) for target in statement.targets)
