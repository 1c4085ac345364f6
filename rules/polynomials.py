"""Orthogonal polynomials by their three-term recurrences."""

import jax.numpy as jnp
from jax import lax

from transpile.rule import rule


def orthogonal_polynomial(x, n, first, step):
    """The polynomial of degree n at x, elementwise, 0 where n < 0; n is cut to a whole number.

    Degree 0 is 1, degree 1 is ``first(x)``, degree k + 1 is ``step(x, k, q, p)`` of degrees k (q) and k - 1 (p).
    """
    dtype = jnp.result_type(x, n, 1.0)
    x, n = jnp.broadcast_arrays(jnp.asarray(x, dtype), jnp.asarray(n).astype(int))

    def next_degree(k, pair):
        p, q = pair
        return jnp.where(k < n, q, p), jnp.where(k < n, step(x, k, q, p), q)

    last = jnp.max(n, initial=1)
    _, q = lax.fori_loop(1, last, next_degree, (jnp.ones_like(x), first(x)))
    return jnp.where(n < 0, 0, jnp.where(n == 0, 1, q))


def chebyshev_step(x, k, q, p):
    return 2 * x * q - p


@rule("torch.special.chebyshev_polynomial_t")
def chebyshev_polynomial_t(input, n):
    return orthogonal_polynomial(input, n, lambda x: x, chebyshev_step)


@rule("torch.special.chebyshev_polynomial_u")
def chebyshev_polynomial_u(input, n):
    return orthogonal_polynomial(input, n, lambda x: 2 * x, chebyshev_step)


@rule("torch.special.chebyshev_polynomial_v")
def chebyshev_polynomial_v(input, n):
    return orthogonal_polynomial(input, n, lambda x: 2 * x - 1, chebyshev_step)


@rule("torch.special.chebyshev_polynomial_w")
def chebyshev_polynomial_w(input, n):
    return orthogonal_polynomial(input, n, lambda x: 2 * x + 1, chebyshev_step)


@rule("torch.special.shifted_chebyshev_polynomial_t")
def shifted_chebyshev_polynomial_t(input, n):
    return orthogonal_polynomial(2 * input - 1, n, lambda x: x, chebyshev_step)


@rule("torch.special.shifted_chebyshev_polynomial_u")
def shifted_chebyshev_polynomial_u(input, n):
    return orthogonal_polynomial(2 * input - 1, n, lambda x: 2 * x, chebyshev_step)


@rule("torch.special.shifted_chebyshev_polynomial_v")
def shifted_chebyshev_polynomial_v(input, n):
    return orthogonal_polynomial(2 * input - 1, n, lambda x: 2 * x - 1, chebyshev_step)


@rule("torch.special.shifted_chebyshev_polynomial_w")
def shifted_chebyshev_polynomial_w(input, n):
    return orthogonal_polynomial(2 * input - 1, n, lambda x: 2 * x + 1, chebyshev_step)


@rule("torch.special.hermite_polynomial_h")
def hermite_polynomial_h(input, n):
    return orthogonal_polynomial(input, n, lambda x: 2 * x, lambda x, k, q, p: 2 * x * q - 2 * k * p)


@rule("torch.special.hermite_polynomial_he")
def hermite_polynomial_he(input, n):
    return orthogonal_polynomial(input, n, lambda x: x, lambda x, k, q, p: x * q - k * p)


@rule("torch.special.laguerre_polynomial_l")
def laguerre_polynomial_l(input, n):
    return orthogonal_polynomial(input, n, lambda x: 1 - x, lambda x, k, q, p: ((2 * k + 1 - x) * q - k * p) / (k + 1))


@rule("torch.special.legendre_polynomial_p")
def legendre_polynomial_p(input, n):
    return orthogonal_polynomial(input, n, lambda x: x, lambda x, k, q, p: ((2 * k + 1) * x * q - k * p) / (k + 1))
