"""What has a name only to be gone over, of what is called there, stands in the loop.

pairs = list(zip(self.layers, gains))
for layer, gain in pairs:                        for layer, gain in zip(self.layers, gains):

several = (self.kinds, self.layers)
for kind, layer in zip(*several):                for kind, layer in zip(self.kinds, self.layers):
"""

from typing import NamedTuple

from ...model.copy import clone
from ...model.expressions import Call, Constant, Display, Name, Starred
from ...model.names import dotted, everywhere, target_names
from ...model.node import Expression
from ...model.program import Function
from ...model.statements import Assign, Block, For

_LISTS = frozenset(("list", "tuple"))
_OVER = frozenset(("zip", "enumerate"))


class Named(NamedTuple):
    """`pairs = …` right before a loop, and the only place that reads the name."""

    made: Assign
    read: Name


def named_iterable(function: Function, loop: For) -> Named | None:
    """What a loop goes over by a name that is there for that alone."""
    block = loop.parent
    at = block.body.index(loop) if isinstance(block, Block) else 0
    made = block.body[at - 1] if at else None  # type: ignore[union-attr]
    if not isinstance(made, Assign) or made.operator or len(made.targets) != 1:
        return None
    if not _is_plain(made.expression):
        return None
    target = made.targets[0]
    word = target.id if isinstance(target, Name) else None
    uses = [n for n in everywhere(function, Name) if n.id == word and n is not target]
    if len(uses) != 1 or not _is_gone_over(uses[0], loop):
        return None
    bound = set(target_names(loop.target))
    calls = (n for n in loop.body.walk() if isinstance(n, Call))
    called = any(isinstance(c.function, Name) and c.function.id in bound for c in calls)
    spread = isinstance(uses[0].parent, Starred)
    fits = not spread or isinstance(made.expression, Display) and _is_whole(made.expression)
    return Named(made, uses[0]) if called and fits else None


def put(loop: For, named: Named) -> None:
    """Let a loop go over what the name stands for."""
    made, around = named.made.expression, named.read.parent
    assert made is not None
    if isinstance(around, Starred):
        call = around.parent
        assert isinstance(call, Call) and isinstance(made, Display)
        call.replace(Call(call.function, [clone(e) for e in made.elements]))
        return
    if isinstance(made, Call) and dotted(made.function) in _LISTS:
        made = made.arguments[0]
    named.read.replace(clone(made))


def _is_gone_over(name: Name, loop: For) -> bool:
    """`pairs`, `enumerate(pairs)`, `enumerate(zip(*several))`"""
    node: Expression = name
    if isinstance(name.parent, Starred):
        node = name.parent.parent  # type: ignore[assignment]
        if not isinstance(node, Call) or dotted(node.function) != "zip" or len(node.arguments) > 1:
            return False
    while node is not loop.iterable:
        around = node.parent
        if not isinstance(around, Call) or dotted(around.function) not in _OVER:
            return False
        node = around
    return True


def _is_plain(value: Expression | None) -> bool:
    """Whether it makes lists of what has names, and no more."""
    if isinstance(value, Call):
        return dotted(value.function) in _LISTS | _OVER and all(map(_is_plain, value.arguments))
    if isinstance(value, Display):
        return all(map(_is_plain, value.elements))
    return isinstance(value, Constant) or dotted(value) is not None


def _is_whole(made: Display) -> bool:
    return bool(made.elements) and not any(isinstance(e, Starred) for e in made.elements)
