"""Which arrays a constructor draws, or computes of such: each model has its own.

self.order = torch.randperm(n)
self.inverse = torch.argsort(self.order)
"""

from ...facts.program import ProgramFacts
from ...model.expressions import Call
from ...model.names import everywhere
from ...model.program import Function
from ...model.statements import Assign
from .stores import assigned, registration


def drawn_arrays(facts: ProgramFacts, method: Function) -> set[str]:
    """The names of what a method sets on self that comes of a draw."""
    own, found = facts.project.self_name(method), set[str]()
    stores = [pair for node in everywhere(method, Assign) for pair in assigned(node, own)]
    for call in everywhere(method, Call):
        made = registration(call, own)
        if made is not None and made.text:
            stores.append((made.text, made.value))
    while more := {
        name
        for name, value in stores
        if name not in found and value is not None and facts.draws.value(value, method, found)
    }:
        found |= more
    return found
