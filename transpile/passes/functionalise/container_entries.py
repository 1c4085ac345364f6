"""What was taken out of a dict, list or object, `h = d["a"]`, and goes back there with its new
value."""

from collections.abc import Iterator

from ...facts.memory import Place
from ...facts.memory.access_paths import of, on_module
from ...facts.memory.object_fields import classes
from ...facts.values.lattice import Sequence, Static
from ...model.copy import clone
from ...model.expressions import Attribute, Call, Display, Name, Slice, Starred, Subscript
from ...model.names import below
from ...model.node import Expression, Node
from ...model.statements import Assign, For, While
from . import nodes
from .frame import Frame

# Methods that put other things into a dict or list, or take them out.
_REPLACING = frozenset(
    "update pop popitem clear setdefault append insert extend remove reverse sort".split()
)


def stored_back(frame: Frame, path: str, others: list[str]) -> str | None:
    """Put what was taken out of a dict, list or object back where it was: `d[k] = v`. The name of
    what holds it, where that is known."""
    mine = frame.state.only(path)
    if mine is None or mine.entry is None or mine.base is None or isinstance(mine.entry, Call):
        return None
    if not frame.state.unchanged(mine) or _is_computed(frame, mine.entry):
        return None
    if mine.base in others or frame.state.parameters(mine.base) or on_module(mine.base):
        frame.after.append(nodes.store(clone(mine.entry), frame.named(path)))
    return mine.base


def _is_computed(frame: Frame, entry: Expression) -> bool:
    """Whether an attribute of an object, no module, is a property of its class."""
    if not isinstance(entry, Attribute):
        return False
    project = frame.state.project
    found = (project.find(c, entry.name) for c in classes(frame.state.program, entry.object))
    return any(method is not None for method in found)


def replaced(frame: Frame, path: str) -> str | None:
    """The name of what holds what was taken out of it, where another thing may stand there by now:
    `h = d["a"]; d["a"] = x; h.zero_()`."""
    mine = frame.state.only(path)
    if mine is None or not isinstance(mine.entry, Subscript) or mine.base is None:
        return None
    taken, now = mine.entry, frame.current
    if now is None:
        return None
    loops = {n for n in now.ancestors() if isinstance(n, (For, While))}
    for place in _replacing(frame, mine):
        again = any(n in loops and n not in taken.ancestors() for n in place.ancestors())
        if taken.start < place.start < now.start or again and taken.start >= 0:
            return mine.base
    return None


def _replacing(frame: Frame, mine: Place) -> Iterator[Node]:
    """What puts something else where an entry is, as far as is known."""
    for assign in frame.scope.nodes(Assign):
        for target in assign.targets if not assign.operator else ():
            if isinstance(target, Subscript) and frame.state.path(target.object) == mine.base:
                if not _differ(target.index, mine.entry.index):
                    yield assign
    for call in frame.scope.nodes(Call):
        function = call.function
        if isinstance(function, Attribute) and function.name in _REPLACING:
            if frame.state.path(function.object) == mine.base:
                yield call


def _differ(one: Expression, other: Expression) -> bool:
    """Whether two keys are certain to be different ones."""
    a, b = of(one), of(other)
    known = all(isinstance(k, Static) and isinstance(k.const, (str, int)) for k in (a, b))
    return known and a != b


def is_of_tuple(subject: Subscript) -> bool:
    """Whether an element is one of a tuple, which takes no other: `z.unbind(0)[1]`."""
    held = of(subject.object)
    return isinstance(held, Sequence) and held.tuple


def tuple_with(frame: Frame, subject: Subscript, value: Expression) -> Assign | None:
    """`p[1].zero_()` of a tuple that only this name is known to have: `p` is another one then."""
    held, place = subject.object, of(subject.index)
    at = place.const if isinstance(place, Static) else None
    if not isinstance(held, Name) or at.__class__ is not int or not isinstance(at, int) or at < 0:
        return None
    others = [o for o in frame.reached(held.id) if o != held.id]
    if others or frame.state.parameters(held.id) or frame.state.outer(held.id):
        return None
    around = (n for n in subject.ancestors() if isinstance(n, For))
    if any(held.id in {n.id for n in below(loop.iterable, Name)} for loop in around):
        return None
    before = Subscript(clone(held), Slice(None, nodes.number(at), None))
    after = Subscript(clone(held), Slice(nodes.number(at + 1), None, None))
    parts = [Starred(before)] if at else []
    return Assign([clone(held)], Display("tuple", [*parts, value, Starred(after)]))
