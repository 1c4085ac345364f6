"""The partial inverse of max pooling."""

import math

import jax.numpy as jnp
from jax import lax

from transpile.rule import rule

from .spatial import per_dim


@rule("torch.nn.functional.max_unpool2d")
def max_unpool2d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    return max_unpool(input, indices, unpooled_size(input.shape[-2:], kernel_size, stride, padding, output_size))


@rule("torch.nn.functional.max_unpool1d")
def max_unpool1d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    return max_unpool(input, indices, unpooled_size(input.shape[-1:], kernel_size, stride, padding, output_size))


@rule("torch.nn.functional.max_unpool3d")
def max_unpool3d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    return max_unpool(input, indices, unpooled_size(input.shape[-3:], kernel_size, stride, padding, output_size))


def unpooled_size(lengths, kernel_size, stride, padding, output_size):
    """The spatial size that was pooled to ``lengths``: the one given, or the least."""
    n = len(lengths)
    if output_size is not None:
        return tuple(output_size[-n:])
    sizes, padding = per_dim(kernel_size, n), per_dim(padding, n)
    strides = per_dim(stride, n) if stride else sizes
    return tuple((length - 1) * s - 2 * p + k for length, s, p, k in zip(lengths, strides, padding, sizes))


def max_unpool(input, indices, size):
    """Zeros of spatial ``size`` with each value at its index in the flattened spatial dims.

    Windows that overlap may have chosen the same place. The value is there once, and each of them gets the gradient.
    """
    leading = input.shape[: -len(size)]
    values, indices = (x.reshape(math.prod(leading), -1) for x in (input, indices))
    zeros = jnp.zeros((math.prod(leading), math.prod(size)), input.dtype)
    place = (jnp.arange(math.prod(leading))[:, None], indices)
    unpooled = zeros.at[place].set(lax.stop_gradient(values))
    nothing = zeros.at[place].add(values - lax.stop_gradient(values))
    return (unpooled + nothing).reshape(*leading, *size)
