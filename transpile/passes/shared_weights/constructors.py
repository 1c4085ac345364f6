"""What a constructor does with a weight that it is handed in order to share it, and without it.

def __init__(self, d, n, w=None):          def __init__(self, d, n):
    if w is None:
        w = nn.Linear(d, n).weight             w = nn.Linear(d, n).weight
    self.weight = w                            self.weight = w

def __init__(self, w):                     def __init__(self, w_shape):
    self.out = nn.Linear(w.size(1), 4)         self.out = nn.Linear(w_shape[1], 4)
    self.out.weight = w
"""

from typing import NamedTuple

from ...model.constants import is_none
from ...model.copy import clone
from ...model.edits import block_of
from ...model.expressions import Attribute, Call, Name, Subscript
from ...model.names import dotted, everywhere, in_scope, is_name
from ...model.node import Expression, Statement
from ...model.operators import Compare
from ...model.program import Function, Parameter
from ...model.statements import Assign, If
from ..pass_ import Changes


class Taken(NamedTuple):
    """What a constructor does with a weight that it shares."""

    ties: list[Statement]  # `self.out.weight = w`, `self.weight = w`
    paths: list[str]  # of those, and of what is below: "out.weight"
    sizes: list[tuple[Expression, Expression | None]]  # `w.size(1)` and its index, `w.shape`
    instead: If | None = None  # what makes one where none is handed
    measured: bool = False  # whether it is asked for sizes, here or below


def done_with(init: Function, name: str) -> tuple[Taken, set[Expression]]:
    """What a constructor does with a parameter, and the places where it reads it for that."""
    taken, understood = Taken([], [], []), set[Expression]()
    for statement in init.body.body:
        path = _tied(statement, init.receiver, name)
        if path is not None:
            taken.ties.append(statement)
            taken.paths.append(path)
            understood.add(statement.expression)  # type: ignore[attr-defined]
        elif isinstance(statement, If) and not taken.ties and _makes(statement, name):
            taken = taken._replace(instead=statement)
            understood |= {n for n in statement.walk() if is_name(n, name)}  # type: ignore[misc]
    for node in everywhere(init, Call, Subscript, Attribute):
        if _is_size(node, name):
            taken.sizes.append((node, _index(node)))
            understood |= {n for n in in_scope(node, Name) if n.id == name}
    return taken, understood


def share(changes: Changes, init: Function, name: str, taken: Taken) -> None:
    """Let a constructor take the shape in the place of the weight, if it asks for that."""
    parameter = next(p for p in init.parameters if p.name == name)
    if taken.measured:
        changes.replace(parameter, Parameter(f"{name}_shape", parameter.kind))
    else:
        changes.change(init, lambda init: _without(init, parameter))
    if taken.instead is not None:
        changes.change(taken.instead, lambda guard: block_of(guard).unfold(guard, guard.body))
        return
    for statement in taken.ties:
        changes.remove(statement)
    for node, index in taken.sizes:
        shape = Name(f"{name}_shape")
        changes.replace(node, shape if index is None else Subscript(shape, clone(index)))


def _without(init: Function, parameter: Parameter) -> None:
    init.parameters = [p for p in init.parameters if p is not parameter]
    init.restate()


def _makes(guard: If, name: str) -> bool:
    """`if w is None: w = nn.Linear(d, n, bias=False).weight`"""
    test, made = guard.test, guard.body.body
    if guard.orelse is not None or not isinstance(test, Compare) or test.operators != ["is"]:
        return False
    one = made[0] if len(made) == 1 else None
    makes = isinstance(one, Assign) and not one.operator and dotted(one.targets[0]) == name
    return makes and is_name(test.operands[0], name) and is_none(test.operands[1])


def _tied(statement: Statement, me: str, name: str) -> str | None:
    """The path of `self.out.weight = w`."""
    if not isinstance(statement, Assign) or len(statement.targets) > 1 or statement.operator:
        return None
    first, _, path = (dotted(statement.targets[0]) or "").partition(".")
    shares = isinstance(statement.expression, Name) and statement.expression.id == name
    return path if shares and first == me and path else None


def _is_size(node: Expression, name: str) -> bool:
    """`w.size(1)`, `w.shape[1]`; `w.size()` and `w.shape` for themselves."""
    if isinstance(node, Call):
        return dotted(node.function) == f"{name}.size" and node.keywords in ([], [None])
    if isinstance(node, Subscript):
        return dotted(node.object) == f"{name}.shape"
    around = node.parent
    whole = not isinstance(around, Subscript) or around.object is not node
    return whole and dotted(node) == f"{name}.shape"


def _index(node: Expression) -> Expression | None:
    if isinstance(node, Call):
        return node.arguments[0] if node.arguments else None
    return node.index if isinstance(node, Subscript) else None
