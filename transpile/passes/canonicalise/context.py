"""Where a spelling stands: the scope that is rewritten, and the method that it is or stands in."""

from ...model.program import Class, Function, Scope


class Site:
    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.method = _method(scope)

    @property
    def own(self) -> str:
        """The name of `self`, or nothing."""
        return self.method.receiver if self.method is not None else ""

    @property
    def cls(self) -> Class | None:
        """The class of the method that the scope itself is."""
        return self.method.owner if self.method is not None and self.method is self.scope else None

    @property
    def function(self) -> Function | None:
        """The scope, if it is a function."""
        return self.scope if isinstance(self.scope, Function) else None


def _method(scope: Scope) -> Function | None:
    for around in (scope, *scope.ancestors()):
        if isinstance(around, Function) and around.owner is not None:
            return around
        if isinstance(around, Class):
            break
    return None
