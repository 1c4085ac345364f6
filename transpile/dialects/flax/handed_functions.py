"""Functions that draw and are handed on as values: each has its stream with it.

self.apply(init)           →    self.apply(functools.partial(init, rngs=rngs))
partial(init, std=0.1)     →    partial(init, std=0.1, rngs=rngs)
"""

from collections.abc import Callable

from ...model.expressions import Attribute, Call, Name
from ...model.names import imported
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
        elif word is not None:
            low.edits.wrap(argument, _partial(word, low.rngs(node)))


def _told(word: str, given: Expression) -> Callable[[Call], None]:
    return lambda call: call.append(given, word)


def _partial(word: str, given: Expression) -> Callable[[Expression], Call]:
    partial = Attribute(Name("functools"), "partial")
    return lambda function: Call(partial, [function, given], [None, word])
