"""What is kept as a submodule and may be a plain function, or more than what is known.

self.act = F.relu if fast else nn.GELU()    self.act = jax.nn.relu if fast else nn.GELU()
self.act = F.relu if fast else nn.PReLU()   self.act = nn.as_module(…, ["params"])
self.act = act                              self.act = nn.as_module(act)
"""

from ...facts.values.class_values import named_classes
from ...facts.values.lattice import Module, Tensor, Value
from ...model.constants import is_none
from ...model.effects import New, Support
from ...model.expressions import Call, Constant, Display, Name
from ...model.node import Expression
from ...model.operators import Conditional
from ...model.program import Function
from .plan import Plan

WORDS = ("params", "state", "key", "training")


def keep(value: Expression, plan: Plan, held: Value | None = None) -> None:
    """Make a module of what is kept as one and may be a function, unless it is called as such;
    `held`: what the attribute is, on other ways too."""
    if not may_be_function(value):
        return
    kept = held if isinstance(held, Module) and held.function else value.value
    words = None if isinstance(value, Name) else takes(kept, plan)
    if words != []:
        told = [] if words is None else [Display("list", words)]
        value.wrap(lambda value: Call(Support("as_module"), [value, *told]))


def may_be_function(value: Expression) -> bool:
    """Whether what is kept as a submodule may be a plain function: it was given, or made by what
    was given."""
    if isinstance(value, Conditional):
        return may_be_function(value.body) or may_be_function(value.orelse)
    if isinstance(value, New):  # `REGISTRY[name](dim)`, but not `norm_layer(dim)`
        return value.value == Module(open=True) and not isinstance(value.function, Name)
    if isinstance(value, Display) or is_none(value) or isinstance(value.value, Tensor):
        return False
    return not isinstance(value.value, Module) or value.value.open


def takes(value: Value | None, plan: Plan) -> list[Expression] | None:
    """The words for the effects that something is known to need; None where it may need any."""
    known = _known(value, plan)
    if not known:
        return None
    needs = plan.conventions.as_given.together(known, plan.threads)
    needed = (needs.params, needs.takes, needs.draws, needs.mode)
    return [Constant(word) for word, asked in zip(WORDS, needed) if asked]


def are_unlike(value: Value | None, plan: Plan) -> bool:
    """Whether of those some take less than others."""
    return len(set(map(plan.threads, _known(value, plan) or []))) > 1


def _known(value: Value | None, plan: Plan) -> list[Function] | None:
    """What something runs that is known to be modules, or to make such; None for one not known."""
    if isinstance(value, Module):
        return plan.facts.effects.given(value) if value.checked else None
    classes = plan.modules.classes_of(named_classes(value) if value is not None else ())
    found = [plan.modules.find(cls, "__call__") for cls in classes]
    known = [call for call in found if call is not None]
    return known if len(known) == len(found) else None
