"""Names that Python makes private to a class are what they are outside of it.

    class Net(nn.Module):
        def __init__(self):
            self.__norm = nn.BatchNorm1d(4)        self._Net__norm, as torch's state has it

The user's text stays, which means the same in that class; what is made of the name has the whole.
"""

from typing import Any

from ..model.expressions import Attribute, Name
from ..model.names import target_names
from ..model.program import Class, Function, Scope
from ..model.statements import Assign
from .pass_ import Changes, Pass


def run(scope: Scope, facts: Any = None) -> Changes:
    """Give the attributes of a scope their whole names, and a class its methods and constants."""
    changes = Changes(scope)
    cls = next((n for n in (scope, *scope.ancestors()) if isinstance(n, Class)), None)
    if cls is None:
        return changes
    for attribute in scope.nodes(Attribute):
        if _is_private(attribute.name):
            changes.change(attribute, lambda n: _name(n, "name", cls))
    if scope is cls:
        for statement in cls.body.body:
            if isinstance(statement, Function) and _is_private(statement.name):
                changes.change(statement, lambda n: _name(n, "name", cls))
        bound = {n for a in cls.nodes(Assign) for t in a.targets for n in target_names(t)}
        for node in cls.nodes(Name):
            if node.id in bound and _is_private(node.id):
                changes.change(node, lambda n: _name(n, "id", cls))
    return changes


def _is_private(name: str) -> bool:
    return name.startswith("__") and not name.endswith("__")


def _name(node: Any, field: str, cls: Class) -> None:
    """No edit of the text: there Python does it."""
    stem = cls.name.lstrip("_")
    if stem:
        setattr(node, field, f"_{stem}{getattr(node, field)}")


PASS = Pass("private_names", (), run)
