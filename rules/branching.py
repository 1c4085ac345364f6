"""Choices by a tensor's value."""

import jax
import jax.numpy as jnp
from jax import lax


def choose(pred, if_true, if_false, *operands):
    """``lax.cond`` whose sides may differ in dtype, or give a number where the other gives an array: both become what ``jnp.where`` makes of them."""
    sides = [jax.eval_shape(side, *operands) for side in (if_true, if_false)]
    like = jax.tree.map(lambda a, b: (jnp.broadcast_shapes(a.shape, b.shape), jnp.result_type(a, b)), *sides)

    def joined(side):
        return lambda *args: jax.tree.map(
            lambda y, to: jnp.broadcast_to(jnp.asarray(y, to[1]), to[0]), side(*args), like
        )

    return lax.cond(pred, joined(if_true), joined(if_false), *operands)


def python_min(a, b):
    """Python's ``min(a, b)``: the first where they do not compare."""
    return jnp.where(b < a, b, a)


def python_max(a, b):
    """Python's ``max(a, b)``: the first where they do not compare."""
    return jnp.where(b > a, b, a)
