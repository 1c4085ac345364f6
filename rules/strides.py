"""Elements by their place in memory. JAX arrays have none: what counts is the row-major order of a contiguous tensor."""

import math

import jax.numpy as jnp

from transpile.rule import rule

# Code that takes its strides from the tensor itself, `s = x.stride(); x.as_strided(size, (s[0] // 2, *s))`, means the same
# in any order. Numbers of its own fit a contiguous tensor alone: of `x.t()` torch reads other elements than these.


@rule(
    "torch.Tensor.stride",
    note="the strides are those of row-major order, which a transposed or sliced tensor does not have in torch",
)
def stride(input, dim=None):
    """How many elements in row-major order lie between neighbours in each dim, or in one."""
    if dim == -1:
        return 1
    strides = tuple(math.prod(input.shape[d + 1 :]) for d in range(input.ndim))
    return strides if dim is None else strides[dim]


@rule(
    "torch.as_strided",
    "torch.Tensor.as_strided",
    "torch.as_strided_copy",
    note="the tensor is read in row-major order, as if it were contiguous and had its memory to itself",
    by_data="size",
)
def as_strided(input, size, stride, storage_offset=None):
    """The elements of the flattened array at the places ``storage_offset + i * stride[0] + j * stride[1] + ...``."""
    places = strided_places(input.size, size, stride, storage_offset)
    return input.ravel()[places]


@rule(
    "torch.as_strided_scatter",
    "torch.Tensor.as_strided_scatter",
    note="the tensor is written in row-major order, as if it were contiguous and had its memory to itself",
)
def as_strided_scatter(input, src, size, stride, storage_offset=None):
    """``input`` with ``src`` at those places."""
    # torch's own gradient for the input is that at the places written, which has to be 0, and 0 elsewhere
    places = strided_places(input.size, size, stride, storage_offset)
    return input.ravel().at[places].set(src).reshape(input.shape)


def strided_places(length, size, stride, offset):
    """An array of this size that holds the place of each element. Raises where one lies beyond ``length``."""
    offset = 0 if offset is None else offset
    last = offset + sum((n - 1) * step for n, step in zip(size, stride))
    if math.prod(size) and last >= length:
        raise ValueError(f"size {size} with stride {stride} reaches place {last} of {length}")
    places = jnp.asarray(offset)
    for n, step in zip(size, stride):
        places = places[..., None] + step * jnp.arange(n)
    return places
