"""A Sequential that begins with layers that write their argument: where that is read again, these
are called on their own.

    y = self.block(x)                      x = self.block[0](x)
    return x + y                           y = self.block[1:](x)
                                           return x + y

of `self.block = nn.Sequential(nn.ReLU(inplace=True), nn.Linear(n, n))`.
"""

import dataclasses

from ...facts.memory.access_paths import of
from ...facts.values.lattice import Module, Tensor
from ...model.copy import clone
from ...model.effects import Apply
from ...model.expressions import Call, Slice, Subscript
from ...model.node import Expression
from . import nodes
from .callees import lost, owns, refuse_lost
from .frame import Frame
from .order import elsewhere
from .rebinding import memory_of, rebind


def begun(frame: Frame, node: Call) -> Expression | None:
    """Let what a Sequential writes be written before the statement, where it is read again; what
    stands for the call where that cannot be."""
    value, spellings = of(node.function), frame.spellings
    if not isinstance(value, Module) or not node.arguments or spellings.gives_back(value):
        return None
    writes, subject = frame.memory.writes_argument(node.function, frame.scope), node.arguments[0]
    if writes is False:
        return None
    layer = nodes.source(node.function)
    for own in owns(frame, subject):
        other = elsewhere(frame, node, own)
        if not other - {"before"} and not lost(frame, node, own):
            continue
        if writes is None:
            message = f"{layer} may begin by writing {own} in place: here {own} keeps its value"
            frame.changes.report("taken-for-granted", node, f"{message}; give it inplace=False")
            continue
        leading = spellings.leading(value)
        if leading and not other & {"before"} and not frame.chosen and _is_known(frame, subject):
            _in_two(frame, node, value, leading)
            return None
        message = f"{layer} begins with a layer that writes {own} in place"
        if other - {"before"}:
            return frame.unconverted("aliased-write", node, f"{message}, which is read beside it")
        refuse_lost(frame, node, own, message, id="aliased-write")
    return None


def _is_known(frame: Frame, subject: Expression) -> bool:
    return frame.is_tensor(subject) and memory_of(frame, subject) == "view"


def _in_two(frame: Frame, node: Call, value: Module, leading: int) -> None:
    items, subject = value.items or (), node.arguments[0]
    written: Expression = clone(subject)
    for i, (_, item) in enumerate(items[:leading]):
        if not isinstance(item, Module) or not item.inplace:
            continue
        first = Subscript(clone(node.function), nodes.number(i))
        first.value = dataclasses.replace(item, inplace=False)
        written = Apply(first, [written], training=getattr(node, "training", None))
        written.value = Tensor()
    frame.before_with_followers(rebind(frame, subject, written, node))
    rest = Subscript(clone(node.function), Slice(nodes.number(leading), None, None))
    rest.value = dataclasses.replace(value, items=items[leading:])
    node.function.replace(rest)
