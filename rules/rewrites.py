"""What two operations one after the other can be written as at once: each before and after, of any arguments.

The engine reads these as syntax, and the tests run both sides on samples. What needs arithmetic on literals stands in
`passes/simplify.py`.
"""

import math

import jax
import jax.numpy as jnp
from jax import lax

from .random import normal_, uniform_

REWRITES = [
    (lambda s: jnp.zeros_like(jnp.zeros(s)), lambda s: jnp.zeros(s)),
    (lambda s: jnp.zeros_like(jnp.ones(s)), lambda s: jnp.zeros(s)),
    (lambda s: jnp.ones_like(jnp.zeros(s)), lambda s: jnp.ones(s)),
    (lambda s: jnp.ones_like(jnp.ones(s)), lambda s: jnp.ones(s)),
    (lambda s, t: jnp.zeros_like(jnp.zeros(s, dtype=t)), lambda s, t: jnp.zeros(s, dtype=t)),
    (lambda s, t: jnp.zeros_like(jnp.ones(s, dtype=t)), lambda s, t: jnp.zeros(s, dtype=t)),
    (lambda s, t: jnp.ones_like(jnp.zeros(s, dtype=t)), lambda s, t: jnp.ones(s, dtype=t)),
    (lambda s, t: jnp.ones_like(jnp.ones(s, dtype=t)), lambda s, t: jnp.ones(s, dtype=t)),
    (lambda n: jnp.zeros((n,)), lambda n: jnp.zeros(n)),
    (lambda n, t: jnp.zeros((n,), dtype=t), lambda n, t: jnp.zeros(n, dtype=t)),
    (lambda n: jnp.ones((n,)), lambda n: jnp.ones(n)),
    (lambda n, t: jnp.ones((n,), dtype=t), lambda n, t: jnp.ones(n, dtype=t)),
    # what is exact in any dtype is made in it
    (lambda s, t: jnp.zeros(s).astype(t), lambda s, t: jnp.zeros(s, dtype=t)),
    (lambda s, f, t: jnp.zeros(s, dtype=f).astype(t), lambda s, f, t: jnp.zeros(s, dtype=t)),
    (lambda x, t: jnp.zeros_like(x).astype(t), lambda x, t: jnp.zeros_like(x, dtype=t)),
    (lambda s, t: jnp.ones(s).astype(t), lambda s, t: jnp.ones(s, dtype=t)),
    (lambda s, f, t: jnp.ones(s, dtype=f).astype(t), lambda s, f, t: jnp.ones(s, dtype=t)),
    (lambda x, t: jnp.ones_like(x).astype(t), lambda x, t: jnp.ones_like(x, dtype=t)),
    (lambda n, t: jnp.eye(n).astype(t), lambda n, t: jnp.eye(n, dtype=t)),
    (lambda n: jnp.arange(n).astype(jnp.float32), lambda n: jnp.arange(n, dtype=jnp.float32)),
    (lambda r, t: jnp.tril(jnp.ones(r)).astype(t), lambda r, t: jnp.tril(jnp.ones(r, dtype=t))),
    (lambda r, n, t: jnp.tril(jnp.ones(r), k=n).astype(t), lambda r, n, t: jnp.tril(jnp.ones(r, dtype=t), k=n)),
    (lambda r, t: jnp.triu(jnp.ones(r)).astype(t), lambda r, t: jnp.triu(jnp.ones(r, dtype=t))),
    (lambda r, n, t: jnp.triu(jnp.ones(r), k=n).astype(t), lambda r, n, t: jnp.triu(jnp.ones(r, dtype=t), k=n)),
    (lambda s, f, e: jnp.full(s, jnp.inf, dtype=f).astype(e), lambda s, f, e: jnp.full(s, jnp.inf, dtype=e)),
    (lambda s, f, e: jnp.full(s, -jnp.inf, dtype=f).astype(e), lambda s, f, e: jnp.full(s, -jnp.inf, dtype=e)),
    (lambda s, k: normal_(jnp.zeros(s), key=k), lambda s, k: jax.random.normal(k, s)),
    (lambda s, f, k: normal_(jnp.zeros(s, dtype=f), key=k), lambda s, f, k: jax.random.normal(k, s, f)),
    (lambda s, d, k: normal_(jnp.zeros(s), 0, d, key=k), lambda s, d, k: d * jax.random.normal(k, s)),
    (lambda s, a, b, k: uniform_(jnp.zeros(s), a, b, key=k), lambda s, a, b, k: jax.random.uniform(k, s, minval=a, maxval=b)),
    (lambda s, k: uniform_(jnp.zeros(s), key=k), lambda s, k: jax.random.uniform(k, s)),
    (lambda s, f, k: uniform_(jnp.zeros(s, dtype=f), key=k), lambda s, f, k: jax.random.uniform(k, s, f)),
    # `xavier_uniform_(w, calculate_gain("relu"))`: the scale is torch's to a rounding
    (
        lambda g, m, p: jax.nn.initializers.variance_scaling(math.sqrt(g) ** 2, m, p, in_axis=1, out_axis=0),
        lambda g, m, p: jax.nn.initializers.variance_scaling(g, m, p, in_axis=1, out_axis=0),
    ),
    (
        lambda g, m, p: jax.nn.initializers.variance_scaling(2 / (1 + math.sqrt(g) ** 2), m, p, in_axis=1, out_axis=0),
        lambda g, m, p: jax.nn.initializers.variance_scaling(2 / (1 + g), m, p, in_axis=1, out_axis=0),
    ),
    (lambda x: lax.stop_gradient(lax.stop_gradient(x)), lambda x: lax.stop_gradient(x)),
    (lambda x: lax.stop_gradient(x.max()).reshape(()), lambda x: lax.stop_gradient(x.max())),
    (lambda x: lax.stop_gradient(x.min()).reshape(()), lambda x: lax.stop_gradient(x.min())),
    (lambda x: lax.stop_gradient(x.sum()).reshape(()), lambda x: lax.stop_gradient(x.sum())),
    (lambda x: lax.stop_gradient(x.mean()).reshape(()), lambda x: lax.stop_gradient(x.mean())),
    (lambda x: lax.stop_gradient(x.prod()).reshape(()), lambda x: lax.stop_gradient(x.prod())),
    (lambda x: lax.stop_gradient(x.argmax()).reshape(()), lambda x: x.argmax()),
    (lambda x: lax.stop_gradient(x.argmin()).reshape(()), lambda x: x.argmin()),
    (lambda x: lax.stop_gradient(x.any()).reshape(()), lambda x: x.any()),
    (lambda x: lax.stop_gradient(x.all()).reshape(()), lambda x: x.all()),
    (lambda x: lax.stop_gradient(x).astype(int), lambda x: x.astype(int)),
    (lambda x: lax.stop_gradient(x).shape, lambda x: x.shape),
    (lambda x: lax.stop_gradient(x).ndim, lambda x: x.ndim),
    (lambda x: lax.stop_gradient(x).size, lambda x: x.size),
    (lambda x: lax.stop_gradient(x).dtype, lambda x: x.dtype),
]
