"""Which functions run while a model is built alone."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from ...facts.array_paths import WRITING, arrays_written
from ...facts.effects import EffectsOf
from ...facts.modules import Modules
from ...facts.shapes.asked_shapes import is_measured
from ...facts.stages import Stages
from ...facts.values.lattice import Module
from ...model.effects import BUFFER, MIXED, PARAM, Apply, Declare, Key, Read, Write
from ...model.expressions import Call, Constant, Display, Name
from ...model.node import Expression, Statement
from ...model.operators import asks_for_none
from ...model.program import Function
from ...model.statements import Assign, Block, ExpressionStatement, For, If, Pass

Targets = Callable[[Call], list[Function] | None]
Asked = Callable[[Function], bool]


def only_built(
    own: Sequence[Function],
    callers: Mapping[Function, set[Function]],
    begin: set[Function],
    makes: Asked,
    fills: Asked,
) -> set[Function]:
    """`own`: all but forward passes; `begin`: those that are known to be such; `makes`:
    whether a function builds modules, whoever calls it; `fills`: whether it does so where one that
    builds calls it, whoever else does:

        def reset_parameters(self):         # of a layer, which its constructor calls
            nn.init.zeros_(self.weight)
        def reset_parameters(self):         # of a model of such layers, which nobody calls
            self.layer.reset_parameters()
    """
    begin = begin | {f for f in own if f.name == "__init__" and f.owner is not None or makes(f)}
    while True:
        found = _called_by(begin, own, callers)
        filling = [f for f in own if f not in found and callers.get(f, set()) & found]
        more = {f for f in filling if fills(f)}
        if not more:
            return found
        begin |= more


def is_call(function: Function, modules: Modules) -> bool:
    """Whether a function is what the call of a module runs."""
    owner, named = function.owner, function.name in ("__call__", "forward")
    return named and owner is not None and modules.is_module(owner)


class BySizes(NamedTuple):
    """Methods that give buffers their first values, by sizes alone, and no forward pass others:

        def _init_buffers(self):            # reset_parameters calls it, and a constructor that
            self.index.copy_(torch.arange(self.size))
        def init_non_persistent(self):      # as may the user, who gets the same
            self._init_buffers()

    `for_good`: those of them whose buffers nothing else writes."""

    first: set[Function]
    for_good: set[Function]


def by_sizes(
    own: Iterable[Function],
    functions: Iterable[Function],
    callers: Mapping[Function, set[Function]],
    begin: set[Function],
    effects: EffectsOf,
) -> BySizes:
    """The methods that give buffers values by sizes alone; `own`: the functions that no forward
    pass runs."""
    building = begin | {f for f in own if f.name == "__init__" and f.owner is not None}
    while more := {f for f in own if f not in building and callers.get(f, set()) & building}:
        building |= more
    writers: dict[str, set[Function]] = {}
    for function in functions:
        for statement in function.nodes(*WRITING):
            for read in arrays_written(statement):
                writers.setdefault(read.name, set()).add(function)
    known = {f for f in building if _only_fills(f) and _is_fixed(f)}
    known = {f for f in known if effects.host(f.body) is None}  # NumPy draws from a generator
    begun = {f for f in building if f.name == "__init__"}
    begun |= known
    later = begun.union(own)
    first = known.difference(*(fs for fs in writers.values() if not fs <= later))
    return BySizes(first, first.difference(*(fs for fs in writers.values() if not fs <= begun)))


def _only_fills(function: Function) -> bool:
    """Whether a method does nothing but write buffers of its module, and set fields of it."""
    writes = function.nodes(Write)
    kinds = {w.target.kind for w in writes if isinstance(w.target, Read)}
    inner = (n for n in function.body.walk() if isinstance(n, Statement))
    return bool(writes) and kinds <= {BUFFER, MIXED} and all(map(_is_plain, inner))


def _is_plain(statement: Statement) -> bool:
    if isinstance(statement, ExpressionStatement):
        return isinstance(statement.expression, Constant)
    if isinstance(statement, Assign):
        return isinstance(statement, Declare) or all(map(_is_plain_target, statement.targets))
    return isinstance(statement, (Write, If, For, Block, Pass))


def _is_plain_target(target: Expression) -> bool:
    if isinstance(target, Display):  # `height, width = self.size`
        return all(map(_is_plain_target, target.elements))
    return isinstance(target, Name)


def _is_fixed(function: Function) -> bool:
    """Whether what a method writes into buffers follows from sizes: it draws nothing, and reads no
    array's values."""
    if len(function.parameters) > 1 or function.nodes(Key):
        return False
    for read in function.nodes(Read):
        if read.kind not in (PARAM, BUFFER, MIXED):
            continue
        around = read.parent
        written = isinstance(around, Write) and around.target is read
        if not (written or is_measured(read) or asks_for_none(around)):
            return False
    return True


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
