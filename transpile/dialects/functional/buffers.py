"""How a buffer begins: with one number throughout, with what is drawn, or with own values."""

from collections.abc import Iterable, Iterator, Set

from ...facts.effects import EffectsOf
from ...model.effects import BUFFER, Declare, Key, New, Read
from ...model.expressions import Attribute, Call, Name
from ...model.names import binds, dotted
from ...model.node import Expression, Node
from ...model.operators import sides
from ...model.program import Function
from ...model.statements import Assign, ExpressionStatement

# What is filled with one number says nothing: a checkpoint does.
SHAPED = ("reshape", "astype")
FILLS = ("jnp.zeros", "jnp.ones", "jnp.full", "jnp.empty")


def unmade(functions: Iterable[Function], written: Set[str], effects: EffectsOf) -> set[str]:
    """The buffers that have no values of their own to begin with, or are made of what has none or
    is `written`: of a permutation that is drawn, its inverse `argsort(self.permutation)`."""
    found, made = set[str](), dict[str, set[str]]()
    for function in functions:
        for declare in function.nodes(Declare):
            value = declare.expression
            if declare.kind == BUFFER and value is not None:
                filled = declare.persistent and is_filled(value, function)
                if filled or is_drawn(value, function, effects):
                    found.add(declare.name)
                reads = (n for n in value.walk() if isinstance(n, Read) and n.kind == BUFFER)
                made.setdefault(declare.name, set()).update(r.name for r in reads if _is_asked(r))
    while more := {name for name, of in made.items() if of & (found | written)} - found:
        found |= more
    return found


def _is_asked(read: Read) -> bool:
    """Whether an array is asked for its values, not its shape alone."""
    around = read.parent
    return not isinstance(around, Attribute) or around.name not in ("shape", "dtype", "ndim")


def is_filled(value: Expression, function: Function) -> bool:
    """Whether a buffer is an array of one number, or drawn at once, on some way."""
    given = [_given(side, function) for side in sides(value)]
    return any(all(map(_is_fill, values)) for values in given)


def is_drawn(value: Expression, function: Function, effects: EffectsOf) -> bool:
    """Whether a value is computed from one that is drawn: `c = noise(n)`, then `c[:, :2]`; or that
    a generator of Python's or NumPy's has changed, `random.shuffle(c)`."""
    todo: list[Node] = [value]
    names = set[str]()
    while todo:
        for node in todo.pop().walk():
            called = node if isinstance(node, Call) and not isinstance(node, New) else None
            if isinstance(node, Key) or called and effects.of_call(called).draws:
                return True
            if called and effects.draws_on_host(called):
                return True
            if isinstance(node, Name) and node.id not in names:
                names.add(node.id)
                todo += _changes(node.id, function)
                todo += [g for g in _given(node, function) if g is not node]
    return False


def _changes(name: str, function: Function) -> Iterator[Call]:
    """The calls that may change what has a name: `random.shuffle(order)`, `parts.append(v)`."""
    for statement in function.nodes(ExpressionStatement):
        call = statement.expression
        if isinstance(call, Call):
            held = call.function.object if isinstance(call.function, Attribute) else None
            if any(isinstance(a, Name) and a.id == name for a in [held, *call.arguments]):
                yield call


def _given(value: Expression, function: Function) -> list[Expression]:
    """A value, or all that is given to it where it is a name."""
    if not isinstance(value, Name):
        return [value]
    given = [a.expression for a in function.nodes(Assign) if value.id in binds(a)]
    return [v for v in given if v is not None] or [value]


def _is_fill(value: Expression) -> bool:
    """Whether an array is made of one number, or drawn."""
    while isinstance(value, Call) and isinstance(value.function, Attribute):
        if value.function.name not in SHAPED:
            break
        value = value.function.object
    filled = isinstance(value, Call) and dotted(value.function) in FILLS
    return filled or any(isinstance(n, Key) for n in value.walk())
