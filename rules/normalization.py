"""Normalization by mean and variance, or by size."""

import jax.numpy as jnp
from jax import lax

from transpile.rule import Unsupported, rule

from .norms import vector_norm
from .spatial import window_slices


@rule("torch.nn.functional.layer_norm", "torch.layer_norm")
def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5):
    """Normalize each array of ``normalized_shape``, the last dims of ``input``."""
    output = standardize(input, tuple(range(-len(normalized_shape), 0)), eps)
    return scale_and_shift(output, weight, bias).astype(input.dtype)


@rule("torch.nn.functional.rms_norm", "torch.rms_norm")
def rms_norm(input, normalized_shape, weight=None, eps=None):
    """Divide each array of ``normalized_shape``, the last dims of ``input``, by its root mean square."""
    wide = input.astype(jnp.promote_types(input.dtype, jnp.float32))
    eps = jnp.finfo(input.dtype).eps if eps is None else eps
    axes = tuple(range(-len(normalized_shape), 0))
    output = wide * lax.rsqrt((wide * wide).mean(axis=axes, keepdims=True) + eps)
    return scale_and_shift(output, weight, None).astype(input.dtype)


@rule("torch.nn.functional.group_norm", "torch.group_norm")
def group_norm(input, num_groups, weight=None, bias=None, eps=1e-5):
    """Normalize each group of the channels of (N, C, ...)."""
    batch, channels, *rest = input.shape
    grouped = input.reshape(batch, num_groups, channels // num_groups, *rest)
    output = standardize(grouped, tuple(range(2, grouped.ndim)), eps).reshape(input.shape)
    spatial = len(rest)
    return scale_and_shift(output, as_channels(weight, spatial), as_channels(bias, spatial)).astype(input.dtype)


@rule("torch.nn.functional.batch_norm")
def batch_norm(input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5):
    if not training:
        return normalize_channels(input, running_mean, running_var, weight, bias, eps)
    if running_mean is None and running_var is None:
        return normalize_channels(input, *channel_statistics(input), weight, bias, eps)
    raise Unsupported(
        "batch_norm with training=True changes running_mean and running_var in place: use a BatchNorm layer, which"
        " returns them as its new state"
    )


@rule("torch.nn.functional.instance_norm")
def instance_norm(
    input, running_mean=None, running_var=None, weight=None, bias=None, use_input_stats=True, momentum=0.1, eps=1e-5
):
    if not use_input_stats:
        return normalize_channels(input, running_mean, running_var, weight, bias, eps)
    if running_mean is None and running_var is None:
        return normalize_instances(input, weight, bias, eps)
    raise Unsupported(
        "instance_norm with use_input_stats=True changes running_mean and running_var in place: leave them out"
    )


@rule("torch.nn.functional.local_response_norm")
def local_response_norm(input, size, alpha=0.0001, beta=0.75, k=1.0):
    """Divide (N, C, ...) by a power of the mean square over ``size`` neighbouring channels."""
    return divide_by_neighbours(input, size, size // 2, (size - 1) // 2, alpha, beta, k)


@rule("torch.nn.functional.normalize")
def normalize(input, p=2.0, dim=1, eps=1e-12):
    """Divide by the norms along ``dim``, or by ``eps`` where they are less."""
    size = vector_norm(input, 2 if p == 2 else p, dim=dim, keepdim=True)
    return input / jnp.where(size < eps, eps, size)


def standardize(input, axes, eps):
    """Mean 0 and variance 1 over ``axes``; half types become float32."""
    wide = input.astype(jnp.promote_types(input.dtype, jnp.float32))
    centered = wide - wide.mean(axis=axes, keepdims=True)
    return centered * lax.rsqrt((centered * centered).mean(axis=axes, keepdims=True) + eps)


def scale_and_shift(input, weight, bias):
    """``input * weight + bias``; either may be None."""
    output = input if weight is None else input * weight
    return output if bias is None else output + bias


def as_channels(vector, spatial):
    """One value a channel, shaped to meet (N, C, *spatial dims); None stays None."""
    return None if vector is None else vector.reshape(-1, *(1,) * spatial)


def channel_statistics(input):
    """The mean and the biased variance of each channel of (N, C, ...); half types become float32."""
    if input.size == input.shape[1]:
        raise ValueError(f"one value per channel has no variance: {input.shape}")
    wide = input.astype(jnp.promote_types(input.dtype, jnp.float32))
    axes = (0, *range(2, input.ndim))
    mean = wide.mean(axis=axes)
    centered = wide - as_channels(mean, input.ndim - 2)
    return mean, (centered * centered).mean(axis=axes)


def normalize_channels(input, mean, var, weight, bias, eps):
    """Normalize (N, C, ...) by a mean and a variance for each channel."""
    mean, var, weight, bias = (as_channels(v, input.ndim - 2) for v in (mean, var, weight, bias))
    wide = input.astype(jnp.promote_types(input.dtype, jnp.float32))
    return scale_and_shift((wide - mean) * lax.rsqrt(var + eps), weight, bias).astype(input.dtype)


def normalize_instances(input, weight, bias, eps, spatial=None):
    """Normalize each channel of each sample, over the last ``spatial`` dims: all after the second by default."""
    spatial = input.ndim - 2 if spatial is None else spatial
    axes = tuple(range(-spatial, 0))
    if input.size == input[..., *(0,) * spatial].size:
        raise ValueError(f"one value per channel has no variance: {input.shape}")
    output = standardize(input, axes, eps)
    return scale_and_shift(output, as_channels(weight, spatial), as_channels(bias, spatial)).astype(input.dtype)


def divide_by_neighbours(input, size, before, after, alpha, beta, k):
    """Divide (N, C, ...) by ``(k + alpha * mean) ** beta``, the mean of the squares of the channels around each one."""
    pads = [(0, 0), (before, after), *[(0, 0)] * (input.ndim - 2)]
    squares = window_slices(jnp.pad(input * input, pads), 1, before + after + 1, 1, 1)
    return input / (k + alpha * (sum(squares) / size)) ** beta
