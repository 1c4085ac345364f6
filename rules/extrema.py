"""Largest and smallest elements, and where they are."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from transpile.rule import Tensor, Unsure, known, rule

from .reduction import reduced


class ValuesIndices(NamedTuple):
    """Elements chosen along a dim, and their places there."""

    values: jax.Array
    indices: jax.Array


class MinMax(NamedTuple):
    """The smallest and the largest."""

    min: jax.Array
    max: jax.Array


def lowest(dtype):
    """The least value of a dtype: -inf for floats."""
    return -jnp.inf if jnp.issubdtype(dtype, jnp.floating) else False if dtype == jnp.bool_ else jnp.iinfo(dtype).min


def highest(dtype):
    """The greatest value of a dtype: inf for floats."""
    return jnp.inf if jnp.issubdtype(dtype, jnp.floating) else True if dtype == jnp.bool_ else jnp.iinfo(dtype).max


def is_dim(input, other):
    """Whether the second argument of torch.max is a dim rather than another array."""
    if (
        isinstance(other, jax.core.Tracer)
        and not other.ndim
        and input.ndim
        and jnp.issubdtype(other.dtype, jnp.integer)
    ):
        raise TypeError("this may be a dim, which jit must know: mark it static, or call jnp.maximum or minimum")
    return isinstance(other, int)


def _pick(input, indices, dim, keepdim):
    """The elements at ``indices`` (size 1 along ``dim``) with their indices: all the gradient goes to these."""
    if input.ndim == 0:
        return ValuesIndices(input, indices.reshape(()))
    values = jnp.take_along_axis(input, indices, axis=dim)
    if keepdim:
        return ValuesIndices(values, indices)
    return ValuesIndices(values.squeeze(dim), indices.squeeze(dim))


@rule("torch.max", "torch.Tensor.max")
def max_all(input):
    return input.max()


@rule("torch.max", "torch.Tensor.max")
def max_dim(input, dim: int, keepdim=False):
    """The largest elements along a dim and their indices; of equals the first, which gets all the gradient."""
    return _pick(input, jnp.atleast_1d(input).argmax(axis=dim, keepdims=True), dim, keepdim)


@rule("torch.max", "torch.Tensor.max")
def max_other(input, other: Tensor):
    return jnp.maximum(input, other)


@rule("torch.max", "torch.Tensor.max")
def max_dim_or_other(input, other: Unsure):
    """Along a dim, or elementwise with another array."""
    if is_dim(input, other):
        return max_dim(input, other)
    return jnp.maximum(input, other)


@rule("torch.max[0]", "torch.max.values", "torch.Tensor.max[0]", "torch.Tensor.max.values")
def max_values(input, dim: int, keepdim=False):
    """The largest elements along a dim; of equals the first gets all the gradient."""
    values, _ = max_dim(input, dim, keepdim)
    return values


@rule("torch.max[0]", "torch.Tensor.max[0]")
def max_values_or_first(input, other: Unsure):
    return max_dim_or_other(input, other)[0]


@rule("torch.max[1]", "torch.max.indices", "torch.Tensor.max[1]", "torch.Tensor.max.indices")
def max_indices(input, dim: int, keepdim=False):
    return input.argmax(axis=dim, keepdims=keepdim)


@rule("torch.max[1]", "torch.Tensor.max[1]")
def max_indices_or_second(input, other: Unsure):
    return max_dim_or_other(input, other)[1]


@rule("torch.min", "torch.Tensor.min")
def min_all(input):
    return input.min()


@rule("torch.min", "torch.Tensor.min")
def min_dim(input, dim: int, keepdim=False):
    """The smallest elements along a dim and their indices; of equals the first, which gets all the gradient."""
    return _pick(input, jnp.atleast_1d(input).argmin(axis=dim, keepdims=True), dim, keepdim)


@rule("torch.min", "torch.Tensor.min")
def min_other(input, other: Tensor):
    return jnp.minimum(input, other)


@rule("torch.min", "torch.Tensor.min")
def min_dim_or_other(input, other: Unsure):
    """Along a dim, or elementwise with another array."""
    if is_dim(input, other):
        return min_dim(input, other)
    return jnp.minimum(input, other)


@rule("torch.min[0]", "torch.min.values", "torch.Tensor.min[0]", "torch.Tensor.min.values")
def min_values(input, dim: int, keepdim=False):
    """The smallest elements along a dim; of equals the first gets all the gradient."""
    values, _ = min_dim(input, dim, keepdim)
    return values


@rule("torch.min[0]", "torch.Tensor.min[0]")
def min_values_or_first(input, other: Unsure):
    return min_dim_or_other(input, other)[0]


@rule("torch.min[1]", "torch.min.indices", "torch.Tensor.min[1]", "torch.Tensor.min.indices")
def min_indices(input, dim: int, keepdim=False):
    return input.argmin(axis=dim, keepdims=keepdim)


@rule("torch.min[1]", "torch.Tensor.min[1]")
def min_indices_or_second(input, other: Unsure):
    return min_dim_or_other(input, other)[1]


@rule("torch.amax", "torch.Tensor.amax")
def amax(input, dim=None, keepdim=False):
    if isinstance(dim, (tuple, list)) and not dim:
        return input.max(keepdims=keepdim)
    if known(dim in (0, -1, (0,), (-1,))) and not known(input.ndim > 0):
        return reduced(jnp.max, input, dim, keepdim=keepdim)
    return input.max(axis=dim, keepdims=keepdim)


@rule("torch.amin", "torch.Tensor.amin")
def amin(input, dim=None, keepdim=False):
    if isinstance(dim, (tuple, list)) and not dim:
        return input.min(keepdims=keepdim)
    if known(dim in (0, -1, (0,), (-1,))) and not known(input.ndim > 0):
        return reduced(jnp.min, input, dim, keepdim=keepdim)
    return input.min(axis=dim, keepdims=keepdim)


@rule("torch.aminmax", "torch.Tensor.aminmax")
def aminmax(input, *, dim=None, keepdim=False):
    """Both at once, over all or along a dim."""
    axis = dim if input.ndim else None
    return MinMax(input.min(axis=axis, keepdims=keepdim), input.max(axis=axis, keepdims=keepdim))


@rule("torch.argmax", "torch.Tensor.argmax")
def argmax(input, dim=None, keepdim=False):
    return input.argmax(axis=dim, keepdims=keepdim)


@rule("torch.argmin", "torch.Tensor.argmin")
def argmin(input, dim=None, keepdim=False):
    if known(dim in (0, -1)) and not known(input.ndim > 0):
        return reduced(jnp.argmin, input, dim, keepdim=keepdim)
    return input.argmin(axis=dim, keepdims=keepdim)


@rule("torch.cummax", "torch.Tensor.cummax")
def cummax(input, dim):
    """The largest element so far along a dim, and its index: of equals the last."""
    return _running(input, dim, lax.cummax, jnp.greater_equal)


@rule("torch.cummin", "torch.Tensor.cummin")
def cummin(input, dim):
    """The smallest element so far along a dim, and its index: of equals the last."""
    return _running(input, dim, lax.cummin, jnp.less_equal)


def _running(input, dim, cumulative, reaches):
    if input.ndim == 0:
        return ValuesIndices(input, jnp.zeros((), int))
    dim = dim % input.ndim
    # bools have no order for lax.cummax
    best = cumulative(input.astype(jnp.int8) if input.dtype == bool else lax.stop_gradient(input), axis=dim)
    renewed = reaches(input, best) | jnp.isnan(input)
    places = lax.broadcasted_iota(jnp.zeros((), int).dtype, input.shape, dim)
    indices = lax.cummax(jnp.where(renewed, places, 0), axis=dim)
    return ValuesIndices(jnp.take_along_axis(input, indices, axis=dim), indices)


@rule("torch.cummax[0]", "torch.cummax.values", "torch.Tensor.cummax[0]", "torch.Tensor.cummax.values")
def cummax_values(input, dim):
    """The largest element so far along a dim; of equals the last gets the gradient."""
    values, _ = cummax(input, dim)
    return values


@rule("torch.cummin[0]", "torch.cummin.values", "torch.Tensor.cummin[0]", "torch.Tensor.cummin.values")
def cummin_values(input, dim):
    """The smallest element so far along a dim; of equals the last gets the gradient."""
    values, _ = cummin(input, dim)
    return values
