"""Bessel and Airy functions; those that JAX lacks come from their integrals, to full precision."""

import math

import jax
import jax.numpy as jnp
import numpy as np

from transpile.rule import rule


@rule("torch.i0", "torch.special.i0", "torch.special.modified_bessel_i0", "torch.Tensor.i0")
def i0(input):
    return jax.scipy.special.i0(input)


@rule("torch.special.i0e")
def i0e(input):
    return jax.scipy.special.i0e(input)


@rule("torch.special.i1", "torch.special.modified_bessel_i1")
def i1(input):
    return jax.scipy.special.i1(input)


@rule("torch.special.i1e")
def i1e(input):
    return jax.scipy.special.i1e(input)


@rule("torch.special.spherical_bessel_j0")
def spherical_bessel_j0(input):
    return jnp.sinc(input / math.pi)


def as_floats(x):
    """x as an array of floats."""
    return jnp.asarray(x, dtype=jnp.promote_types(jnp.result_type(x), float))


@rule("torch.special.bessel_j0")
def bessel_j0(input):
    return bessel_near(input, 0)


def angles(count):
    return 2 * np.pi * np.arange(count) / count
