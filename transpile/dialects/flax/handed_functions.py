"""Functions that draw and are handed on as values: each has its stream with it.

self.apply(init)           →    self.apply(functools.partial(init, rngs=rngs))
partial(init, std=0.1)     →    partial(init, std=0.1, rngs=rngs)
twice(noisy, x)            →    twice(noisy, x, rngs=rngs), which calls it with them
"""

from collections.abc import Callable

from ...facts.calls import Target
from ...model.effects import New
from ...model.expressions import Attribute, Call, Name
from ...model.names import imported, is_called, reads_of
from ...model.node import Expression
from .lowering import Lowering


def handed(low: Lowering, node: Call) -> None:
    """What a call is given that draws; of several functions all take the same."""
    file = node.file
    told = file is not None and imported(file, node.function) == "functools.partial"
    for argument, functions in low.plan.handed(node):
        word = next(filter(None, map(low.plan.takes.get, functions)), None)
        if word is not None and told and argument is node.arguments[0]:
            low.edits.change(node, _told(word, low.rngs(node)))
        elif word is not None and not _calls_alone(low, node, argument):
            low.edits.wrap(argument, _partial(word, low.rngs(node)))


def _calls_alone(low: Lowering, node: Call, argument: Expression) -> bool:
    """Whether the function that is given another one does nothing with it but call it, as one that
    draws."""
    given = [f for f in low.plan.targets(node) if f.owner is None]
    if len(given) != 1 or isinstance(node, New):
        return False
    bound = low.plan.facts.calls.arguments(node, Target(given[0]))
    uses = [n for name, one in bound if one is argument for n in reads_of(given[0], name)]
    return bool(uses) and all(_is_drawn(low, use) for use in uses)


def _is_drawn(low: Lowering, use: Name) -> bool:
    ran = low.plan.targets(use.parent) if is_called(use) else ()  # type: ignore[arg-type]
    return any(target in low.plan.takes for target in ran)


def _told(word: str, given: Expression) -> Callable[[Call], None]:
    return lambda call: call.append(given, word)


def _partial(word: str, given: Expression) -> Callable[[Expression], Call]:
    partial = Attribute(Name("functools"), "partial")
    return lambda function: Call(partial, [function, given], [None, word])
