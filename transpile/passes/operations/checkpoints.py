"""A function or module that is run again in backward: a call like any other of it.

checkpoint(self.block, x)        jax.checkpoint(self.block)(x), an Apply of self.block
"""

from ...facts.values.lattice import Function, Functions, Module
from ...model.effects import Apply
from ...model.expressions import Call, Starred
from ...source.lower_ast import expression
from .conversion import Conversion
from .literals import known

_OPTIONS = frozenset("use_reentrant determinism_check debug preserve_rng_state early_stop".split())


def is_run_again(node: Call) -> bool:
    """Whether a call of checkpoint runs what may have params, a state or keys."""
    if not node.arguments or isinstance(node.arguments[0], Starred) or node.keywords[0]:
        return False
    run = isinstance(known(node.arguments[0]), (Module, Function, Functions))
    return run and all(word is None or word in _OPTIONS for word in node.keywords)


def run_again(c: Conversion, node: Call) -> None:
    value = known(node.arguments[0])

    def make(node: Call) -> Apply:
        given = node.positional
        again = Call(expression("jax.checkpoint"), given[:1])
        again.value = value
        made = Apply(again, given[1:])
        made.value = node.value
        return made

    c.changes.replace(node, make)
    c.visit_all(node.arguments)
