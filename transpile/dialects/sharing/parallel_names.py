"""The names under which a constructor sets what it puts into a list."""

from collections.abc import Mapping

from ...facts.bindings.activity import bound
from ...facts.modules import SUBMODULE, Field
from ...model.edits import block_of
from ...model.effects import Declare
from ...model.expressions import Attribute, Call, Constant, Name
from ...model.names import dotted, names_in, target_names
from ...model.node import Expression, Statement
from ...model.program import Function
from ...model.statements import Assign, For
from . import list_growth


def in_a_loop(path: str, store: Assign, init: Function) -> tuple[Statement, Expression] | None:
    """The one statement, in a loop over a list behind its making, that sets each of its modules,
    with the name."""
    found = []
    for statement, call in list_growth.sets(init):
        loop, made = block_of(statement).parent, call.arguments[2]
        if isinstance(loop, For) and loop.parent is store.parent and isinstance(made, Name):
            over = loop.iterable.arguments if isinstance(loop.iterable, Call) else ()
            lists = map(dotted, (loop.iterable, *over))
            if path in lists and made.id in target_names(loop.target):
                found.append((statement, call.arguments[1]))
    return found[0] if len(found) == 1 and list_growth.is_fixed(found[0][1]) else None


def beside(
    element: Expression, statement: Statement, init: Function, fields: Mapping[str, Field]
) -> Expression | None:
    """The name under which `self` has a module: as it is set beside this, or fetched."""
    me = init.receiver
    if isinstance(element, Attribute) and dotted(element.object) == me:
        found = fields.get(element.name)
        return Constant(element.name) if found and found.kind == SUBMODULE else None
    if isinstance(element, Call) and dotted(element.function) == "getattr":
        own = len(element.arguments) == 2 and dotted(element.arguments[0]) == me
        return element.arguments[1] if own else None
    if not isinstance(element, Name):
        return None
    computed = {made: call for made, call in list_growth.sets(init)}
    around = block_of(statement).body
    for i, other in enumerate(around):
        name: Expression | None = None
        if isinstance(other, Declare) and other.kind == SUBMODULE:
            if dotted(other.expression) == element.id:
                name = Constant(other.name)
        elif other in computed and dotted(computed[other].arguments[2]) == element.id:
            name = computed[other].arguments[1]
        if name is not None and list_growth.is_fixed(name):
            at = around.index(statement)
            between = around[min(i, at) + 1 : max(i, at)]
            used = names_in(name) | {element.id}
            if not any(used & set(bound(s)) for s in between):
                return name
    return None
