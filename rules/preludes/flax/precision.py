"""What modules of Flax NNX are to constants in float64."""

import jax
import jax.numpy as jnp
from flax import nnx


def is_model(value):
    return isinstance(value, nnx.Module)


def is_traced(value):
    """A module that a jitted function builds has to be traced as a whole."""
    return isinstance(jnp.zeros(()) if is_model(value) else value, jax.core.Tracer)


def narrow_parts(made):
    """Give an object, and all that is below a module, the dtypes that JAX has."""
    for _, part in nnx.iter_graph(made):
        if isinstance(part, nnx.Variable):
            part.set_value(narrowed(part.get_value()))
        elif hasattr(part, "__dict__") and not isinstance(part, jax.Array):
            vars(part).update({name: narrowed(value) for name, value in vars(part).items()})
