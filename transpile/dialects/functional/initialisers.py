"""Methods that do nothing but give a module's arrays first values: `reset_parameters`.

They are called by `init`, and are given the params that they change.
"""

from collections.abc import Iterable

from ...facts.modules import Modules
from ...model.effects import (
    BUFFER,
    CONSTANT,
    MIXED,
    PARAM,
    Apply,
    Declare,
    New,
    NewArray,
    Read,
    Tie,
    Walk,
    Write,
)
from ...model.expressions import Attribute, Call, Lambda, Name, Subscript
from ...model.names import dotted, root
from ...model.node import Node, Statement
from ...model.program import Class, Function
from ...model.statements import Assign, ExpressionStatement, Return


def initialisers(
    building: Iterable[Function], modules: Modules, stateful: set[str]
) -> dict[Function, str]:
    """These methods, and whether they make params or the state."""
    found: dict[Function, str] = {}
    for function in building:
        owner = function.owner
        if owner is None or not modules.is_module(owner) or function.name == "__init__":
            continue
        kinds = _made(function, stateful)
        if kinds in ({PARAM}, {BUFFER}):
            found[function] = kinds.pop()
    return found


def _made(function: Function, stateful: set[str]) -> set[str] | None:
    """The kinds of the arrays that a method makes; None where it does more than that."""
    if not function.parameters or function.decorators:
        return None
    me, kinds = function.receiver, set[str]()
    for node in function.body.walk():
        if isinstance(node, Write):
            name = root(node.target)
            if name is None or name.id != me or not isinstance(node.target, Read):
                return None
            kinds.add(_kind(node.target.kind, node.target.name, stateful))
        elif isinstance(node, Declare):
            if node.kind not in (PARAM, BUFFER, MIXED):
                return None
            kinds.add(_kind(node.kind, node.name, stateful))
        elif isinstance(node, NewArray):
            if node.kind == BUFFER or not _is_set_by_name(node, me):
                return None
            kinds.add(PARAM)
        elif isinstance(node, Tie):
            name = root(node.target)
            if name is None or name.id != me:
                return None
            kinds.add(PARAM)
        elif _does_more(node):
            return None
    return kinds


def _kind(kind: str, name: str, stateful: set[str]) -> str:
    if kind == CONSTANT or kind == BUFFER and name not in stateful:
        return CONSTANT
    return BUFFER if kind in (BUFFER, MIXED) and name in stateful else PARAM


def _does_more(node: Node) -> bool:
    if isinstance(node, Assign):
        return any(isinstance(t, Attribute) for t in node.targets)
    if isinstance(node, Return):
        return node.expression is not None
    return isinstance(node, (Walk, New, Apply, Lambda, Function, Class))


def entry_by_name(statement: Statement, whole: str, me: str | None) -> Assign | None:
    """`params[name] = v`, for `setattr(self, name, Parameter(v))`"""
    call = statement.expression if isinstance(statement, ExpressionStatement) else None
    made = call.arguments[-1] if isinstance(call, Call) and call.arguments else None
    if not isinstance(made, NewArray) or not _is_set_by_name(made, me):
        return None
    return Assign([Subscript(Name(whole), call.arguments[1])], made.arguments[0])  # type: ignore[union-attr]


def _is_set_by_name(made: NewArray, me: str | None) -> bool:
    """Whether an array is that of `setattr(self, name, Parameter(v))`, a statement of its own."""
    call = made.parent
    if not isinstance(call, Call) or dotted(call.function) != "setattr":
        return False
    given, alone = call.arguments, isinstance(call.parent, ExpressionStatement)
    return alone and len(given) == 3 and given[2] is made and dotted(given[0]) == me
