"""Which modules that a constructor is given are called like a module of a known class.

self.downsample = downsample        self.downsample = nn.as_module(downsample, ["params"])
self.downsample(x)                  self.downsample(params["downsample"], x)

`nn.as_module` sees to it that whatever is given takes what those known take together. So it is
called, where all that is known of the call is what the parameter is known to be given, or where all
that may stand there take the same. `ffn_layer = nn.taking(ffn_layer, "params", "key")` does so for
all that a class makes: `self.mlp = ffn_layer(dim)`.
"""

from collections.abc import Callable, Collection
from dataclasses import replace

from ...facts.effects import EffectsOf
from ...facts.modules import Modules
from ...facts.values.class_values import named_classes
from ...facts.values.lattice import Module, Value
from ...facts.values.queries import Values
from ...model.constants import is_none
from ...model.effects import New
from ...model.expressions import Attribute, Call, Name
from ...model.names import rebound
from ...model.node import Expression
from ...model.operators import sides
from ...model.program import Function
from ..threading.threaded import Threads, union


class AsGiven:
    """What is asked of the calls of modules that were given."""

    def __init__(self, modules: Modules, effects: EffectsOf, values: Values) -> None:
        self.modules, self.effects, self.values = modules, effects, values
        self.makers: dict[Function | None, dict[str, Value | None]] = {}  # what `is_taken` is of

    def is_direct(self, call: Call, of: Callable[[Function], Threads]) -> bool:
        """Whether a call of a module that was given is written as one of a known class."""
        value = call.function.value
        if not isinstance(value, Module):
            return False
        given = self.given(value)
        kinds = {replace(of(function), known=True) for function in given}
        if any(one.takes for one in kinds) and not any(one.gives for one in kinds):
            return False  # what `nn.as_module` makes gives back the state that it takes
        holds = any(f.owner is not None and self.effects.is_holder(f.owner) for f in given)
        return len(kinds) == 1 and not holds or self._is_kept(call, given)

    def given(self, value: Value | None) -> frozenset[Function]:
        checked = isinstance(value, Module) and value.checked
        return frozenset(self.effects.given(value) or [] if checked else [])  # type: ignore[arg-type]

    def together(self, calls: Collection[Function], of: Callable[[Function], Threads]) -> Threads:
        """What all those take that are given where these are known to be: `nn.Identity()` alone
        stands for a layer, which may have params."""
        alone = bool(calls) and all(map(self.modules.is_identity, calls))
        return union(map(of, calls)) | Threads(params=alone)

    def is_taken(self, call: Call, state: bool) -> bool:
        """Whether `self.mlp` is what a class that was given makes, one of several."""
        made = [side for kept in self._kept(call) for side in sides(kept)]
        runs = (self.effects.targets(call) or []) if made else []
        given = {f for f, _ in runs if not self.modules.is_identity(f)}
        makers = [self._maker(m, given) for m in made if state or not self._is_identity(m)]
        if not given or not all(makers):
            return False
        for name in filter(None, makers):
            self.makers.setdefault(name.nearest(Function), {})[name.id] = name.value
        return True

    def _is_identity(self, made: Expression) -> bool:
        value = made.value if isinstance(made, New) else None
        return isinstance(value, Module) and value.classes == {"torch.nn.Identity"}

    def _maker(self, made: Expression, given: set[Function]) -> Name | None:
        """The parameter that makes a module which runs one of these: `ffn_layer(dim)`."""
        named, around = getattr(made, "function", None), made.nearest(Function)
        if not isinstance(named, Name) or around is None or named.id in rebound(around):
            return None
        if all(p.name != named.id for p in around.parameters):
            return None
        classes = self.modules.classes_of(named_classes(named.value)) if named.value else []
        return named if {self.modules.find(c, "__call__") for c in classes} == given else None

    def _kept(self, call: Call) -> list[Expression]:
        """What `self.norm` is set to, None left out."""
        place = call.function
        if not isinstance(place, Attribute):
            return []
        owner = place.object.value
        if not isinstance(owner, Module) or not owner.is_self:
            return []
        classes = self.modules.classes_of(owner.refs)
        below = (c for cls in classes for c in self.modules.below(cls))
        held = [self.modules.fields(c).get(place.name) for c in (*classes, *below)]
        return [v for one in held if one is not None for v in one.values if not is_none(v)]

    def _is_kept(self, call: Call, given: frozenset[Function]) -> bool:
        """Whether `self.norm` is what a parameter was given, or a function has made, and nothing
        else."""
        kept = self._kept(call) if given else []
        made = len(kept) == 1 and self._is_made(kept[0], given)
        return made or bool(kept) and all(self._is_parameter(v, given) for v in kept)

    def _is_made(self, kept: Expression, given: frozenset[Function]) -> bool:
        """`self.norm = get_norm(kind)`, which may be a plain function: `nn.as_module` is around."""
        value = kept.value if type(kept) is Call else None
        return isinstance(value, Module) and value.function and self.given(value) == given

    def _is_parameter(self, kept: Expression, given: frozenset[Function]) -> bool:
        """`norm`, or `norm if norm is not None else nn.LayerNorm(dim)`, which `nn.as_module` takes
        as one."""
        made = kept.nearest(Function)
        known = self.values.assumed(made) if made is not None else {}
        named = {s.id for s in sides(kept) if isinstance(s, Name) and isinstance(s.value, Module)}
        taken = any(isinstance(known.get(name), Module) for name in named)
        return taken and isinstance(kept.value, Module) and self.given(kept.value) == given
