"""Which modules that a constructor is given are called like a module of a known class.

self.downsample = downsample        self.downsample = nn.as_module(downsample, ["params"])
self.downsample(x)                  self.downsample(params["downsample"], x)

`nn.as_module` sees to it that whatever is given takes what those known take together. So it is
called, where all that is known of the call is what the parameter is known to be given, or where all
that may stand there take the same.
"""

from collections.abc import Callable
from dataclasses import replace

from ...facts.effects import EffectsOf
from ...facts.modules import Modules
from ...facts.values.lattice import Module
from ...facts.values.queries import Values
from ...model.constants import is_none
from ...model.expressions import Attribute, Call, Name
from ...model.node import Expression
from ...model.program import Function
from ..threading.threaded import Threads


class AsGiven:
    """What is asked of the calls of modules that were given."""

    def __init__(self, modules: Modules, effects: EffectsOf, values: Values) -> None:
        self.modules, self.effects, self.values = modules, effects, values

    def is_direct(self, call: Call, of: Callable[[Function], Threads]) -> bool:
        """Whether a call of a module that was given is written as one of a known class."""
        value = call.function.value
        if not isinstance(value, Module):
            return False
        given = self._given(value)
        kinds = {replace(of(function), known=True) for function in given}
        if any(one.takes for one in kinds) and not any(one.gives for one in kinds):
            return False  # what `nn.as_module` makes gives back the state that it takes
        holds = any(f.owner is not None and self.effects.is_holder(f.owner) for f in given)
        return len(kinds) == 1 and not holds or self._is_kept(call, given)

    def _given(self, value: Module) -> frozenset[Function]:
        return frozenset(self.effects.given(value) or [] if value.checked else [])

    def _is_kept(self, call: Call, given: frozenset[Function]) -> bool:
        """Whether `self.norm` is what a parameter was given, or a function has made, and nothing
        else."""
        place, around = call.function, call.nearest(Function)
        cls = around.owner if around is not None else None
        if not isinstance(place, Attribute) or cls is None or not given:
            return False
        owner = place.object.value
        if not isinstance(owner, Module) or not owner.is_self:
            return False
        held = [self.modules.fields(c).get(place.name) for c in (cls, *self.modules.below(cls))]
        kept = [v for one in held if one is not None for v in one.values if not is_none(v)]
        made = len(kept) == 1 and self._is_made(kept[0], given)
        return made or bool(kept) and all(self._is_parameter(v, given) for v in kept)

    def _is_made(self, kept: Expression, given: frozenset[Function]) -> bool:
        """`self.norm = get_norm(kind)`, which may be a plain function: `nn.as_module` is around."""
        value = kept.value if type(kept) is Call else None
        return isinstance(value, Module) and value.function and self._given(value) == given

    def _is_parameter(self, kept: Expression, given: frozenset[Function]) -> bool:
        made = kept.nearest(Function)
        if not isinstance(kept, Name) or not isinstance(kept.value, Module) or made is None:
            return False
        known = self.values.assumed(made).get(kept.id)
        return isinstance(known, Module) and self._given(kept.value) == given
