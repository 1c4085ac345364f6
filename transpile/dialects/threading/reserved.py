"""Names that mean the same in every function: what the user has under them gets another one.

    def forward(self, query, key):    →    def __call__(self, params, query, key_, *, key=None):

Whoever calls a model sees by these words what it takes: no parameter of the user's has one there.
"""

from __future__ import annotations

from collections.abc import Set

from ...facts.bindings.activity import bound
from ...model.effects import Apply, New
from ...model.expressions import Call
from ...model.program import Function
from ...model.renaming import rename_locals
from ..fresh import fresh, taken
from .signatures import Signatures
from .threads import Threads


def rename_parameters(signatures: Signatures, words: Set[str]) -> None:
    """Give other names to the user's parameters and locals that are called as what a function
    takes; `words`: those of a dialect."""
    renamed: dict[Function, dict[str, str]] = {}
    for function in signatures.functions:
        parameters = {p.name for p in function.parameters}
        own = (parameters | set(bound(function.body))) & _taken_by(signatures.of(function))
        if _is_call(function, signatures):
            own |= parameters
        if own := own & words:
            known = taken(function)
            names = {name: fresh(f"{name}_", known) for name in sorted(own)}
            rename_locals(function, names)
            renamed[function] = names
    for function in signatures.functions if renamed else ():
        for call in function.nodes(Call, Apply, New):
            _respell(call, signatures, renamed)


def _is_call(function: Function, signatures: Signatures) -> bool:
    """Whether a function is the call of a model."""
    owner = function.owner
    return function.name == "__call__" and owner is not None and signatures.modules.is_module(owner)


def _taken_by(threads: Threads) -> set[str]:
    given = {"params": threads.params, "state": threads.takes}
    given |= {"key": threads.draws, "training": threads.mode}
    return {word for word, takes in given.items() if takes}


def _respell(call: Call, signatures: Signatures, renamed: dict[Function, dict[str, str]]) -> None:
    """Keywords of a call of one of these functions."""
    if not any(call.keywords):
        return
    for target in signatures.targets(call) or ():
        names = renamed.get(target, {})
        for argument, word in list(zip(call.arguments, call.keywords)):
            if word in names:
                call.respell(argument, names[word])
