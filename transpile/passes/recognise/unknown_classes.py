"""What makes the modules that classes keep, where the class is one that nobody knows here.

def build(name, *args):
    return REGISTRY[name](*args)        a New

self.encoder = build("vit", 768)
"""

from collections.abc import Iterator

from ...facts.modules import SUBMODULE
from ...facts.origins import Origin
from ...facts.program import ProgramFacts
from ...facts.values import lattice
from ...facts.values.lattice import UNKNOWN
from ...model.effects import Declare
from ...model.expressions import Call
from ...model.node import Expression

_HOLDING = ("torch.nn.Sequential", "torch.nn.ModuleList", "torch.nn.ModuleDict")


def made_of_unknown(facts: ProgramFacts) -> frozenset[Call]:
    """The calls of unknown functions whose results are kept as submodules."""
    seen: set[Origin] = set()
    return frozenset(made for kept in _kept(facts) for made in _unknown(facts, kept, seen))


def _kept(facts: ProgramFacts) -> Iterator[Origin]:
    """What is kept as a submodule, or given to a container of modules."""
    for function in facts.project.functions():
        for declare in function.nodes(Declare):
            if declare.kind == SUBMODULE and declare.expression is not None:
                yield Origin(declare.expression)
        for call in function.nodes(Call):
            if any(facts.values.of(call.function) == lattice.Torch(name) for name in _HOLDING):
                yield from (Origin(a, held) for a in call.arguments for held in (0, 1))


def _unknown(facts: ProgramFacts, kept: Origin, seen: set[Origin]) -> Iterator[Call]:
    for made, _ in facts.calls.origins(kept, seen):
        if not isinstance(made, Call):
            continue
        if facts.values.of(made.function) == UNKNOWN:
            yield made
        for result in _results(facts, made):
            yield from _unknown(facts, Origin(result), seen)


def _results(facts: ProgramFacts, call: Call) -> Iterator[Expression]:
    """What the user's functions and methods return that a call runs."""
    for target in facts.calls.targets(call):
        yield from facts.calls.results(target)
