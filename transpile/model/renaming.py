"""Other names for the locals of a function, wherever a node has one: also what blocks carry."""

import dataclasses
import re
from collections.abc import Iterator, Mapping

from .carry import Carry, Effects
from .control_flow import Collect, Cond, Loop, Repeat, Scan
from .expressions import Lambda, Name
from .node import Node
from .program import Function, Parameter
from .statements import Declaration, Handler

Names = Mapping[str, str]
_WORD = re.compile(r"[*\s]*(\w+)")


def rename_locals(function: Function, names: Names) -> None:
    """Give parameters and locals of a function the names that they have here."""
    if any(p.name in names for p in function.parameters):
        for parameter in function.parameters:
            if parameter.name in names:
                _rename_parameter(function, parameter, names[parameter.name])
    for node in list(_within(function.body, names)):
        _rename(node, names)


def _rename_parameter(function: Function, parameter: Parameter, name: str) -> None:
    """Another name where it stands, beside the comments of the others."""
    text = function.file.text if function.file is not None and function.start >= 0 else ""
    begin = (parameter.place() or (parameter.start,))[0]
    word = _WORD.match(text, begin) if begin >= 0 else None
    if word is None:
        function.restate()
    else:  # its own word, as its annotation may have changed too: `key: torch.Tensor`
        named = parameter if parameter.start >= 0 and parameter.slot is None else function
        named.reword(word.start(1), word.end(1), name)
    parameter.name = name


def _within(node: Node, names: Names) -> Iterator[Node]:
    """The nodes at and below one; of functions that have parameters of these names only what is
    evaluated around them, the default in `def step(a, state=state)`."""
    yield node
    inner = node.children()
    if isinstance(node, (Function, Lambda)) and any(p.name in names for p in node.parameters):
        inner = [p.default for p in node.parameters if p.default is not None]
        inner += node.decorators if isinstance(node, Function) else []
    for child in inner:
        yield from _within(child, names)


def _rename(node: Node, names: Names) -> None:
    if isinstance(node, Name):
        if node.id in names:
            node.rename(names[node.id])
    elif isinstance(node, Function):
        if node.name in names:
            node.rename(names[node.name])
    elif isinstance(node, (Cond, Loop, Repeat, Scan)):
        node.carry = _carry(node.carry, names)
        if isinstance(node, Scan) and node.running is not None:
            node.running = names.get(node.running, node.running)
    elif isinstance(node, Collect):
        node.name = names.get(node.name, node.name)
    elif isinstance(node, Handler) and node.name is not None and node.name in names:
        node.name = names[node.name]
        node.restate()
    elif isinstance(node, Declaration) and any(name in names for name in node.names):
        node.names = tuple(names.get(name, name) for name in node.names)
        node.restate()


def _carry(carry: Carry, names: Names) -> Carry:
    def renamed(words: list[str]) -> list[str]:
        return [names.get(word, word) for word in words]

    known = {names.get(name, name): carried for name, carried in carry.names.items()}
    effects = _effects(carry.effects, names)
    return Carry(
        renamed(carry.inputs), renamed(carry.outputs), effects, renamed(carry.reads), known
    )


def _effects(effects: Effects, names: Names) -> Effects:
    def renamed(places: frozenset[str]) -> frozenset[str]:
        parted = (place.partition(".") for place in places)
        return frozenset(names.get(root, root) + dot + rest for root, dot, rest in parted)

    return dataclasses.replace(
        effects, reads=renamed(effects.reads), writes=renamed(effects.writes)
    )
