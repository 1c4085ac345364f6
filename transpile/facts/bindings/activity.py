"""What code reads and binds, in the order of evaluation: the one answer from which the others
are made."""

import enum
import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from ...model.control_flow import Collect, Loop, Scan
from ...model.effects import Tie, Write
from ...model.expressions import (
    Call,
    Comprehension,
    Dictionary,
    Display,
    Lambda,
    Name,
    NamedExpression,
    Starred,
)
from ...model.node import Expression, Node
from ...model.operators import Conditional
from ...model.program import Class, Function, at_definition
from ...model.statements import Assign, Block, Delete, For, Handler, Import, OpaqueStatement, With


class Kind(enum.Enum):
    """What happens to a name. CAPTURE: a function inside reads it, now or whenever it is called."""

    READ = "read"
    BIND = "bind"
    UNBIND = "unbind"
    CAPTURE = "capture"


class Event(NamedTuple):
    """One name that is read or bound, and the node that does it."""

    kind: Kind
    name: str
    node: Node


def events(node: Node | None) -> list[Event]:
    """What a node reads and binds of the names of its scope, in the order of evaluation; blocks
    one after the other."""
    found: list[Event] = []
    stack = [node]
    while stack:
        node = stack.pop()
        if isinstance(node, Name):
            found.append(Event(Kind.READ, node.id, node))
        elif node is not None:
            kind: Any = node.__class__
            order, special = _handlers(kind)
            if special is not None:
                found += special(node)
            elif node.parts:
                below = node.children() if order is None else order(node)
                stack.extend(reversed(below))
    return found


def read(node: Node | None) -> list[str]:
    """The names that a node reads, in order, each once; what functions inside read is read."""
    kinds = (Kind.READ, Kind.CAPTURE)
    return list(dict.fromkeys(e.name for e in events(node) if e.kind in kinds))


def bound(node: Node | None) -> list[str]:
    """The names that a node binds, in order, each once."""
    return list(dict.fromkeys(e.name for e in events(node) if e.kind is Kind.BIND))


def by_name(assigns: Iterable[Assign]) -> dict[str, list[Assign]]:
    """The assignments that bind each name, in their order."""
    found: dict[str, list[Assign]] = {}
    for assign in assigns:
        for name in bound(assign):
            found.setdefault(name, []).append(assign)
    return found


def free(function: Function | Lambda | Class) -> list[str]:
    """The names that a function reads and does not bind: those of the scopes around it."""
    body = list(events(function.body))
    own = {e.name for e in body if e.kind is Kind.BIND}
    if not isinstance(function, Class):
        own |= {p.name for p in function.parameters}
    reading = (Kind.READ, Kind.CAPTURE)
    return list(dict.fromkeys(e.name for e in body if e.kind in reading and e.name not in own))


def targets(node: Expression) -> Iterator[Event]:
    """What an assignment to a target does: names are bound, of others the parts are read."""
    if isinstance(node, Name):
        yield Event(Kind.BIND, node.id, node)
    elif isinstance(node, Display):
        for element in node.elements:
            yield from targets(element)
    elif isinstance(node, Starred):
        yield from targets(node.expression)
    else:
        yield from events(node)


def _all(nodes: Iterable[Node | None]) -> Iterator[Event]:
    for node in nodes:
        yield from events(node)


def _assign(node: Assign) -> Iterator[Event]:
    if node.operator:  # `x += y` reads x before y
        yield from events(node.targets[0])
    yield from events(node.expression)
    yield from events(node.annotation)
    if node.expression is not None:
        for target in node.targets:
            yield from targets(target)


def _for(node: For) -> Iterator[Event]:
    yield from events(node.iterable)
    yield from targets(node.target)
    yield from _all([node.body, node.orelse])


def _with(node: With) -> Iterator[Event]:
    for context, target in node.pairs:
        yield from events(context)
        if target is not None:
            yield from targets(target)
    yield from events(node.body)


def _handler(node: Handler) -> Iterator[Event]:
    yield from events(node.type)
    if node.name is not None:
        yield Event(Kind.BIND, node.name, node)
    yield from events(node.body)


def _delete(node: Delete) -> Iterator[Event]:
    for target in node.targets:
        if isinstance(target, Name):
            yield Event(Kind.READ, target.id, target)
            yield Event(Kind.UNBIND, target.id, target)
        else:
            yield from events(target)


def _import(node: Import) -> Iterator[Event]:
    for name in node.names:
        if name.name != "*":
            yield Event(Kind.BIND, name.bound, node)


def _opaque(node: OpaqueStatement) -> Iterator[Event]:
    first, rest = node.inside[:1], node.inside[1:]
    yield from _all(first)
    for name in node.binds:
        yield Event(Kind.BIND, name, node)
    yield from _all(rest)


def _named(node: NamedExpression) -> Iterator[Event]:
    yield from events(node.expression)
    yield Event(Kind.BIND, node.target.id, node.target)


def _lambda(node: Lambda) -> Iterator[Event]:
    yield from _all(at_definition(node))
    for name in free(node):
        yield Event(Kind.CAPTURE, name, node)


def _definition(node: Function | Class) -> Iterator[Event]:
    yield from _all(at_definition(node))
    for name in free(node):
        yield Event(Kind.CAPTURE if isinstance(node, Function) else Kind.READ, name, node)
    yield Event(Kind.BIND, node.name, node)


def _comprehension(node: Comprehension) -> Iterator[Event]:
    """A scope of its own, but for its first iterable, and for what `:=` binds in it."""
    first = node.clauses[0]
    yield from events(first.iterable)
    own: set[str] = set()
    inner: list[Event] = []
    for clause in node.clauses:
        if clause is not first:
            inner.extend(events(clause.iterable))
        found = list(targets(clause.target))
        own |= {e.name for e in found if e.kind is Kind.BIND}
        inner.extend(e for e in found if e.kind is not Kind.BIND)
        inner.extend(_all(clause.conditions))
    inner.extend(_all([node.key, node.element]))
    yield from (e for e in inner if e.name not in own)


def _scan(node: Scan) -> Iterator[Event]:
    """The names that it collects rows for are bound after it; a turn does not read them."""
    yield from _for(node)
    for collect in node.collects:
        yield Event(Kind.BIND, collect.name, collect)


# What is evaluated in another order than that of its parts.
_Order = Callable[[Any], Sequence[Node | None]]
_ORDER: dict[type[Node], _Order] = {
    Conditional: lambda node: [node.test, node.body, node.orelse],
    Dictionary: lambda node: node.entries,
    Block: lambda node: node.body,
    Call: lambda node: [node.function, *node.arguments],
    Loop: lambda node: [node.bound, node.test, node.body],
    Collect: lambda node: [node.expression],
    Write: lambda node: [node.value, node.target],
    Tie: lambda node: [node.source, node.target],
}

# What binds a name, or is a scope of its own.
_Handler = Callable[[Any], Iterator[Event]]
_SPECIAL: dict[type[Node], _Handler] = {
    Comprehension: _comprehension,
    Lambda: _lambda,
    NamedExpression: _named,
    Function: _definition,
    Class: _definition,
    For: _for,
    With: _with,
    Handler: _handler,
    Delete: _delete,
    Import: _import,
    OpaqueStatement: _opaque,
    Assign: _assign,
    Scan: _scan,
}


@functools.cache
def _handlers(kind: type[Node]) -> tuple[_Order | None, _Handler | None]:
    """How nodes of a class are gone through; a node of JAX with self as the kind of node that it
    is."""
    for base in kind.__mro__:
        if base in _ORDER or base in _SPECIAL:
            return _ORDER.get(base), _SPECIAL.get(base)
    return None, None
