"""Pooling into a given number of bins."""

import functools
import math

import jax.numpy as jnp
import numpy as np

from transpile.rule import rule

from .resizing import weighted_sums
from .spatial import per_dim, window_slices
from .windowed import larger


@rule("torch.nn.functional.adaptive_avg_pool2d", by_data="output_size")
def adaptive_avg_pool2d(input, output_size):
    if output_size in (1, (1, 1)):
        return input.mean(axis=(-2, -1), keepdims=True)
    return adaptive_avg_pool(input, output_size, 2)


@rule("torch.nn.functional.adaptive_avg_pool1d", "torch.adaptive_avg_pool1d", by_data="output_size")
def adaptive_avg_pool1d(input, output_size):
    if output_size in (1, (1,)):
        return input.mean(axis=-1, keepdims=True)
    return adaptive_avg_pool(input, output_size, 1)


@rule("torch.nn.functional.adaptive_avg_pool3d", by_data="output_size")
def adaptive_avg_pool3d(input, output_size):
    if output_size in (1, (1, 1, 1)):
        return input.mean(axis=(-3, -2, -1), keepdims=True)
    return adaptive_avg_pool(input, output_size, 3)


@rule("torch.nn.functional.adaptive_max_pool2d", by_data="output_size")
def adaptive_max_pool2d(input, output_size, return_indices=False):
    if return_indices:
        return adaptive_max_pool(input, output_size, 2)
    return adaptive_max_pool(input, output_size, 2)[0]


@rule("torch.nn.functional.adaptive_max_pool1d", by_data="output_size")
def adaptive_max_pool1d(input, output_size, return_indices=False):
    if return_indices:
        return adaptive_max_pool(input, output_size, 1)
    return adaptive_max_pool(input, output_size, 1)[0]


@rule("torch.nn.functional.adaptive_max_pool3d", by_data="output_size")
def adaptive_max_pool3d(input, output_size, return_indices=False):
    if return_indices:
        return adaptive_max_pool(input, output_size, 3)
    return adaptive_max_pool(input, output_size, 3)[0]


@rule("torch.nn.functional.adaptive_max_pool1d_with_indices", "torch.adaptive_max_pool1d", by_data="output_size")
def adaptive_max_pool1d_with_indices(input, output_size, return_indices=False):
    return adaptive_max_pool(input, output_size, 1)


@rule("torch.nn.functional.adaptive_max_pool2d_with_indices", by_data="output_size")
def adaptive_max_pool2d_with_indices(input, output_size, return_indices=False):
    return adaptive_max_pool(input, output_size, 2)


@rule("torch.nn.functional.adaptive_max_pool3d_with_indices", by_data="output_size")
def adaptive_max_pool3d_with_indices(input, output_size, return_indices=False):
    return adaptive_max_pool(input, output_size, 3)


def adaptive_avg_pool(input, output_size, n):
    """The mean of each bin of the last ``n`` dims; ``output_size`` is the number of bins, None keeps a dim."""
    counts = bin_counts(input, output_size, n)
    lengths = input.shape[-n:]
    if all(count and length % count == 0 for length, count in zip(lengths, counts)):
        bins = [size for length, count in zip(lengths, counts) for size in (count, length // count)]
        return input.reshape(*input.shape[:-n], *bins).mean(axis=tuple(range(1 - 2 * n, 0, 2)))
    return weighted_sums(
        input, {axis: bin_weights(*dim) for axis, dim in enumerate(zip(lengths, counts), input.ndim - n)}
    )


def adaptive_max_pool(input, output_size, n):
    """The largest element of each bin of the last ``n`` dims, and its index in those dims flattened."""
    lengths = input.shape[-n:]
    values, places = input, jnp.broadcast_to(jnp.arange(math.prod(lengths)).reshape(lengths), input.shape)
    for axis, count in zip(range(-1, -n - 1, -1), reversed(bin_counts(input, output_size, n))):
        values, places = functools.reduce(larger, zip(*(bin_slices(x, axis, count) for x in (values, places))))
    return values, places


def bin_counts(input, output_size, n):
    """The number of bins of each of the last ``n`` dims."""
    return [length if count is None else count for length, count in zip(input.shape[-n:], per_dim(output_size, n))]


def bin_edges(length, count):
    """Where the bins start and end; uneven bins overlap."""
    places = np.arange(count)
    return places * length // count, -(-(places + 1) * length // count)


def bin_weights(length, count):
    """(length, count) weights with which the elements of the bins sum up to their means."""
    starts, ends = bin_edges(length, count)
    place = np.arange(length)[:, None]
    return ((starts <= place) & (place < ends)) / (ends - starts)


def bin_slices(input, axis, count):
    """The first elements of all bins, their second elements and so on; short bins repeat their last one."""
    length = input.shape[axis]
    if count and length % count == 0:
        return window_slices(input, axis, length // count, length // count, 1)
    starts, ends = bin_edges(length, count)
    return [jnp.take(input, np.minimum(starts + i, ends - 1), axis=axis) for i in range(max(ends - starts, default=1))]
