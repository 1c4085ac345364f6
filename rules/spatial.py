"""Sizes and windows over spatial dims, shared by convolution and pooling."""

import jax.numpy as jnp
from jax import lax

from transpile.rule import rule


def per_dim(value, n):
    """One value for each of ``n`` dims: 3 and (3,) stand for all of them."""
    values = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    return values * n if len(values) == 1 else values


def window_slices(input, axis, size, stride, dilation):
    """The first elements of all windows along one dim, their second elements and so on: ``size`` arrays."""
    span = input.shape[axis] - dilation * (size - 1)
    return [lax.slice_in_dim(input, i, i + span, stride, axis) for i in range(0, dilation * size, dilation)]


def spatial_windows(input, sizes, strides, dilations):
    """Every window over the last dims: (..., *lengths) to (..., *sizes, *counts)."""
    axis = input.ndim - len(sizes)
    for size, stride, dilation in zip(sizes, strides, dilations):
        windows = jnp.stack(window_slices(input, axis, size, stride, dilation), axis)
        input = jnp.moveaxis(windows, axis + 1, -1)
        axis += 1
    return input


@rule("torch.nn.modules.utils._single")
def single(x):
    return tuple(x) if isinstance(x, (tuple, list)) else (x,)


@rule("torch.nn.modules.utils._pair")
def pair(x):
    return tuple(x) if isinstance(x, (tuple, list)) else (x, x)


@rule("torch.nn.modules.utils._triple")
def triple(x):
    return tuple(x) if isinstance(x, (tuple, list)) else (x, x, x)


@rule("torch.nn.modules.utils._quadruple")
def quadruple(x):
    return tuple(x) if isinstance(x, (tuple, list)) else (x, x, x, x)


@rule("torch.nn.modules.utils._ntuple")
def ntuple(n, name="parse"):
    """A function that makes a tuple of a sequence, and of one value ``n`` of them."""
    return lambda x: tuple(x) if isinstance(x, (tuple, list)) else (x,) * n
