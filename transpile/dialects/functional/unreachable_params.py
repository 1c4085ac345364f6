"""Modules that are handed to what may call a part of them: their params have no way there.

def run(model, x, fn=step):        run(self, x) is refused: `step` calls `model.fc(x)`,
    return fn(model, x)            and is given no params by whoever calls `fn`
"""

from ...facts.computed_methods import methods_named
from ...facts.values.lattice import UNKNOWN, External, Module
from ...model.effects import Apply
from ...model.expressions import Attribute, Call, Name, Subscript
from ...model.node import Expression
from ...model.program import Function
from ..sharing.placement import parameter_for
from .conventions import Conventions
from .plan import Plan

_PARTIAL = External("functools.partial")


def is_lost(call: Call, plan: Plan) -> bool:
    """Whether a call hands on `self` so, which is never bound to its params."""
    own = [a for a in call.arguments if isinstance(a.value, Module) and a.value.is_self]
    held = (a for a in own if plan.may_have(a))
    return any(_is_lost(call, a, plan.conventions, frozenset()) for a in held)


def _is_lost(
    call: Call, argument: Expression, conventions: Conventions, seen: frozenset[Function]
) -> bool:
    targets = conventions.targets(call)
    if not targets:
        return call.function.value == _PARTIAL or _is_open(call.function)
    for target in targets if seen.isdisjoint(targets) else ():
        name = parameter_for(call, argument, target)
        for inner in target.nodes(Apply, Call):
            given = [a for a in inner.arguments if isinstance(a, Name) and a.id == name]
            if any(_is_lost(inner, a, conventions, seen | {target}) for a in given):
                return True
    return False


def _is_open(function: Expression) -> bool:
    """Whether a function is one that somebody gave: `fn`, `self.fn`."""
    if function.value not in (None, UNKNOWN):
        return False
    if isinstance(function, (Call, Subscript)):
        return True
    if isinstance(function, Attribute):
        return isinstance(function.object.value, Module) and function.object.value.is_self
    around = [n for n in function.ancestors() if isinstance(n, Function)]
    given = {p.name for f in around for p in f.parameters}
    return isinstance(function, Name) and function.id in given


def is_named(call: Call, function: Function, plan: Plan) -> bool:
    """Whether it is a method under a name that is computed, which is called without its params."""
    owner = function.owner
    found = methods_named(call, owner, plan.project) if owner is not None else []
    threads = [plan.conventions.of(method) for method in found]
    return any(t.params or t.takes or t.draws or t.mode for t in threads)
