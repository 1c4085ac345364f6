"""What functions take and give where a module that has been built is frozen."""

from ...facts.values.containers import GROWING
from ...facts.values.lattice import Method
from ...model.expressions import Attribute, Call, Subscript
from ...model.names import is_own
from ...model.node import Expression, Node
from ...model.program import Function
from ...model.statements import Assign
from ..threading.signatures import Signatures
from .module_lists import is_list


class Conventions(Signatures):
    """The threads of functions and calls in Equinox."""

    def grown(self, node: Node) -> Expression | None:
        if isinstance(node, Assign):
            places = (t.object for t in node.targets if isinstance(t, Subscript))
            return next((p for p in places if is_list(self.project, p.value)), None)
        if not isinstance(node, Call):
            return None
        function, value = node.function, node.function.value
        if not isinstance(function, Attribute) or not isinstance(value, Method):
            return None
        adds = value.name in GROWING and is_list(self.project, value.receiver)
        return function.object if adds else None

    def is_filled(self, statement: Node, method: Function) -> bool:
        """Whether a statement of a method does what only a constructor may: `self.dropout = p`."""
        targets = statement.targets if isinstance(statement, Assign) else []
        own = any(is_own(target, method.receiver) for target in targets)
        return own or super().is_filled(statement, method)
