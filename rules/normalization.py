"""Normalization by mean and variance, or by size."""

import math

import jax.numpy as jnp
from jax import lax

from transpile.rule import Unsupported, rule

from .norms import vector_norm
from .spatial import window_slices


@rule("torch.nn.functional.layer_norm", "torch.layer_norm")
def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5):
    """Normalize each array of ``normalized_shape``, the last dims of ``input``."""
    axes = tuple(range(-len(normalized_shape), 0))
    return standardize(input, axes, weight, bias, eps)


@rule("torch.nn.functional.rms_norm", "torch.rms_norm")
def rms_norm(input, normalized_shape, weight=None, eps=None):
    """Divide each array of ``normalized_shape``, the last dims of ``input``, by its root mean square."""
    wide = widened(input)
    mean_square = (wide * wide).mean(axis=tuple(range(-len(normalized_shape), 0)), keepdims=True)
    eps = jnp.finfo(input.dtype).eps if eps is None else eps
    return affine(wide * lax.rsqrt(mean_square + eps), weight, None).astype(input.dtype)


@rule("torch.nn.functional.group_norm", "torch.group_norm")
def group_norm(input, num_groups, weight=None, bias=None, eps=1e-5):
    """Normalize each group of the channels of (N, C, ...)."""
    batch, channels, *rest = input.shape
    grouped = input.reshape(batch, num_groups, channels // num_groups, math.prod(rest))
    weight, bias = (v if v is None else v.reshape(num_groups, channels // num_groups, 1) for v in (weight, bias))
    return standardize(grouped, (2, 3), weight, bias, eps).reshape(input.shape)


@rule("torch.nn.functional.batch_norm")
def batch_norm(input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5):
    if not training:
        return normalize_channels(input, running_mean, running_var, weight=weight, bias=bias, eps=eps)
    if running_mean is None and running_var is None:
        return normalize_batch(input, weight=weight, bias=bias, eps=eps)
    raise Unsupported(
        "batch_norm with training=True changes running_mean and running_var in place: use a BatchNorm layer, which"
        " returns them as its new state"
    )


@rule("torch.nn.functional.instance_norm")
def instance_norm(
    input, running_mean=None, running_var=None, weight=None, bias=None, use_input_stats=True, momentum=0.1, eps=1e-5
):
    if not use_input_stats:
        return normalize_channels(input, running_mean, running_var, weight=weight, bias=bias, eps=eps)
    if running_mean is None and running_var is None:
        return normalize_instances(input, weight=weight, bias=bias, eps=eps)
    raise Unsupported(
        "instance_norm with use_input_stats=True changes running_mean and running_var in place: leave them out"
    )


@rule("torch.nn.functional.local_response_norm")
def local_response_norm(input, size, alpha=0.0001, beta=0.75, k=1.0):
    """Divide (N, C, ...) by ``(k + alpha * mean) ** beta``, the mean square of the ``size`` channels around each."""
    pads = [(0, 0), (size // 2, (size - 1) // 2), *[(0, 0)] * (input.ndim - 2)]
    squares = window_slices(jnp.pad(input * input, pads), 1, size, 1, 1)
    return input / (k + alpha * (sum(squares) / size)) ** beta


@rule("torch.nn.functional.normalize")
def normalize(input, p=2.0, dim=1, eps=1e-12):
    """Divide by the norms along ``dim``, or by ``eps`` where they are less."""
    size = vector_norm(input, 2 if p == 2 else p, dim=dim, keepdim=True)
    return input / jnp.where(size < eps, eps, size)


def standardize(input, axes, weight, bias, eps):
    """Mean 0 and variance 1 over ``axes``, then ``weight`` and ``bias``."""
    wide = widened(input)
    mean, var = wide.mean(axis=axes, keepdims=True), wide.var(axis=axes, keepdims=True)
    return affine((wide - mean) * lax.rsqrt(var + eps), weight, bias).astype(input.dtype)


def widened(input):
    """Half types as float32, in which torch computes its normalizations."""
    return input.astype(jnp.promote_types(input.dtype, jnp.float32))


def affine(input, weight, bias):
    """``input * weight + bias``; each of the two may be None."""
    scaled = input if weight is None else input * weight
    return scaled if bias is None else scaled + bias


def flat_channels(input, spatial):
    """The last ``spatial`` dims of (..., C, *spatial) made one, as long loops are fast ones; none stays none."""
    if spatial == 0:
        return input
    leading = input.ndim - spatial
    return input.reshape(*input.shape[:leading], math.prod(input.shape[leading:]))


def column(vector, flat):
    """One value a channel, to meet (N, C) or (N, C, L); None stays None."""
    return vector if vector is None or flat.ndim == 2 else vector[:, None]


def channel_statistics(input):
    """The mean and the biased variance of each channel of (N, C, ...)."""
    if input.size == input.shape[1]:
        raise ValueError(f"one value per channel has no variance: {input.shape}")
    wide = widened(flat_channels(input, input.ndim - 2))
    axes = (0, *range(2, wide.ndim))
    mean = wide.mean(axis=axes)
    centered = wide - column(mean, wide)
    return mean, (centered * centered).mean(axis=axes)


def normalize_channels(input, mean, var, weight=None, bias=None, eps=1e-5):
    """Normalize (N, C, ...) by a mean and a variance for each channel."""
    flat = widened(flat_channels(input, input.ndim - 2))
    mean, var, weight, bias = (column(v, flat) for v in (mean, var, weight, bias))
    scale = affine(lax.rsqrt(var + eps), weight, None)  # one number a channel, before the long arrays
    return affine(flat - mean, scale, bias).reshape(input.shape).astype(input.dtype)


def normalize_batch(input, weight=None, bias=None, eps=1e-5):
    """Normalize each channel of (N, C, ...) over the batch."""
    mean, var = channel_statistics(input)
    return normalize_channels(input, mean, var, weight, bias, eps)


@rule("torch.nn.functional.batch_norm[updating]", "torch.batch_norm[updating]")
def batch_norm_updating(
    input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5, cudnn_enabled=True
):
    """Normalize (N, C, ...) by the batch in training, else by the running statistics: returns the result and the new statistics."""
    if training and running_mean is None and running_var is None:
        return normalize_batch(input, weight, bias, eps), None, None
    if training:
        return batch_norm_moving(input, running_mean, running_var, weight, bias, momentum, eps)
    return normalize_channels(input, running_mean, running_var, weight, bias, eps), running_mean, running_var


def batch_norm_moving(input, running_mean, running_var, weight, bias, momentum, eps):
    """Normalize (N, C, ...) over the batch, and move the running statistics towards the batch's: returns all three."""
    mean, var = channel_statistics(input)
    output = normalize_channels(input, mean, var, weight, bias, eps)
    if input.size == 0:
        return output, running_mean, running_var
    count = input.size // input.shape[1]

    def move(running, new):
        return ((1 - momentum) * running + momentum * lax.stop_gradient(new)).astype(running.dtype)

    return output, move(running_mean, mean), move(running_var, var * count / (count - 1))  # the unbiased variance


def normalize_instances(input, weight=None, bias=None, eps=1e-5, spatial=None):
    """Normalize each channel of each sample over the last ``spatial`` dims; None is all after the second."""
    flat = flat_channels(input, input.ndim - 2 if spatial is None else spatial)
    if flat.shape[-1] == 1:
        raise ValueError(f"one value per channel has no variance: {input.shape}")
    weight, bias = (v if v is None else v[:, None] for v in (weight, bias))
    return standardize(flat, (-1,), weight, bias, eps).reshape(input.shape)


@rule("torch.nn.SyncBatchNorm.convert_sync_batchnorm")
def convert_sync_batchnorm(module, process_group=None):
    return module
