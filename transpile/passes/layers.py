"""Loops that apply equal layers one after another become `Layers`: compiled once.

for block in self.blocks:
    x = block(x, mask)          Layers self.blocks: x = Apply(block, x, mask)

Left as they are: layers that may differ, that write buffers, or whose other arguments change from
turn to turn, and loops that are read for more than what goes through.
"""

from __future__ import annotations

from typing import Protocol

from ..facts.bindings import Liveness, bound, read
from ..model.carry import Effects
from ..model.effects import Apply, Key, Layers
from ..model.expressions import Call, Display, Name, NamedExpression, Starred
from ..model.names import dotted, target_names
from ..model.node import Expression, Node
from ..model.program import Function, Scope
from ..model.statements import Assign, For
from .pass_ import Changes, Pass


class ModuleFacts(Protocol):
    def equal(self, layers: Expression) -> bool | None:
        """Whether all modules of a container are one function of their params: of one class, with
        equal fields; None where that is not known."""


class EffectFacts(Protocol):
    def of_block(self, block: Node) -> Effects:
        """What running a block, or one statement, does to arrays."""


class Facts(Protocol):
    modules: ModuleFacts
    effects: EffectFacts


def run(scope: Scope, facts: Facts) -> Changes:
    """Make every such loop of one function `Layers`."""
    changes = Changes(scope)
    loops = scope.nodes(For) if isinstance(scope, Function) and scope.nodes(Apply) else []
    stacks = [(loop, found) for loop in loops if (found := _stack(loop)) is not None]
    liveness = Liveness(scope) if stacks and isinstance(scope, Function) else None
    for loop, found in stacks:
        assert liveness is not None
        if set(target_names(loop.target)) & liveness.after.get(loop, frozenset()):
            continue
        if facts.modules.equal(found.layers) and _only_computes(facts, loop):
            changes.become(loop, found.node)
    return changes


class _Stack:
    """The layers of a loop, the name that goes through them, and the call of one."""

    def __init__(self, layers: Expression, name: str, call: Apply) -> None:
        self.layers, self.name, self.call = layers, name, call

    def node(self, loop: For) -> Layers:
        return Layers(self.layers, self.name, self.call)


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
    return _Stack(layers, target.id, call)


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


def _only_computes(facts: Facts, loop: For) -> bool:
    """Whether the layers write nothing: what is written would be stacked in the state too."""
    effects = facts.effects.of_block(loop.body)
    return not effects.writes and not effects.open


PASS = Pass("layers", ("bindings", "effects", "modules"), run)
