"""Classes of modules that a function is handed, or comes to by a name: what it makes of one where a
module is wanted is a module, whose constructor may draw.

def make(block, n):
    return nn.Sequential(*[block(n) for _ in range(3)])
"""

from typing import Any

from ..facts.modules import SUBMODULE
from ..facts.values.class_values import is_class_or_maker
from ..facts.values.lattice import UNKNOWN, Module, Sequence
from ..model.effects import Declare, Key, New, Support
from ..model.expressions import (
    Attribute,
    Call,
    Comprehension,
    Dictionary,
    Display,
    ForClause,
    Name,
    Starred,
    Subscript,
)
from ..model.names import in_scope, target_names
from ..model.node import Expression
from ..model.operators import Conditional
from ..model.program import Function
from ..model.project import Project
from ..model.statements import Assign, For, Return


def tell(project: Project) -> None:
    """Let such calls in constructors, and in functions that give modules, be `New`."""
    for function in project.functions():
        owner = function.owner
        init = function.name == "__init__" and owner is not None and project.is_module(owner)
        if not init and not gives_module(function):
            continue
        for call in list(in_scope(function, Call)):
            if is_of_handed_class(call, function):
                call.become(New(call.function, call.arguments, call.keywords))


def is_of_handed_class(call: Call, function: Function) -> bool:
    """Whether a call may build a module of a class that only the run tells: of a local name,
    `getattr(nn, kind)(3)`, `globals()[kind](3)`; or make something else, `Block if deep else f`."""
    made = call.function
    told = made.value not in (None, UNKNOWN) and not is_class_or_maker(made.value)
    if told or isinstance(made, Support):
        return False
    if any(isinstance(given, Key) for given in call.arguments):
        return False  # `jax.nn.initializers.orthogonal()(key, shape)`
    if isinstance(made, Name):
        return made.id in _bound(function) and is_wanted(call)
    return isinstance(made, (Call, Subscript)) and is_wanted(call)


def is_wanted(call: Expression) -> bool:
    """Whether an expression stands where a module is wanted: among what a container is given, as
    what a submodule is declared with."""
    node: Any = call
    while isinstance(node.parent, (Display, Dictionary, Comprehension, Conditional, Starred, New)):
        node = node.parent
    around = node.parent
    if isinstance(around, Declare):
        return around.kind == SUBMODULE
    if isinstance(around, Call) and isinstance(around.function, Attribute):
        return around.function.name in ("append", "extend", "insert", "add_module")
    return isinstance(around, Assign) and isinstance(around.targets[0], Name) or node is not call


def gives_module(function: Function) -> bool:
    """Whether a function builds a module for others: it returns one, or one among others,
    `stages.append((name, nn.Sequential(*blocks)))`."""
    found = (n.expression for n in function.walk() if isinstance(n, Return))
    return any(
        _holds_module(part.value)
        for given in found
        for part in (given.elements if isinstance(given, Display) else [given])
        if part is not None
    )


def _holds_module(value: Any) -> bool:
    if isinstance(value, Sequence):
        return any(map(_holds_module, [value.element, *(value.items or ())]))
    return isinstance(value, Module)


def _bound(function: Function) -> set[str]:
    stores = [t for a in function.nodes(Assign) for t in a.targets]
    stores += [loop.target for loop in function.nodes(For)]
    stores += [clause.target for clause in function.nodes(ForClause)]
    return {p.name for p in function.parameters}.union(*map(target_names, stores))
