"""Names that a pass makes, which never meet the user's."""

from ..model.expressions import Name
from ..model.program import Class, Function, Parameter, Scope
from ..model.statements import Declaration, Handler, Import, OpaqueStatement


class Names:
    """The names that a scope and all inside it read or bind, and those that were made."""

    def __init__(self, scope: Scope) -> None:
        self._used: set[str] = set()
        for node in scope.walk():
            if isinstance(node, Name):
                self._used.add(node.id)
            elif isinstance(node, (Parameter, Function, Class)):
                self._used.add(node.name)
            elif isinstance(node, Import):
                self._used.update(name.bound for name in node.names)
            elif isinstance(node, Handler) and node.name is not None:
                self._used.add(node.name)
            elif isinstance(node, Declaration):
                self._used.update(node.names)
            elif isinstance(node, OpaqueStatement):
                self._used.update(node.binds)

    def fresh(self, word: str) -> str:
        """A name like this one that nothing has: `running`, `running_2`."""
        name, count = word, 1
        while name in self._used:
            count += 1
            name = f"{word}_{count}"
        self._used.add(name)
        return name
