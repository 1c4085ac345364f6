"""What names that stand for modules are bound to, where each is read.

conv, (ff, _) = layer      conv is the first item of layer, ff the first of its second
i = 0
first = self.layers[i]
i = 1
first(x)                   not known: i is another number now
"""

from typing import NamedTuple

from ...facts.bindings import Definitions
from ...facts.bindings.activity import bound
from ...facts.values.lattice import Module
from ...model.expressions import Display, Name, Starred
from ...model.node import Expression, Node, Statement
from ...model.program import Function, Parameter
from ...model.statements import Assign, Block, For


class Bound(NamedTuple):
    """An expression, or an item of it: of the modules that it holds."""

    value: Expression
    at: tuple[int, ...] = ()


def bindings(function: Function) -> dict[Node, Bound | None]:
    """What the names of a function that stand for modules are bound to by assignments; None for
    what cannot be said where they are read. Those of parameters and loops are left out.
    """
    names = [n for n in function.nodes(Name) if isinstance(n.value, Module)]
    if not names or not any(_assigns_module(assign) for assign in function.nodes(Assign)):
        return {}
    definitions, found = Definitions(function), {}
    for name in names:
        known = definitions.of.get(name)
        if known is not None and any(isinstance(d, Name) and _binder(d) for d in known):
            found[name] = _found(name, known)
    return {name: one for name, one in found.items() if one is not _TURN}


_TURN = Bound(Name("_"))  # of a loop around the name


def _assigns_module(assign: Assign) -> bool:
    targets = [n for target in assign.targets for n in target.walk()]
    return any(isinstance(n, Name) for n in targets)


def _binder(target: Node) -> Assign | For | None:
    """The statement that binds a target."""
    return next((n for n in target.ancestors() if isinstance(n, (Assign, For))), None)


def _found(name: Name, definitions: frozenset[Node | None]) -> Bound | None:
    definition = next(iter(definitions)) if len(definitions) == 1 else None
    if definition is None or isinstance(definition, Parameter):
        around = {_binder(d) for d in definitions if d is not None}
        turn = len(around) == 1 and all(isinstance(n, For) for n in around)
        return _TURN if turn else None
    binder = _binder(definition)
    if isinstance(binder, For):
        return _TURN
    if not isinstance(binder, Assign) or binder.expression is None or binder.operator:
        return None
    target = next(t for t in binder.targets if definition in t.walk())
    value = _part(definition, target, binder.expression)
    return value if value is not None and _holds(value.value, binder, name) else None


def _part(name: Node, target: Expression, value: Expression) -> Bound | None:
    """What a name in a target gets."""
    if target is name:
        return Bound(value)
    if not isinstance(target, Display):
        return None
    at = next(i for i, e in enumerate(target.elements) if name in e.walk())
    if any(isinstance(e, Starred) for e in target.elements[: at + 1]):
        return None
    if isinstance(value, Display):
        plain = not any(isinstance(e, Starred) for e in (*target.elements, *value.elements))
        alike = plain and len(target.elements) == len(value.elements)
        return _part(name, target.elements[at], value.elements[at]) if alike else None
    inner = _part(name, target.elements[at], value)
    return None if inner is None else Bound(value, (at, *inner.at))


def _holds(value: Expression, assign: Assign, name: Name) -> bool:
    """Whether an assignment ran in the same turn as what reads the name, and what it goes by is
    bound to the same still."""
    block = assign.parent
    assert isinstance(block, Block)
    around = next((n for n in name.ancestors() if n.parent is block), None)
    if not isinstance(around, Statement):
        return False
    between = block.body[block.body.index(assign) : block.body.index(around)]
    again = {n for statement in between for n in bound(statement)} | _inside(around)
    return not any(
        n.id in again
        for n in value.walk()
        if isinstance(n, Name) and not isinstance(n.value, Module)
    )


def _inside(around: Statement) -> set[str]:
    """What a statement with blocks binds; a plain one binds when it has read its names."""
    return set(bound(around)) if any(isinstance(n, Block) for n in around.walk()) else set()
