"""What is threaded through a function or a call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from operator import or_

from ...facts.modules import Modules
from ...facts.values.lattice import Class as ClassValue
from ...facts.values.lattice import Function as FunctionValue
from ...facts.values.lattice import Functions, Module, Value, classes_of
from ...model.effects import Apply, New
from ...model.expressions import Call
from ...model.functions import is_checkpoint
from ...model.node import Expression, Node
from ...model.program import Class, Function


@dataclass(frozen=True)
class Threads:
    """What a function takes and gives beside its own. `known`: whether what runs is known."""

    takes: bool = False  # a state
    gives: bool = False  # a new state
    draws: bool = False
    known: bool = True
    params: bool = False  # where params are values too
    mode: bool = False  # where the mode is a value too

    def __or__(self, other: Threads) -> Threads:
        return Threads(
            self.takes or other.takes,
            self.gives or other.gives,
            self.draws or other.draws,
            self.known and other.known,
            self.params or other.params,
            self.mode or other.mode,
        )


def union(several: Iterable[Threads]) -> Threads:
    """What is taken and given by any of several."""
    return reduce(or_, several, NOTHING)


NOTHING = Threads()
ANYTHING = Threads(True, True, True, False, True, True)


def calls_of(function: Function) -> list[Call]:
    """The calls that may need what is threaded; those of plain functions, which may build."""
    return [call for call in function.nodes(Apply, New, Call) if is_threaded(call)]


def scanned(function: Function) -> list[Apply]:
    """The calls of equal layers, one after the other."""
    return [call for call in function.nodes(Apply) if call.each is not None]


def is_threaded(node: Node) -> bool:
    """Whether a call may need what is threaded."""
    if isinstance(node, (Apply, New)):
        return True
    called = node.function.value if isinstance(node, Call) else None
    if isinstance(called, Functions):
        return len({one.owner is None for one in called.several}) == 1
    if isinstance(called, ClassValue):
        classes = classes_of(called)
        return bool(classes) and all(isinstance(cls, Class) for cls in classes)
    return isinstance(called, FunctionValue)


def of_layers(value: Value | None, modules: Modules, asking: Mapping[str, Threads]) -> Threads:
    """What torch's layers ask for by the names of their classes, where a module may be one, or a
    container of such."""
    if not isinstance(value, Module):
        return NOTHING
    classes = modules.classes_of(value.refs)
    own = {asking.get(cls.name, NOTHING) for cls in classes if modules.is_library(cls)}
    found = Threads(known=len(own) < 2)
    held = value.element if value.items is None else None
    inside = [held, *(item for _, item in value.items or ())]
    for threads in [*own, *(of_layers(one, modules, asking) for one in inside)]:
        found |= replace(threads, known=True)
    return found


# --- calls of what is run again in backward -------------------------------------------------------

UPDATED = (
    "torch runs a checkpointed module again in backward, and updates its state again: here it is "
    "updated once"
)


def checkpointed(call: Call) -> Expression | None:
    """What such a call runs; None of other calls."""
    function = call.function
    if isinstance(function, Call) and is_checkpoint(function.function):
        return function.arguments[0]
    return None
