"""A loop over modules that are written out, turn by turn: each has params of its own.

for conv, bn in [(self.conv1, self.bn1), (self.conv2, self.bn2)]:
    x = bn(conv(x))                          x = self.bn1(self.conv1(x))
                                        →    x = self.bn2(self.conv2(x))
"""

from ...facts.bindings.activity import bound
from ...facts.values.lattice import Module
from ...model.copy import clone
from ...model.expressions import Display, Lambda, Name, Starred
from ...model.names import below, jumps, root
from ...model.node import Expression, Statement
from ...model.program import Function
from ...model.project import Project
from ...model.statements import Block, For
from ..submodule_paths import is_path

_MOST = 24  # statements that are written out


def unroll(project: Project) -> None:
    """Write the loops of a project out, inner ones first."""
    for function in project.functions():
        for loop in reversed(function.nodes(For)):
            turns = _turns(function, loop)
            if turns is not None and isinstance(loop.parent, Block):
                loop.parent.substitute(loop, [s for turn in turns for s in _written(loop, turn)])


def _turns(function: Function, loop: For) -> list[dict[str, Expression]] | None:
    """What the names of a loop stand for in each turn; None where it stays."""
    over = loop.iterable
    if loop.__class__ is not For or not isinstance(over, Display) or not over.elements:
        return None
    found = [_named(loop.target, element) for element in over.elements]
    turns = [turn for turn in found if turn is not None]
    if len(turns) < len(found) or len(turns) * len(loop.body.body) > _MOST:
        return None
    names = set(turns[0])
    if not any(isinstance(value.value, Module) for turn in turns for value in turn.values()):
        return None
    plain = loop.orelse is None and not jumps(loop.body) and not names & set(bound(loop.body))
    inside = any(True for _ in below(loop.body, Function, Lambda))
    return turns if plain and not inside and not names & _met_outside(function, loop) else None


def _named(target: Expression, value: Expression) -> dict[str, Expression] | None:
    """The names of a target with what they are given, where that may be asked for again."""
    if isinstance(target, Name):
        first = root(value)
        return {target.id: value} if first is not None and is_path(value, first.id) else None
    if not isinstance(target, Display) or not isinstance(value, Display):
        return None
    pairs = list(zip(target.elements, value.elements))
    if len(target.elements) != len(value.elements):
        return None
    if any(isinstance(e, Starred) for pair in pairs for e in pair):
        return None
    found: dict[str, Expression] = {}
    for inner, given in pairs:
        named = _named(inner, given)
        if named is None:
            return None
        found |= named
    return found


def _met_outside(function: Function, loop: For) -> set[str]:
    """The names that stand elsewhere in the function: the last turn may have set them."""
    inside = set(loop.walk())
    return {n.id for n in below(function.body, Name) if n not in inside}


def _written(loop: For, turn: dict[str, Expression]) -> list[Statement]:
    body = clone(loop.body)
    for name in [n for n in below(body, Name) if n.id in turn]:
        name.replace(clone(turn[name.id]))
    return list(body.body)
