"""The names of modules in their containers, which a loop over them binds as well.

for i, block in enumerate(self.blocks):  →  for i, (name, block) in enumerate(self.blocks.layers()):
"""

from ...facts.values.lattice import Module
from ...model.expressions import Attribute, Call, Display, Name
from ...model.names import target_names
from ...model.node import Expression
from .loop_containers import ZIPS

THROUGH = frozenset(("enumerate", "reversed", "list", "iter", "tuple")) | ZIPS


def bind_name(target: Expression, iterable: Expression, name: str, companion: Name) -> None:
    """Let a loop bind the name of the module that one of its names stands for."""
    word = iterable.function if isinstance(iterable, Call) else None
    kind = word.id if isinstance(word, Name) else ""
    if isinstance(word, Attribute) and isinstance(word.object.value, Module):
        _pairs(target, iterable, word.object, companion)
    elif isinstance(iterable, Call) and kind in THROUGH:
        parts = target.elements if isinstance(target, Display) else []
        if kind == "enumerate":
            bind_name(parts[1], iterable.arguments[0], name, companion)
        elif kind in ZIPS:
            for part, argument in zip(parts, list(iterable.arguments)):
                if name in target_names(part):
                    bind_name(part, argument, name, companion)
        else:
            bind_name(target, iterable.arguments[0], name, companion)
    else:
        _pairs(target, iterable, iterable, companion)


def _pairs(
    target: Expression, iterable: Expression, container: Expression, companion: Name
) -> None:
    target.wrap(lambda old: Display("tuple", [companion, old]))
    if iterable is container:
        iterable.wrap(lambda old: Call(Attribute(old, "layers"), []))
    else:
        word = iterable.function  # type: ignore[attr-defined]
        named = "children" if word.name == "children" else "layers"
        iterable.replace(Call(Attribute(container, named), []))
