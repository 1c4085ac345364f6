"""First values that several layers share."""

import jax


def symmetric_uniform(key, shape, bound, dtype=None):
    """Uniform between -bound and bound."""
    return jax.random.uniform(key, shape, dtype, -bound, bound)
