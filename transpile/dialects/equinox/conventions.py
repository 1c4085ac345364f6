"""What functions take and give where a module that has been built is frozen."""

from ...model.names import is_own
from ...model.node import Node
from ...model.program import Function
from ...model.statements import Assign
from ..threading.signatures import Signatures


class Conventions(Signatures):
    """The threads of functions and calls in Equinox."""

    def is_filled(self, statement: Node, method: Function) -> bool:
        """Whether a statement of a method does what only a constructor may: `self.dropout = p`."""
        targets = statement.targets if isinstance(statement, Assign) else []
        own = any(is_own(target, method.receiver) for target in targets)
        return own or super().is_filled(statement, method)
