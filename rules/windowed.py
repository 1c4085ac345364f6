"""What pooling over sliding windows computes, for any number of spatial dims."""

import functools
import math

import jax.numpy as jnp
import numpy as np
from jax import lax

from .spatial import per_dim, window_slices


def pool_windows(lengths, kernel_size, stride, padding, dilation, ceil_mode):
    """For each dim (size, stride, dilation, padding before, padding after), such that the windows just fit."""
    n = len(lengths)
    sizes = per_dim(kernel_size, n)
    strides = per_dim(stride, n) if stride else sizes
    windows = []
    for length, size, step, gap, before in zip(lengths, sizes, strides, per_dim(dilation, n), per_dim(padding, n)):
        span = gap * (size - 1) + 1
        count = (length + 2 * before - span + (step - 1 if ceil_mode else 0)) // step + 1
        if ceil_mode and (count - 1) * step >= length + before:
            count -= 1  # no window starts in the padding at the end
        windows.append((size, step, gap, before, (count - 1) * step + span - length - before))
    return windows


def pool(input, windows, combine, fill):
    """``combine`` the elements of each window, dim by dim; ``fill`` is what the padding holds.

    ``lax.reduce_window`` does the same, but its gradient is many times slower on a CPU.
    """
    input = pad_windows(input, windows, fill)
    for axis, (size, stride, dilation, *_) in zip(range(-1, -len(windows) - 1, -1), reversed(windows)):
        input = functools.reduce(combine, window_slices(input, axis, size, stride, dilation))
    return input


def pad_windows(input, windows, fill):
    pads = [(0, 0, 0)] * (input.ndim - len(windows)) + [(before, after, 0) for *_, before, after in windows]
    return lax.pad(input, jnp.asarray(fill, input.dtype), pads)


def max_pool(input, windows):
    """The largest element of each window; the gradient goes to the first of those."""
    return pool(input, windows, lambda a, b: jnp.where(beats(b, a), b, a), least(input.dtype))


def max_pool_with_indices(input, windows):
    """The largest element of each window, and its index in the flattened spatial dims."""
    lengths = input.shape[-len(windows) :]
    places = jnp.broadcast_to(jnp.arange(math.prod(lengths)).reshape(lengths), input.shape)
    values, places = pad_windows(input, windows, least(input.dtype)), pad_windows(places, windows, 0)
    for axis, (size, stride, dilation, *_) in zip(range(-1, -len(windows) - 1, -1), reversed(windows)):
        window = zip(*(window_slices(x, axis, size, stride, dilation) for x in (values, places)))
        values, places = functools.reduce(larger, window)
    return values, places


def larger(a, b):
    """The (value, place) with the larger value, ``a`` if they are equal."""
    chosen = beats(b[0], a[0])
    return jnp.where(chosen, b[0], a[0]), jnp.where(chosen, b[1], a[1])


def beats(new, old):
    """Where a later element takes the place of the largest so far: NaN always does."""
    return (new > old) | jnp.isnan(new)


def least(dtype):
    """The value that no other is below."""
    return -jnp.inf if jnp.issubdtype(dtype, jnp.floating) else jnp.iinfo(dtype).min


def avg_pool(input, windows, count_include_pad=True, divisor_override=None):
    """The mean of each window, summed in float32 for half types."""
    dtype = jnp.promote_types(input.dtype, jnp.float32) if jnp.issubdtype(input.dtype, jnp.floating) else input.dtype
    total = pool(input.astype(dtype), windows, jnp.add, 0)
    if divisor_override is None:
        divisor = window_sizes(input.shape[-len(windows) :], windows, count_include_pad)
    else:
        divisor = divisor_override
    average = lax.div(total, jnp.broadcast_to(jnp.asarray(divisor, dtype), total.shape))  # ints are cut towards 0
    return average.astype(input.dtype)


def window_sizes(lengths, windows, count_include_pad):
    """How many elements each window has: the padding that was asked for counts if wanted, what ceil_mode adds never."""
    counts = []
    for length, (size, stride, _, before, after) in zip(lengths, windows):
        starts = np.arange(0, length + before + after - size + 1, stride) - before
        first = starts if count_include_pad else np.maximum(starts, 0)
        counts.append(np.minimum(starts + size, length + before if count_include_pad else length) - first)
    return (
        math.prod(count[0] for count in counts)
        if all((count == count[0]).all() for count in counts)
        else functools.reduce(np.multiply.outer, counts)
    )


def lp_pool(input, norm_type, windows):
    """``(the sum of x ** norm_type) ** (1 / norm_type)`` over each window; its gradient is 0 where the sum is."""
    total = avg_pool(input**norm_type, windows) * math.prod(size for size, *_ in windows)
    zero = total == 0
    return jnp.where(zero, 0, jnp.where(zero, 1, total) ** (1 / norm_type))
