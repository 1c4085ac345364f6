"""What transformer layers take beside arrays."""

import jax

from .activation import gelu


def activation_named(activation):
    """The function for "relu" or "gelu"; a function is returned as it is."""
    return {"relu": jax.nn.relu, "gelu": gelu}[activation] if isinstance(activation, str) else activation
