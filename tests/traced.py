"""Functions as `jax.jit` runs them, for small programs that run once or twice: traced whole, then one operation after
the other. XLA has compiled nearly all of those for an earlier program; a whole program costs it a quarter of a second."""

import functools

import jax
from jax.extend.core import jaxpr_as_fun


def traced(function):
    """`function` under jit, without a program of its own for XLA."""
    programs = {}

    @functools.wraps(function)
    def run(*args):
        arrays, tree = jax.tree.flatten(args)
        key = tree, tuple(jax.typeof(array) for array in arrays)
        if key not in programs:
            jaxpr, out = jax.make_jaxpr(function, return_shape=True)(*args)
            programs[key] = jaxpr_as_fun(jaxpr), jax.tree.structure(out)
        program, out = programs[key]
        return jax.tree.unflatten(out, program(*arrays))

    return run
