"""Max pooling over windows whose places are drawn."""

import math

import jax
import jax.numpy as jnp

from transpile.rule import rule

from .spatial import per_dim


@rule("torch.nn.functional.fractional_max_pool2d")
def fractional_max_pool2d(
    input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None, *, key
):
    values, indices = fractional_max_pool(input, 2, kernel_size, output_size, output_ratio, _random_samples, key)
    return (values, indices) if return_indices else values


@rule("torch.nn.functional.fractional_max_pool3d")
def fractional_max_pool3d(
    input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None, *, key
):
    values, indices = fractional_max_pool(input, 3, kernel_size, output_size, output_ratio, _random_samples, key)
    return (values, indices) if return_indices else values


@rule("torch.nn.functional.fractional_max_pool2d_with_indices")
def fractional_max_pool2d_with_indices(
    input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None, *, key
):
    return fractional_max_pool(input, 2, kernel_size, output_size, output_ratio, _random_samples, key)


@rule("torch.nn.functional.fractional_max_pool3d_with_indices")
def fractional_max_pool3d_with_indices(
    input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None, *, key
):
    return fractional_max_pool(input, 3, kernel_size, output_size, output_ratio, _random_samples, key)


def fractional_max_pool(input, n, kernel_size, output_size, output_ratio, samples, key):
    """The largest element of each drawn window of the last ``n`` dims, and its index in those dims flattened."""
    leading, lengths = input.shape[:-n], input.shape[-n:]
    if output_size is None:
        output_size = [int(length * ratio) for length, ratio in zip(lengths, per_dim(output_ratio, n))]
    counts, sizes = per_dim(output_size, n), per_dim(kernel_size, n)
    if samples is None:
        samples = jax.random.uniform(key, (*leading, n), input.dtype)
    # without a batch torch takes the first of the samples that it is given for several
    samples = samples.reshape(-1, n)[: math.prod(leading)]
    if n == 2:
        samples = samples[:, ::-1]  # torch draws for the width first, but in three dims for the depth

    def pool_plane(plane, sample):
        places = jnp.zeros((1,) * (2 * n), int)
        for i, (length, count, size) in enumerate(zip(lengths, counts, sizes)):
            place = drawn_starts(sample[i], length, count, size)[:, None] + jnp.arange(size)
            shape = [1] * (2 * n)
            shape[i], shape[n + i] = count, size
            places = places * length + place.reshape(shape)
        places = places.reshape(*counts, math.prod(sizes))
        elements = plane.reshape(-1)[places]
        first = jnp.argmax(elements, axis=-1, keepdims=True)
        return tuple(jnp.take_along_axis(x, first, axis=-1)[..., 0] for x in (elements, places))

    values, indices = jax.vmap(pool_plane)(input.reshape(-1, *lengths), samples)
    return values.reshape(*leading, *counts), indices.reshape(*leading, *counts)


def drawn_starts(sample, length, count, size):
    """Where ``count`` windows start, about evenly spaced from a draw in [0, 1); the last one ends with the dim."""
    if count == 1:
        return jnp.full(1, length - size)
    step = jnp.asarray((length - size) / (count - 1), sample.dtype)
    starts = ((jnp.arange(count) + sample) * step).astype(int) - (sample * step).astype(int)
    return starts.at[-1].set(length - size)
