"""Resampling one dim at a time: for each place of the output the weights of the places of the input."""

import jax.numpy as jnp
import numpy as np
from jax import lax


def along_axis(input, weights, axis):
    """Contract one dim of ``input`` with (old length, new length) ``weights``, half types in float32."""
    dtype = jnp.promote_types(input.dtype, jnp.float32)
    output = jnp.tensordot(input.astype(dtype), jnp.asarray(weights, dtype), (axis, 0), precision=lax.Precision.HIGHEST)
    return jnp.moveaxis(output, -1, axis).astype(input.dtype)


def source_positions(length, new_length, scale_factor, align_corners):
    """Where in the input the places of the output lie, counted in pixels, and the step between them."""
    if align_corners:
        step = (length - 1) / (new_length - 1) if new_length > 1 else 0.0
        return np.arange(new_length) * step, step
    step = 1 / scale_factor if scale_factor else length / new_length
    return (np.arange(new_length) + 0.5) * step - 0.5, step


def nearest_places(length, new_length, scale_factor, exact):
    """The places of the input that the places of the output copy, rounded in float32 as torch does."""
    step = np.float32(1 / scale_factor if scale_factor else np.float32(length) / np.float32(new_length))
    places = (np.arange(new_length, dtype=np.float32) + np.float32(0.5 if exact else 0)) * step
    return np.minimum(places.astype(int), length - 1)


def interpolation_weights(mode, length, new_length, scale_factor, align_corners, antialias):
    """(length, new_length) weights of a "linear", "cubic" or "lanczos" interpolation."""
    positions, step = source_positions(length, new_length, scale_factor, align_corners)
    kernel, reach = {"linear": (linear, 1), "cubic": (cubic, 2), "lanczos": (lanczos, 3)}[mode]
    if antialias:
        return antialiased_weights(kernel, reach, length, new_length, step)
    if mode == "linear" and not align_corners:
        positions = np.maximum(positions, 0)
    weights = np.zeros((length, new_length))
    first = np.floor(positions).astype(int)
    for i in range(1 - reach, reach + 1):  # what lies outside counts for the edge
        places = np.clip(first + i, 0, length - 1)
        np.add.at(weights, (places, np.arange(new_length)), kernel(positions - first - i))
    return weights


def antialiased_weights(kernel, reach, length, new_length, step):
    """The kernel widened by the step where the output is smaller, cut at the edges and scaled to a sum of 1."""
    width = max(step, 1)
    centers = (np.arange(new_length) + 0.5) * step
    starts = np.maximum((centers - reach * width + 0.5).astype(int), 0)
    ends = np.minimum((centers + reach * width + 0.5).astype(int), length)
    place = np.arange(length)[:, None]
    slope = {"a": -0.5} if kernel is cubic else {}
    weights = np.where((starts <= place) & (place < ends), kernel((place - centers + 0.5) / width, **slope), 0)
    return weights / weights.sum(axis=0)


def linear(x):
    return np.maximum(1 - abs(x), 0)


def cubic(x, a=-0.75):
    x = abs(x)
    near, far = ((a + 2) * x - (a + 3)) * x * x + 1, ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
    return np.where(x <= 1, near, np.where(x < 2, far, 0))


def lanczos(x):
    return np.where(abs(x) < 3, np.sinc(x) * np.sinc(x / 3), 0)
