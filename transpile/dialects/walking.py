"""Walks over the parts of modules while these run, whose order counts: a traced model of Flax's has
its parts by the alphabet, one of Equinox's by its fields, and torch's as they were set. The modules
of such a program know that, by a tuple of names."""

from ..facts.program import ProgramFacts
from ..facts.values.lattice import Module
from ..model.expressions import Attribute, Call, Comprehension, ForClause, Name
from ..model.names import dotted
from ..model.program import Function
from ..model.project import Project
from ..model.statements import Assign

ORDER = "_order"  # the walks of the preludes read it
WALKS = frozenset(
    "apply modules named_modules children named_children parameters named_parameters".split()
)
_MIXING = frozenset("sum any all min max len next".split())


def go_in_order(project: Project, facts: ProgramFacts) -> bool:
    """Whether any function of a project goes over parts of modules while they run, in order."""
    return any(_walks(function, facts) for function in project.functions())


def names_in_order(me: str) -> Assign:
    """`self._order = tuple(vars(self))`, behind all that a constructor sets."""
    parts = Call(Name("tuple"), [Call(Name("vars"), [Name(me)])])
    return Assign([Attribute(Name(me), ORDER)], parts)


def _walks(function: Function, facts: ProgramFacts) -> bool:
    ordered = any(_is_walk(call) and not _mixes(call) for call in function.nodes(Call))
    return ordered and facts.stage(function) == "traced"


def _is_walk(call: Call) -> bool:
    function = call.function
    named = isinstance(function, Attribute) and function.name in WALKS
    return named and isinstance(function.object.value, Module)  # type: ignore[attr-defined]


def _mixes(walk: Call) -> bool:
    """Whether it is all the same in which order a walk goes: `sum(p.norm() for p in …)`, and
    `next(…)`, which is asked for its dtype."""
    around = walk.parent
    if isinstance(around, ForClause) and isinstance(around.parent, Comprehension):
        around = around.parent.parent
    return isinstance(around, Call) and dotted(around.function) in _MIXING
