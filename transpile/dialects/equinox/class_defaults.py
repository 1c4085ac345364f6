"""What stands in a class body under the name of a field: its default.

class Net(nn.Module):                      class Net(eqx.Module):
    rate = 0.5                                 rate: float = eqx.field(static=True, default=0.5)
    dims = [4, 4]                              dims: list

    def __init__(self, last):                  def __init__(self, last):
        self.dims = self.dims + [last]             self.dims = [4, 4]
                                                   self.dims = self.dims + [last]
"""

from collections.abc import Iterator

from ...facts.definite_assignment import sets
from ...model.edits import leave_out
from ...model.expressions import Comprehension, Dictionary, Display
from ...model.names import dotted, is_own, is_target
from ...model.node import Expression
from ...model.program import Class, Function
from ...model.statements import Assign
from .constructors import begin
from .fields import Declared


def standing(field: Declared, cls: Class) -> Assign | None:
    """`rate = 0` in the class, of a field: what an object has where nothing is set. `rate: int`
    of what is static: modules and params stand in the order in which they are set."""
    own = (n for n in cls.body.body if isinstance(n, Assign) and len(n.targets) == 1)
    found = next((n for n in own if dotted(n.targets[0]) == field.name), None)
    if found is None or found.expression is not None:
        return found if found is None or not _is_mutable(found.expression) else None
    return found if field.static else None


def move_lists(names: set[str], cls: Class, init: Function | None) -> set[str]:
    """Let the constructor begin with what stands in the class as a list, which is no default of a
    field; gives the names."""
    found: set[str] = set()
    for statement in list(cls.body.body):
        name = dotted(statement.targets[0]) if isinstance(statement, Assign) else None
        if name in names and isinstance(statement, Assign) and _is_mutable(statement.expression):
            if init is not None and any(is_target(n) for n in _all(init, name)):
                _move(name, statement, init)
                found.add(name)
    return found


def _move(name: str, statement: Assign, init: Function) -> None:
    """It begins with the list where it reads it before it sets another."""
    value, first = statement.expression, next(_all(init, name))
    assert value is not None
    leave_out(statement)
    given = getattr(first.parent, "expression", None) if is_target(first) else None
    read = given is None or any(n in _all(init, name) for n in given.walk())
    if read or not sets(init.body, name, init.receiver):
        begin(init, [name], value)


def _all(init: Function, name: str) -> Iterator[Expression]:
    """Where a constructor reads or sets a field."""
    me = init.receiver
    return (n for n in init.body.walk() if is_own(n, me) and n.name == name)


def _is_mutable(value: Expression | None) -> bool:
    kind = getattr(value, "kind", "")
    made = isinstance(value, (Display, Comprehension)) and kind in ("list", "set", "dict")
    return made or isinstance(value, Dictionary)
