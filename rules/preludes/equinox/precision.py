"""What modules of Equinox are to constants in float64."""

import equinox as eqx
import jax


def is_model(value):
    return isinstance(value, eqx.Module)


def is_traced(value):
    return isinstance(value, jax.core.Tracer)


def narrow_parts(made):
    """Give an object the dtypes that JAX has, with all that is below it."""
    if hasattr(made, "__dict__"):
        vars(made).update(jax.tree.map(narrowed, vars(made)))
