"""How the memory of one name is made of that of another, and how a new value is put back."""

from typing import Any

from ...facts import casts
from ...facts.memory import Place
from ...facts.memory.views import view_of
from ...model.copy import clone
from ...model.expressions import Attribute, Call
from ...model.node import Expression
from . import nodes
from .frame import Frame


def bases_of(frame: Frame, path: str, others: list[str]) -> list[str]:
    """Of these names, those that are what the written view is a view of."""
    mine = frame.state.only(path)
    if mine is None or mine.view is None:
        return []
    places = ((o, frame.state.only(o)) for o in others)
    return [o for o, its in places if its is not None and mine.parents == frozenset([its])]


def related(frame: Frame, path: str, other: str) -> Expression | None:
    """What the other name becomes when this one has its new value, or None where that is not
    known."""
    state = frame.state
    mine, its = state.only(path), state.only(other)
    if mine is None or its is None:
        return None
    if mine is its:
        return frame.named(path)
    if its.view is not None and its.parents == {mine} and state.unchanged(its):
        return _taken(frame, its, path)  # a view of what was written
    if mine.view is not None and mine.parents == {its} and state.unchanged(mine):
        taken = _taken(frame, mine, other)
        if casts.is_cast(taken):
            return frame.named(path)
        return _put_back(frame, taken, _steps(frame, mine), frame.named(path))
    return None


def _steps(frame: Frame, place: Place) -> int:
    """How many views a view is of what has a name: two in `x.view(-1)[1:]`."""
    steps, inner = 1, nodes.holder(place.view).object
    while frame.state.path(inner) != place.base:
        steps, inner = steps + 1, nodes.holder(inner).object
    return steps


def _taken(frame: Frame, place: Place, base: str) -> Expression:
    """A view, taken of another name for what it is a view of."""
    return nodes.rebased(place.view, frame.named(base), _steps(frame, place))


def _put_back(frame: Frame, taken: Any, steps: int, value: Expression) -> Expression | None:
    """What a view is a view of, with its new value in it; None where that is not known."""
    made: Expression | None = value
    for _ in range(steps):
        view = view_of(taken, frame.views)
        if view is None or made is None:
            return None
        if isinstance(taken, (Attribute, Call)) and _detaches(taken):
            made = nodes.with_data(clone(view.base), made)
        made, taken = nodes.put_back(taken, view, made), view.base
    return made


def _detaches(view: Attribute | Call) -> bool:
    """`x.data`, `x.detach()`"""
    if isinstance(view, Attribute):
        return view.name == "data"
    return isinstance(view.function, Attribute) and view.function.name == "detach"


def sibling(frame: Frame, other: str, bases: list[str]) -> Expression | None:
    """Two views of one base: the base has been written back, and the other is taken again."""
    its = frame.state.only(other)
    if its is None or its.view is None or not bases or not frame.state.unchanged(its):
        return None
    if its.parents != frame.state.places(bases[0]):
        return None
    return _taken(frame, its, bases[0])
