"""Histograms, counts and distinct elements. The sizes of some results follow the data: those run outside jit."""

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp

from transpile.rule import rule


class Histogram(NamedTuple):
    """Counts, and the edges between which they were taken."""

    hist: jax.Array
    bin_edges: jax.Array


@rule("torch.histc", "torch.Tensor.histc", by_data="bins")
def histc(input, bins=100, min=0, max=0):
    """How many elements lie in each of ``bins`` equal intervals from min to max; of the data if both are equal."""
    low, high = (min, max) if min != max or input.size == 0 else (input.min(), input.max())
    low, high = jnp.where(low == high, low - 1, low), jnp.where(low == high, high + 1, high)
    return jnp.histogram(input, bins, (low, high))[0].astype(input.dtype)


@rule("torch.histogram", "torch.Tensor.histogram")
def histogram(input, bins, *, range=None, weight=None, density=False):
    """Counts (or weights, or a density) between the given edges, or in that many equal intervals."""
    if input.size == 0 and range is None:
        range = (0, 1)
    counts, edges = jnp.histogram(input, bins, range, weight, density)
    return Histogram(counts.astype(input.dtype), edges.astype(input.dtype))


@rule("torch.histogramdd")
def histogramdd(input, bins, *, range=None, weight=None, density=False):
    """Counts in the cells of a grid over the last dim of ``input``, and its edges in each dim."""
    points = input.reshape(-1, input.shape[-1])
    if range is None and len(points) == 0:
        range = (0, 1) * input.shape[-1]
    pairs = None if range is None else list(zip(range[::2], range[1::2]))
    weight = None if weight is None else weight.reshape(-1)
    if isinstance(bins, (tuple, list)) and not isinstance(bins[0], int):
        # edges that are not in order, which JAX's search takes for bounds of nothing, still end with the first and the last
        ends = jnp.stack([jnp.stack([edges[0], edges[-1]]) for edges in bins])
        inside = ((points >= ends[:, 0]) & (points <= ends[:, 1])).all(axis=1)
        weight = inside.astype(input.dtype) if weight is None else jnp.where(inside, weight, 0)
    counts, edges = jnp.histogramdd(points, bins, pairs, weight, density)
    return counts.astype(input.dtype), [edge.astype(input.dtype) for edge in edges]


@rule("torch.bincount", "torch.Tensor.bincount", by_data=True)
def bincount(input, weights=None):
    if weights is None:
        return jnp.bincount(input)
    return jnp.bincount(input, weights * 1.0)


@rule(
    "torch.bincount",
    "torch.Tensor.bincount",
    note="under jax.jit there are as many counts as minlength says: larger numbers are not counted",
    differs={
        "shape minlength": "under jit larger numbers are not counted, which is reported",
        "jit minlength=0": "there the length is the data's",
    },
)
def bincount_below(input, weights=None, minlength=0):
    """How often each number occurs; under jax.jit each below ``minlength``."""
    weights = None if weights is None else weights * 1.0
    length = minlength if minlength and isinstance(input, jax.core.Tracer) else None
    return jnp.bincount(input, weights, minlength, length=length)


@rule("torch.unique", "torch.Tensor.unique", by_data=True)
def unique(input, sorted=True, return_inverse=False, return_counts=False, dim=None):
    return jnp.unique(input, return_inverse=return_inverse, return_counts=return_counts, axis=dim, equal_nan=False)


@rule("torch.unique_consecutive", "torch.Tensor.unique_consecutive", by_data=True)
def unique_consecutive(input, return_inverse=False, return_counts=False, dim=None):
    """The elements (or slices along ``dim``) that differ from the one before."""
    x = input.reshape(-1) if dim is None else jnp.moveaxis(input, dim, 0)
    rows = x.reshape(len(x), math.prod(x.shape[1:]))
    fresh = jnp.ones(len(x), bool).at[1:].set((rows[1:] != rows[:-1]).any(axis=1))
    starts = jnp.nonzero(fresh)[0]
    result = (x[starts] if dim is None else jnp.moveaxis(x[starts], 0, dim),)
    if return_inverse:
        inverse = jnp.cumsum(fresh) - 1
        result += (inverse.reshape(input.shape) if dim is None else inverse,)
    if return_counts:
        result += (jnp.diff(starts, append=len(x)),)
    return result if len(result) > 1 else result[0]
