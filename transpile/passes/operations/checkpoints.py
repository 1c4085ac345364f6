"""A function or module that is run again in backward: a call like any other of it.

checkpoint(self.block, x)          jax.checkpoint(self.block)(x), an Apply of self.block
checkpoint(self.block, x, True)    nn.checkpointed(self.block)(x, True), as the flag is no array
"""

from ...facts.values.lattice import (
    NONE,
    Function,
    Functions,
    Mapping,
    Module,
    Sequence,
    Tensor,
    Value,
)
from ...model.effects import Apply, Support
from ...model.expressions import Call, Starred
from ...source.lower_ast import expression
from .conversion import Conversion
from .literals import known

_OPTIONS = frozenset("use_reentrant determinism_check debug preserve_rng_state early_stop".split())


def is_run_again(node: Call) -> bool:
    """Whether it is a plain call of checkpoint: of a function, and what that is given."""
    if not node.arguments or isinstance(node.arguments[0], Starred) or node.keywords[0]:
        return False
    return all(word is None or word in _OPTIONS for word in node.keywords)


def run_again(c: Conversion, node: Call) -> None:
    value = known(node.arguments[0])
    runs = isinstance(value, (Module, Function, Functions))  # with params, a state or keys, perhaps
    plain = all(not isinstance(a, Starred) and _is_array(known(a)) for a in node.positional[1:])

    def make(node: Call) -> Call:
        given = node.positional
        word = expression("jax.checkpoint") if plain else Support("checkpointed")
        again = Call(word, given[:1])
        again.value = value
        made = (Apply if runs else Call)(again, given[1:])
        made.value = node.value
        return made

    c.changes.replace(node, make)
    c.visit_all(node.arguments)


def _is_array(value: Value) -> bool:
    """Whether it is an array, none, or holds such alone."""
    if isinstance(value, Sequence):
        return all(map(_is_array, value.items if value.items is not None else [value.element]))
    if isinstance(value, Mapping):
        return _is_array(value.element)
    return value == NONE or isinstance(value, Tensor) and not value.python
