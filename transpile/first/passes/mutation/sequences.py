"""A Sequential that begins with layers that write their argument: where that is read later, they are called on their own.

    y = self.block(x)                      x = self.block[0](x)
    return x + y                           y = self.block[1:](x)
                                           return x + y

of `self.block = nn.Sequential(nn.ReLU(inplace=True), nn.Linear(n, n))`.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import libcst as cst

from ... import tree
from ...inplace import gives_back, module_writes
from ...values import Module, Tensor
from .frame import Frame
from .order import elsewhere
from .rebinding import memory_of, rebind, written_name


def taken_apart(frame: Frame, node: cst.Call) -> Any:
    """What stands for such a call; None for others, and where nobody reads the argument again."""
    value = frame.value(node.func)
    if not isinstance(value, Module) or not frame.runs or not node.args:
        return None
    writes = module_writes(frame.views, value)
    if writes is False or gives_back(frame.views, value):
        return None
    subject, leading = node.args[0].value, _leading(frame, value)
    name = written_name(frame, subject) if frame.is_tensor(subject) else None
    if name is None or memory_of(frame, subject) == "copy":
        return None
    live = frame.live - frame.rebound
    other = elsewhere(frame, node, name)
    if not other and not (name in live or frame.memory.sharing(name, live) or name.startswith("self.")):
        if writes:
            frame.record_write(name)
        return None
    if writes is None:  # few mean that: what writes is seldom put where the argument is needed again
        message = f"{tree.code(node.func)} may begin by writing {name} in place: here {name} keeps its value; give its first layer inplace=False"
        frame.context.report("taken-for-granted", node, message)
        return None
    if "before" in other or leading == 0 or frame.chosen or memory_of(frame, subject) == "either":
        message = f"{tree.code(node.func)} begins by writing {name} in place, and {name} is read beside it: give its first layer inplace=False"
        return frame.context.unconverted("aliased-write", node, message)
    written: Any = subject
    items = value.items or ()  # without any, nothing is leading
    for i, (_, item) in enumerate(items[:leading]):
        assert isinstance(item, Module)
        written = _call(frame, node, tree.expression(f"f[{i}]"), dataclasses.replace(item, inplace=False), written)
    frame.before_with_followers(rebind(frame, subject, written, cst.Expr(node)))
    return _call(frame, node, tree.expression(f"f[{leading}:]"), dataclasses.replace(value, items=items[leading:]), subject)


def _leading(frame: Frame, value: Module) -> int:
    """How many layers at its beginning give back their argument, written or not; 0 where one of them is a Sequential itself."""
    count = 0
    for i, (_, item) in enumerate(value.items or ()):
        if not isinstance(item, Module) or item.items:
            break
        if item.inplace:  # certain: what may write is refused above
            count = i + 1
        elif not all(isinstance(r, str) and r.endswith(".Identity") for r in item.classes):
            break
    return count


def _call(frame: Frame, node: cst.Call, part: Any, value: Module, argument: Any) -> cst.Call:
    """A call of some of the layers."""
    func = tree.replace(part, value=node.func)
    frame.facts.tell(func, value)
    made = tree.replace(node, func=func, args=[tree.replace(node.args[0], value=argument, comma=cst.MaybeSentinel.DEFAULT)])
    frame.facts.tell(made, Tensor())
    frame.facts.origin[id(made)] = frame.facts.origin.get(id(node), node)
    return made
