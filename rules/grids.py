"""Sampling images at the points of a grid."""

import functools
import itertools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from transpile.rule import rule


@rule("torch.nn.functional.grid_sample")
def grid_sample(input, grid, mode="bilinear", padding_mode="zeros", align_corners=None):
    """Images (N, C, *spatial) at the (x, y) or (x, y, z), from -1 to 1, of (N, *points, dims): (N, C, *points)."""
    sample = functools.partial(sample_image, mode=mode, padding_mode=padding_mode, align_corners=align_corners)
    return jax.vmap(sample)(input, grid)


@rule("torch.grid_sampler", "torch.grid_sampler_2d", "torch.grid_sampler_3d")
def grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners):
    modes, padding_modes = ("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection")
    return grid_sample(input, grid, modes[interpolation_mode], padding_modes[padding_mode], align_corners)


@rule("torch.nn.functional.affine_grid", "torch.affine_grid_generator")
def affine_grid(theta, size, align_corners=None):
    """Where the affine maps ``theta`` (N, dims, dims + 1) send the pixels of images (N, C, *spatial)."""
    axes = [pixel_centers(length, align_corners) for length in size[2:]]
    points = np.meshgrid(*axes, indexing="ij")[::-1]  # x first
    points = jnp.asarray(np.stack([*points, np.ones(size[2:])], axis=-1), theta.dtype)
    return jnp.einsum("...j,nij->n...i", points, theta, precision=lax.Precision.HIGHEST)


def pixel_centers(length, align_corners):
    """Where the pixels of a dim lie between its edges -1 and 1, or between the first and the last pixel."""
    if align_corners:
        return np.linspace(-1, 1, length) if length > 1 else np.zeros(length)
    return (2 * np.arange(length) + 1) / length - 1


def sample_image(image, grid, mode, padding_mode, align_corners):
    """One image (C, *spatial) at the points of ``grid`` (*points, dims): (C, *points)."""
    lengths = image.shape[1:]
    inside = functools.partial(into_image, padding_mode=padding_mode, align_corners=align_corners)
    positions = [
        ((x + 1) / 2 * (length - 1) if align_corners else ((x + 1) * length - 1) / 2)
        for x, length in zip(jnp.moveaxis(grid, -1, 0)[::-1], lengths)
    ]
    if mode != "bicubic":
        positions = [inside(x, length) for x, length in zip(positions, lengths)]
    if mode == "nearest":
        return pixels_at(image, [jnp.round(x) for x in positions], 1)
    weights = [cubic_weights(x) if mode == "bicubic" else linear_weights(x) for x in positions]
    total = 0
    for offsets in itertools.product(*(range(len(w)) for w in weights)):
        places = [jnp.floor(x) + i - (mode == "bicubic") for x, i in zip(positions, offsets)]
        if mode == "bicubic":  # each pixel is looked up as if it were the point
            places = [inside(x, length) for x, length in zip(places, lengths)]
        weight = functools.reduce(jnp.multiply, [w[i] for w, i in zip(weights, offsets)])
        total = total + pixels_at(image, places, weight)
    return total


def pixels_at(image, places, weight):
    """``weight`` times the pixels of ``image`` (C, *spatial) at ``places``, an array for each dim; 0 outside."""
    inside = functools.reduce(jnp.logical_and, [(x >= 0) & (x < n) for x, n in zip(places, image.shape[1:])])
    indices = [jnp.clip(x, 0, n - 1).astype(int) for x, n in zip(places, image.shape[1:])]
    return jnp.where(inside, weight * image[(slice(None), *indices)], 0)


def linear_weights(x):
    """The weights of the pixels before and after ``x``."""
    t = x - jnp.floor(x)
    return [1 - t, t]


def cubic_weights(x, a=-0.75):
    """The weights of the two pixels before and the two after ``x``."""
    t = x - jnp.floor(x)
    near = lambda t: ((a + 2) * t - (a + 3)) * t * t + 1
    far = lambda t: ((a * t - 5 * a) * t + 8 * a) * t - 4 * a
    return [far(t + 1), near(t), near(1 - t), far(2 - t)]


def into_image(x, length, padding_mode, align_corners):
    """Positions in pixels, those outside moved inside by "border" or "reflection"."""
    if padding_mode == "zeros":
        return x
    if padding_mode == "reflection":
        low, span = (0, length - 1) if align_corners else (-0.5, length)
        distance = jnp.where(x < low, low - x, x - low)
        extra = distance % span if span else 0 * distance
        even = distance // span % 2 == 0 if span else True
        x = low + jnp.where(even, extra, span - extra)
    return jnp.where(x > 0, jnp.where(x < length - 1, x, length - 1), 0)
