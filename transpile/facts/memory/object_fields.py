"""Whether a name may be a tensor that an object of the user's, no module, holds: what it was given,
`Buf(x.clone()).get()`, is followed to what its class keeps and gives back."""

from collections.abc import Iterator
from typing import Any

from ...model.expressions import Attribute, Call, Name, Subscript
from ...model.node import Expression
from ...model.program import Class, Function
from ...model.statements import Return
from ..origins import Origin
from ..values.lattice import Class as ClassValue
from ..values.lattice import Function as FunctionValue
from ..values.lattice import Sequence, Tensor
from .access_paths import of


def may_be_held(program: Any, name: Name) -> bool:
    """Whether a name of unknown value may be a tensor that a plain object has: `h = b.get()`."""
    todo, seen = [Origin(name)], set[Origin]()
    through = False
    while todo:
        origin = todo.pop()
        if origin in seen:
            continue
        seen.add(origin)
        value = of(origin.node)
        inner = value.element if origin.held and isinstance(value, Sequence) else value
        if through and isinstance(inner, Tensor):
            if not (inner.assumed and isinstance(origin.node, Name)):
                return True
        given = list(_of_objects(program, origin))
        through = through or bool(given)
        todo += given or program.calls.inside(*origin)
    return False


def _of_objects(program: Any, origin: Origin) -> Iterator[Origin]:
    """What `b.x`, `b.get()` and `b[0]` give, by the classes of which b may be made."""
    node, held = origin
    call = isinstance(node, Call)
    named = node.function if isinstance(node, Call) else node
    if isinstance(of(named), FunctionValue):
        yield from _returned(of(named).function, held)  # type: ignore[attr-defined]
    elif isinstance(node, Subscript):
        for cls in classes(program, node.object):
            method = program.project.find(cls, "__getitem__")
            yield from _returned(method, held)
    elif isinstance(named, Attribute):
        for cls in classes(program, named.object):
            method = program.project.find(cls, named.name)
            if method is not None and (call or program.project.is_property(method)):
                yield from _returned(method, held)
            family = program.project.family(cls)
            for owner, one in program.calls.attributes.get(named.name, ()) if not call else ():
                if owner in family:
                    yield Origin(one.node, min(one.held + held, 1))


def _returned(function: Any, held: int) -> Iterator[Origin]:
    for given in function.nodes(Return) if isinstance(function, Function) else ():
        if given.expression is not None:
            yield Origin(given.expression, held)


def classes(program: Any, node: Expression) -> dict[Class, None]:
    """The classes of plain objects that an expression may be, by the calls that made these."""
    found: dict[Class, None] = {}
    for made, held in program.calls.origins(Origin(node), set()):
        value = of(made.function) if isinstance(made, Call) and not held else None
        if isinstance(value, ClassValue) and isinstance(value.ref, Class):
            if not program.project.is_module(value.ref):
                found[value.ref] = None
    return found
