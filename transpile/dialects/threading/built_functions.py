"""Which functions run while a model is built alone."""

from collections.abc import Callable, Iterable, Mapping

from ...facts.stages import Stages
from ...facts.values.lattice import Module
from ...model.effects import Apply
from ...model.expressions import Call
from ...model.program import Function

Targets = Callable[[Call], list[Function] | None]
Asked = Callable[[Function], bool]


def only_built(
    functions: Iterable[Function],
    callers: Mapping[Function, set[Function]],
    begin: set[Function],
    makes: Asked,
    fills: Asked,
) -> set[Function]:
    """`begin`: functions that are known to be such; `makes`: whether a function builds modules,
    whoever calls it; `fills`: whether it does so where one that builds calls it, whoever else does:

        def reset_parameters(self):         # of a layer, which its constructor calls
            nn.init.zeros_(self.weight)
        def reset_parameters(self):         # of a model of such layers, which nobody calls
            self.layer.reset_parameters()
    """
    own = [f for f in functions if f.name not in ("__call__", "forward")]
    begin = begin | {f for f in own if f.name == "__init__" and f.owner is not None or makes(f)}
    while True:
        found = _called_by(begin, own, callers)
        filling = [f for f in own if f not in found and callers.get(f, set()) & found]
        more = {f for f in filling if fills(f)}
        if not more:
            return found
        begin |= more


def _called_by(
    begin: set[Function], own: Iterable[Function], callers: Mapping[Function, set[Function]]
) -> set[Function]:
    """These functions, and those that they alone call."""
    found = set(begin)
    called = found | {f for f in own if callers.get(f)}  # a method may call itself, by its name
    while outside := {f for f in called - found if not callers[f] <= called}:
        called -= outside
    while more := {f for f in called - found if callers[f] & found}:
        found |= more
    return found


def runs_models(function: Function, targets: Targets, stages: Stages) -> bool:
    """Whether a function calls a model, or a method that does: `model.act(x)`. What is called while
    one is built is another thing, `model.init_weights()`."""
    seen, todo = {function}, [function]
    while todo:
        calls = todo.pop().nodes(Apply)
        if any(isinstance(call.function.value, Module) for call in calls):
            return True
        called = {t for c in calls for t in targets(c) or () if t.owner and t in stages.running}
        todo += called - seen
        seen |= called
    return False
