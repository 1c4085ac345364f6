"""Constants that a property gives: one expression that costs nothing under jit.

self.register_buffer("mask", tril(ones(n, n)))  →  @property
                                                   def mask(self):
                                                       return jnp.tril(jnp.ones((self.n, self.n)))
"""

from collections.abc import Iterable, Iterator

from ...facts.modules import Modules
from ...model.effects import BUFFER, CONSTANT, PARAM, Declare, Read, Write
from ...model.expressions import Attribute, Call, Constant, Display, Name, Subscript
from ...model.names import dotted
from ...model.node import Expression, Node
from ...model.operators import Binary, Unary
from ...model.program import Class, Function

MADE = frozenset(f"jnp.{w}" for w in "tril triu ones zeros full arange eye linspace".split())
SHAPED = frozenset("reshape astype swapaxes".split())
_PARTS = (Attribute, Binary, Call, Constant, Display, Name, Subscript, Unary)
MOST = 4  # calls in one expression


def written_outside(functions: Iterable[Function]) -> set[str]:
    """The arrays, no params, that other modules are given: `self.encoder.mask = v`."""
    found = set[str]()
    for function in functions:
        me = function.receiver if function.owner else ""
        for target in (w.target for w in function.nodes(Write)):
            if not isinstance(target, Read) or target.kind == PARAM:
                continue
            if dotted(target.object) != me:
                found.add(target.name)
    return found


def properties(cls: Class, modules: Modules, stateful: set[str]) -> set[str]:
    """The constants of a class, its own, that are properties: no others are set."""
    methods = modules.home(cls).methods(cls)
    init = methods.get("__init__")
    if init is None or any(modules.home(cls).descendants(cls)):
        return set()
    writes = (w.target for m in methods.values() for w in m.nodes(Write))
    written = {target.name for target in writes if isinstance(target, Read)}
    found = {d.name for d in _declared(init) if d.name not in written | stateful}
    several = [d.name for m in methods.values() for d in m.nodes(Declare)]
    return {name for name in found if several.count(name) == 1}


def _declared(init: Function) -> Iterator[Declare]:
    for statement in init.body.body:
        if isinstance(statement, Declare) and statement.kind in (BUFFER, CONSTANT):
            if statement.expression is not None and is_cheap(statement.expression):
                yield statement


def is_cheap(value: Expression) -> bool:
    """Whether an array is made of sizes alone, by few operations."""
    calls = [n for n in value.walk() if isinstance(n, Call)]
    made = [c for c in calls if dotted(c.function) in MADE]
    if not made or len(calls) > MOST:
        return False
    return all(map(_is_plain, value.walk())) and all(c in made or _shapes(c) for c in calls)


def _is_plain(node: Node) -> bool:
    return type(node) in _PARTS


def _shapes(call: Call) -> bool:
    return isinstance(call.function, Attribute) and call.function.name in SHAPED
