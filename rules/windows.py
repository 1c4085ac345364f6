"""Window functions: periodic ones for transforms (torch.hann_window), symmetric ones (torch.signal.windows.hann)."""

import math

import jax.numpy as jnp

from transpile.rule import rule

from .bessel import i0


def window_positions(length, sym):
    """0, 1, ..., scaled to end at 1 for a symmetric window, one step before 1 for a periodic one. A lone point is 1/2."""
    if length == 1:
        return jnp.full(1, 0.5, dtype=float)
    return jnp.arange(length) / (length - 1 if sym else length)


@rule("torch.signal.windows.general_cosine")
def general_cosine(M, *, a, sym=True, dtype=None):
    """The sum of (-1)**i * a[i] * cos(2 pi i x) over M points x."""
    if M == 1:
        return jnp.ones(1, dtype=dtype)
    phase = 2 * math.pi * window_positions(M, sym)
    return sum((-1) ** i * a_i * jnp.cos(i * phase) for i, a_i in enumerate(a)).astype(dtype or float)


@rule("torch.signal.windows.general_hamming")
def general_hamming(M, *, alpha=0.54, sym=True, dtype=None):
    return general_cosine(M, a=(alpha, 1 - alpha), sym=sym, dtype=dtype)


@rule("torch.signal.windows.hamming")
def hamming(M, *, sym=True, dtype=None):
    return general_cosine(M, a=(0.54, 0.46), sym=sym, dtype=dtype)


@rule("torch.signal.windows.hann")
def hann(M, *, sym=True, dtype=None):
    return general_cosine(M, a=(0.5, 0.5), sym=sym, dtype=dtype)


@rule("torch.signal.windows.blackman")
def blackman(M, *, sym=True, dtype=None):
    return general_cosine(M, a=(0.42, 0.5, 0.08), sym=sym, dtype=dtype)


@rule("torch.signal.windows.nuttall")
def nuttall(M, *, sym=True, dtype=None):
    return general_cosine(M, a=(0.3635819, 0.4891775, 0.1365995, 0.0106411), sym=sym, dtype=dtype)


@rule("torch.signal.windows.bartlett")
def bartlett(M, *, sym=True, dtype=None):
    """A triangle from 0 to 1 and back."""
    return (1 - jnp.abs(2 * window_positions(M, sym) - 1)).astype(dtype or float)


@rule("torch.signal.windows.kaiser")
def kaiser(M, *, beta=12.0, sym=True, dtype=None):
    """i0 of a half circle of radius beta, over its largest value."""
    x = 2 * window_positions(M, sym) - 1
    return (i0(beta * jnp.sqrt(1 - x**2)) / i0(float(beta))).astype(dtype or float)


@rule("torch.signal.windows.cosine")
def cosine(M, *, sym=True, dtype=None):
    """Half a period of the sine, sampled between its zeros."""
    points = M if sym or M == 1 else M + 1
    return jnp.sin(math.pi * (jnp.arange(M) + 0.5) / points).astype(dtype or float)


@rule("torch.signal.windows.gaussian")
def gaussian(M, *, std=1.0, sym=True, dtype=None):
    distance = jnp.arange(M) - (M - 1 if sym or M == 1 else M) / 2
    return jnp.exp(-0.5 * (distance / std) ** 2).astype(dtype or float)


@rule("torch.signal.windows.exponential")
def exponential_window(M, *, center=None, tau=1.0, sym=True, dtype=None):
    """Falls to 1/e at distance tau from the center, by default the middle."""
    if center is None:
        center = (M - 1 if sym or M == 1 else M) / 2
    return jnp.exp(-jnp.abs(jnp.arange(M) - center) / tau).astype(dtype or float)


@rule("torch.hann_window", by_data="window_length")
def hann_window(window_length, periodic=True, *, dtype=None):
    return hann(window_length, sym=not periodic, dtype=dtype)


@rule("torch.hamming_window", by_data="window_length")
def hamming_window(window_length, periodic=True, alpha=0.54, beta=0.46, *, dtype=None):
    return general_cosine(window_length, a=(alpha, beta), sym=not periodic, dtype=dtype)


@rule("torch.blackman_window", by_data="window_length")
def blackman_window(window_length, periodic=True, *, dtype=None):
    return blackman(window_length, sym=not periodic, dtype=dtype)


@rule("torch.bartlett_window", by_data="window_length")
def bartlett_window(window_length, periodic=True, *, dtype=None):
    return bartlett(window_length, sym=not periodic, dtype=dtype)


@rule("torch.kaiser_window", by_data="window_length")
def kaiser_window(window_length, periodic=True, beta=12.0, *, dtype=None):
    return kaiser(window_length, beta=beta, sym=not periodic, dtype=dtype)
