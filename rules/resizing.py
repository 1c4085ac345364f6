"""Resizing dim by dim: each place of the output is a weighted sum of places of the input."""

import jax.numpy as jnp
import numpy as np
from jax import lax

from .spatial import per_dim


def resize_nearest(input, size=None, scale_factor=None, exact=False, recompute_scale_factor=None):
    """(N, C, *spatial) resized by copying pixels, with ``exact`` those nearest to the centres."""
    for axis, length, new_length, scale in resized_dims(input, size, scale_factor, recompute_scale_factor):
        places = nearest_places(length, new_length, scale, exact)
        factor, rest = divmod(new_length, length)
        if rest == 0 and (places == np.arange(new_length) // factor).all():
            input = jnp.repeat(input, factor, axis=axis)
        elif len(set(np.diff(places))) == 1:
            input = lax.slice_in_dim(input, int(places[0]), int(places[-1]) + 1, int(places[1] - places[0]), axis)
        else:
            input = jnp.take(input, places, axis=axis)
    return input


def resize_linear(
    input, size=None, scale_factor=None, align_corners=None, antialias=False, recompute_scale_factor=None
):
    """(N, C, *spatial) resized by linear interpolation."""
    weights = {
        axis: kernel_weights(linear_kernel, 1, length, new_length, scale, align_corners, antialias)
        for axis, length, new_length, scale in resized_dims(input, size, scale_factor, recompute_scale_factor)
    }
    return weighted_sums(input, weights)


def resize_cubic(input, size=None, scale_factor=None, align_corners=None, antialias=False, recompute_scale_factor=None):
    """(N, C, *spatial) resized by cubic interpolation."""
    kernel = gentle_cubic_kernel if antialias else cubic_kernel
    weights = {
        axis: kernel_weights(kernel, 2, length, new_length, scale, align_corners, antialias)
        for axis, length, new_length, scale in resized_dims(input, size, scale_factor, recompute_scale_factor)
    }
    return weighted_sums(input, weights)


def resize_lanczos(input, size=None, scale_factor=None, recompute_scale_factor=None):
    """(N, C, H, W) resized with a windowed sinc of three lobes, antialiased."""
    weights = {
        axis: kernel_weights(lanczos_kernel, 3, length, new_length, scale, align_corners=False, antialias=True)
        for axis, length, new_length, scale in resized_dims(input, size, scale_factor, recompute_scale_factor)
    }
    return weighted_sums(input, weights)


def resized_dims(input, size, scale_factor, recompute_scale_factor=None):
    """(axis, length, new length, scale) of each spatial dim; scale is None where it follows from the lengths."""
    lengths = input.shape[2:]
    if scale_factor is None:
        sizes, scales = per_dim(size, len(lengths)), per_dim(None, len(lengths))
    else:
        scales = per_dim(scale_factor, len(lengths))
        sizes = [int(length * scale) for length, scale in zip(lengths, scales)]
        if recompute_scale_factor:
            scales = per_dim(None, len(lengths))
    return list(zip(range(2, input.ndim), lengths, sizes, scales))


def weighted_sums(input, weights):
    """Contract dims of ``input`` with {axis: (length, new length) weights}, half types in float32."""
    dtype = jnp.promote_types(input.dtype, jnp.float32)
    output = input.astype(dtype)
    for axis, matrix in weights.items():
        output = jnp.tensordot(output, jnp.asarray(matrix, dtype), (axis, 0), precision=lax.Precision.HIGHEST)
        output = jnp.moveaxis(output, -1, axis)
    return output.astype(input.dtype)


def pixel_step(length, new_length, scale, align_corners):
    """How far apart in the input two neighbouring pixels of the output lie."""
    if align_corners:
        return (length - 1) / (new_length - 1) if new_length > 1 else 0.0
    return 1 / scale if scale else length / new_length


def nearest_places(length, new_length, scale, exact):
    """Which pixels of the input are copied, computed in float32 as torch does."""
    step = np.float32(1 / scale) if scale else np.float32(length) / np.float32(new_length)
    places = (np.arange(new_length, dtype=np.float32) + np.float32(0.5 if exact else 0)) * step
    return np.minimum(places.astype(int), length - 1)


def kernel_weights(kernel, reach, length, new_length, scale, align_corners, antialias):
    """(length, new length) weights from a kernel that is 0 beyond ``reach`` pixels."""
    step = pixel_step(length, new_length, scale, align_corners)
    places = np.arange(new_length)
    if antialias:  # the kernel stretched when shrinking, cut at the edges, and its sum made 1
        stretch = max(step, 1.0)
        centers = (places + 0.5) * step
        first = np.maximum((centers - reach * stretch + 0.5).astype(int), 0)
        end = np.minimum((centers + reach * stretch + 0.5).astype(int), length)
        pixel = np.arange(length)[:, None]
        weights = np.where((first <= pixel) & (pixel < end), kernel((pixel + 0.5 - centers) / stretch), 0)
        return weights / weights.sum(axis=0)
    positions = places * step if align_corners else (places + 0.5) * step - 0.5
    before = np.floor(positions).astype(int)
    weights = np.zeros((length, new_length))
    for i in range(1 - reach, reach + 1):  # beyond an edge its pixel counts
        np.add.at(weights, (np.clip(before + i, 0, length - 1), places), kernel(positions - before - i))
    return weights


def linear_kernel(x):
    return np.maximum(1 - abs(x), 0)


def cubic_kernel(x, a=-0.75):
    x = abs(x)
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
    return np.where(x <= 1, near, np.where(x < 2, far, 0))


def gentle_cubic_kernel(x):
    """The cubic kernel with the slope that torch takes for antialiasing."""
    return cubic_kernel(x, a=-0.5)


def lanczos_kernel(x):
    return np.where(abs(x) < 3, np.sinc(x) * np.sinc(x / 3), 0)
