"""Names that mean the same in every function: what the user has under them gets another one.

    def forward(self, query, key):    →    def __call__(self, params, query, key_, *, key=None):

Whoever calls a model gives it `params`, `state`, `key` and `training` under these words.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.bindings.activity import bound
from ...model.effects import Apply, New
from ...model.expressions import Call, Lambda, Name
from ...model.node import Node
from ...model.program import Function
from ..fresh import fresh, taken
from ..threading.threads import Threads
from .conventions import Conventions


def rename_parameters(conventions: Conventions) -> None:
    """Give other names to the user's parameters and locals that are called as what a function
    takes."""
    renamed: dict[Function, dict[str, str]] = {}
    for function in conventions.functions:
        words = _taken_by(conventions.of(function))
        own = {p.name for p in function.parameters} | set(bound(function.body))
        if own & words:
            known = taken(function)
            names = {name: fresh(f"{name}_", known) for name in sorted(own & words)}
            _rename(function, names)
            renamed[function] = names
    for function in conventions.functions if renamed else ():
        for call in function.nodes(Call, Apply, New):
            _respell(call, conventions, renamed)


def _taken_by(threads: Threads) -> set[str]:
    given = {"params": threads.params, "state": threads.takes}
    given |= {"key": threads.draws, "training": threads.mode}
    return {word for word, takes in given.items() if takes}


def _rename(function: Function, names: dict[str, str]) -> None:
    if any(p.name in names for p in function.parameters):
        for parameter in function.parameters:
            parameter.name = names.get(parameter.name, parameter.name)
        function.restate()
    for node in list(_outside(function.body, names)):
        if isinstance(node, Name) and node.id in names:
            node.rename(names[node.id])


def _outside(node: Node, names: dict[str, str]) -> Iterator[Node]:
    """The nodes below one, without functions that have parameters of these names."""
    yield node
    if isinstance(node, (Function, Lambda)) and any(p.name in names for p in node.parameters):
        return
    for child in node.children():
        yield from _outside(child, names)


def _respell(
    call: Call, conventions: Conventions, renamed: dict[Function, dict[str, str]]
) -> None:
    """Keywords of a call of one of these functions."""
    if not any(call.keywords):
        return
    for target in conventions.targets(call) or ():
        names = renamed.get(target, {})
        for argument, word in list(zip(call.arguments, call.keywords)):
            if word in names:
                call.respell(argument, names[word])
