"""Which numbers that a module holds are sizes of what its constructor makes, so that none is -1.

self.n = n
self.fc = nn.Linear(dim, n)                     self.n is a size: torch makes no layer of -1
self.w = nn.Parameter(torch.randn(1, self.k))   and self.k
"""

from collections.abc import Iterator

from ...model.effects import New
from ...model.expressions import Call, Constant, Display
from ...model.names import dotted, names_assigned
from ...model.node import Expression
from ...model.program import Class, Function
from ..modules import Modules
from ..values.lattice import Module, Static
from .size_values import statement_of

# Where a layer of torch's is told its sizes, which of its arrays all have.
_LAYERS = {
    "torch.nn.Linear": ("in_features", "out_features"),
    "torch.nn.Embedding": ("num_embeddings", "embedding_dim"),
    **{f"torch.nn.Conv{n}d": ("in_channels", "out_channels") for n in (1, 2, 3)},
}
_SHAPED = {
    "jnp.zeros": 0,
    "jnp.ones": 0,
    "jnp.full": 0,
    "jax.random.normal": 1,
    "jax.random.uniform": 1,
}


def is_held_size(modules: Modules, cls: Class, name: str) -> bool:
    """Whether `self.name` is the size of an array in whatever is of a class."""
    held = [modules.fields(c).get(name) for c in (cls, *modules.below(cls))]
    return all(h is not None and all(_is_size(v, name) for v in h.values) for h in held)


def _is_size(value: Expression, name: str) -> bool:
    known = value.value
    if isinstance(value, Constant) or isinstance(known, Static) and not known.loose:
        number = value.constant if isinstance(value, Constant) else known.const
        if type(number) is int:
            return number >= 0
    made = value.nearest(Function)
    if made is None or made.name != "__init__" or not made.parameters:
        return False
    own, given = f"{made.receiver}.{name}", dotted(value)
    found = {dotted(size) for size in _sizes(made)}
    return own in found or given in found and given not in names_assigned(made.body)


def _sizes(made: Function) -> Iterator[Expression]:
    """What a constructor takes for sizes whenever it runs."""
    for call in made.nodes(Call, New):
        around = statement_of(call)
        if around is None or around.parent is not made.body:
            continue
        value, place = call.value, _SHAPED.get(dotted(call.function) or "")
        refs = {*value.refs} if isinstance(value, Module) and not value.open else set()
        if place is not None and call.keywords[: place + 1] == [None] * (place + 1):
            shape = call.arguments[place]
            yield from shape.elements if isinstance(shape, Display) else [shape]
        elif len(refs) == 1 and (words := _LAYERS.get(refs.pop())):
            for i, (word, size) in enumerate(zip(call.keywords, call.arguments)):
                if word in words or word is None and i < len(words):
                    yield size
