"""Params that are trained on one way only, which no param can say of itself here.

if learned: self.w = nn.Parameter(w)
else: self.w = w                            both are params here, and torch trains the first
"""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.values.lattice import Tensor
from ...model.effects import PARAM
from ...model.expressions import Call
from ...model.node import Expression, Node
from ...model.operators import sides
from ...model.program import Function
from ...model.statements import Assign
from .kinds import Kinds
from .scene import Scene
from .stores import assigned, registration

_TOLD = "is not trained in torch on this way: leave it out of what the optimizer updates"


def untrained(scene: Scene, kinds: Kinds, function: Function) -> None:
    """Report what a constructor sets to plain tensors on some ways, and to params on others."""
    found: dict[str, list[tuple[Expression, bool, bool]]] = {}
    for name, node, value in _set(scene, function):
        choice = sides(value)
        apart = len(choice) > 1 or getattr(node, "parent", None) is not function.body
        for side in choice:
            known = scene.of(side)
            if isinstance(known, Tensor) and not known.assumed:
                trained = known.param and not known.buffer or kinds.makes_parameter(side)
                found.setdefault(name, []).append((side, not trained, apart))
    assert scene.cls is not None
    for name, ways in found.items():
        plain = [side for side, is_plain, _ in ways if is_plain]
        several = plain and len(plain) < len(ways) and any(apart for _, _, apart in ways)
        if several and kinds.of(scene.cls, name) == PARAM:
            scene.changes.report("frozen-param", plain[0], f"{scene.own}.{name} {_TOLD}")


def _set(scene: Scene, function: Function) -> Iterator[tuple[str, Node, Expression]]:
    """The names that are set on self, the statements, and the values."""
    for assign in function.nodes(Assign):
        for name, value in assigned(assign, scene.own):
            if value is not None:
                yield name, assign, value
    for call in function.nodes(Call):
        made = registration(call, scene.own)
        if made is not None and made.text is not None and call.parent is not None:
            yield made.text, call.parent, made.value
