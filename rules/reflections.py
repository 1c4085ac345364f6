"""Householder reflections: QR as LAPACK keeps it."""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from transpile.rule import rule


class Reflectors(NamedTuple):
    """R with the reflection vectors below its diagonal, and the scales of those."""

    a: jax.Array
    tau: jax.Array


@rule("torch.geqrf", "torch.Tensor.geqrf")
def geqrf(input):
    reflectors, scales = jnp.linalg.qr(input, mode="raw")
    return Reflectors(reflectors.mT, scales)


@rule("torch.linalg.householder_product", "torch.orgqr", "torch.Tensor.orgqr")
def householder_product(A, tau):
    """The first columns of the product of the reflections ``I - tau v v*`` that geqrf stores below the diagonal."""
    return reflect(A, tau, jnp.eye(*A.shape[-2:], dtype=A.dtype))


@rule("torch.ormqr", "torch.Tensor.ormqr")
def ormqr(input, tau, other, left=True, transpose=False):
    """``Q @ other`` or ``other @ Q`` for the Q of geqrf, or for its adjoint."""
    if left:
        return reflect(input, tau, other, transpose)
    return reflect(input, tau, other.conj().mT, not transpose).conj().mT


def reflect(reflectors, scales, other, adjoint=False):
    """``Q @ other``, or ``Q* @ other``, for Q given by its Householder reflections."""
    m = reflectors.shape[-2]
    order = range(scales.shape[-1])
    for i in order if adjoint else reversed(order):
        v = jnp.where(jnp.arange(m) > i, reflectors[..., i], jnp.arange(m) == i)[..., None]
        scale = scales[..., i, None, None]
        other = other - (scale.conj() if adjoint else scale) * (v @ (v.conj().mT @ other))
    return other
