"""Equal layers that are called one after another become one call: compiled once.

for block in self.blocks:
    x = block(x, mask)          x = ApplyEach(self.blocks, x, mask)
x = self.sequential(x)          x = ApplyEach(self.sequential, x)

Left as they are: layers that may differ, that write buffers, that convolve, or whose other
arguments change from turn to turn, and loops that are read for more than what goes through.
"""

from typing import Any

from ..facts.bindings import Liveness, bound, read
from ..facts.program import ProgramFacts
from ..facts.values.lattice import Module
from ..model.effects import Apply, Key
from ..model.expressions import Call, Display, Name, NamedExpression, Starred
from ..model.names import dotted, target_names
from ..model.node import Expression
from ..model.program import Function, Scope
from ..model.statements import Assign, For
from .pass_ import Changes, Pass


def run(scope: Scope, facts: ProgramFacts) -> Changes:
    """Make one call of every such loop, and of every such container, of one function."""
    changes = Changes(scope)
    if not isinstance(scope, Function) or not scope.nodes(Apply):
        return changes
    stacks = [(loop, found) for loop in scope.nodes(For) if (found := _stack(loop)) is not None]
    liveness = Liveness(scope) if stacks else None
    for loop, found in stacks:
        assert liveness is not None
        if set(target_names(loop.target)) & liveness.after.get(loop, frozenset()):
            continue
        if facts.modules.equal(found.layers) and _only_computes(facts, found.call):
            changes.change(loop, found.unwrap)
    for call in scope.nodes(Apply) if scope.name != "__init__" else ():
        if _is_sequence(call) and facts.modules.equal(call.function):
            if _only_computes(facts, call):
                changes.change(call, _each)
    return changes


class _Stack:
    """The layers of a loop, and the call of one."""

    def __init__(self, layers: Expression, name: str, call: Apply) -> None:
        self.layers, self.name, self.call = layers, name, call

    def unwrap(self, loop: For) -> None:
        """Leave the call alone of the loop."""
        loop.unwrap()
        self.call.function.replace(self.layers)
        self.call.each = self.name


def _each(call: Apply) -> None:
    call.each = "layer"


def _stack(loop: For) -> _Stack | None:
    """The loop as a stack of layers, where a turn is one call of the layer on its own result."""
    looped = _looped(loop)
    only = loop.body.body[0] if len(loop.body.body) == 1 else None
    if looped is None or loop.orelse is not None or loop.asynchronous:
        return None
    if not isinstance(only, Assign) or len(only.targets) != 1 or only.operator:
        return None
    target, call = only.targets[0], only.expression
    if not isinstance(target, Name) or not isinstance(call, Apply) or not call.arguments:
        return None
    layer, layers = looped
    if not isinstance(call.function, Name) or call.function.id != layer or target.id == layer:
        return None
    first, rest = call.arguments[0], call.arguments[1:]
    if not isinstance(first, Name) or first.id != target.id or call.keywords[0] is not None:
        return None
    changing = {target.id, *target_names(loop.target)}
    if any(_varies(argument, changing) for argument in rest) or changing & set(read(layers)):
        return None
    return _Stack(layers, layer, call)


def _varies(argument: Expression, changing: set[str]) -> bool:
    """Whether an argument may be another in each turn, or does more than to be read."""
    if isinstance(argument, Starred) or changing & set(read(argument)) or bound(argument):
        return True
    return any(isinstance(n, (Call, Key, NamedExpression)) for n in argument.walk())


def _looped(loop: For) -> tuple[str, Expression] | None:
    """The name of the layer, and the container: `for i, block in enumerate(blocks)` too."""
    target, iterable = loop.target, loop.iterable
    if isinstance(target, Name):
        return target.id, iterable
    if not isinstance(iterable, Call) or dotted(iterable.function) != "enumerate":
        return None
    parts = target.elements if isinstance(target, Display) else []
    if len(parts) != 2 or len(iterable.arguments) != 1:
        return None
    layer = parts[1]
    return (layer.id, iterable.arguments[0]) if isinstance(layer, Name) else None


def _is_sequence(call: Apply) -> bool:
    """Whether a call is of a Sequential of torch's, on what goes through its layers."""
    value: Any = call.function.value
    if not isinstance(value, Module) or value.open or value.refs != ["torch.nn.Sequential"]:
        return False
    return call.keywords == [None] and not isinstance(call.arguments[0], Starred)


def _only_computes(facts: ProgramFacts, call: Apply) -> bool:
    """Whether the layers have arrays to stack, and write none, which would be stacked in the state
    too; and do not convolve: XLA has no fast code for convolutions in a loop on CPUs."""
    effects = facts.effects.of_call(call)
    if not effects.reads or effects.writes or effects.open:
        return False
    return not facts.effects.convolves(call)


PASS = Pass("layers", ("bindings", "effects", "modules"), run)
