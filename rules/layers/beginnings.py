"""First values that several layers share."""

import jax


def symmetric_uniform(key, shape, bound):
    """Uniform between -bound and bound."""
    return jax.random.uniform(key, shape, minval=-bound, maxval=bound)
