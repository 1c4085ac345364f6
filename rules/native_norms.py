"""The forms in which torch itself calls its normalizations."""

import jax.numpy as jnp
from jax import lax

from transpile.rule import Unsupported, rule

from .normalization import (
    batch_norm,
    channel_statistics,
    group_norm,
    instance_norm,
    layer_norm,
    normalize_channels,
    widened,
)


@rule("torch.batch_norm")
def torch_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, cudnn_enabled=True):
    return batch_norm(input, running_mean, running_var, weight, bias, training, eps=eps)


@rule("torch.instance_norm")
def torch_instance_norm(
    input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, cudnn_enabled=True
):
    return instance_norm(input, running_mean, running_var, weight, bias, use_input_stats, eps=eps)


@rule("torch.native_layer_norm")
def native_layer_norm(input, normalized_shape, weight, bias, eps):
    """The normalized input, and the mean and the inverse deviation of each array of ``normalized_shape``."""
    axes = tuple(range(-len(normalized_shape), 0))
    wide = widened(input)
    statistics = wide.mean(axis=axes, keepdims=True), lax.rsqrt(wide.var(axis=axes, keepdims=True) + eps)
    return layer_norm(input, normalized_shape, weight, bias, eps), *(s.astype(input.dtype) for s in statistics)


@rule("torch.native_group_norm")
def native_group_norm(input, weight, bias, N, C, HxW, group, eps):
    """The normalized input, and the mean and the inverse deviation of each group."""
    wide = widened(input).reshape(N, group, C // group * HxW)
    statistics = wide.mean(axis=-1), lax.rsqrt(wide.var(axis=-1) + eps)
    return group_norm(input, group, weight, bias, eps), *(s.astype(input.dtype) for s in statistics)


@rule("torch.native_batch_norm")
def native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps):
    """The normalized input, and the mean and the inverse deviation of each channel, both empty outside training."""
    if not training:
        empty = jnp.zeros(0, input.dtype)
        return normalize_channels(input, running_mean, running_var, weight, bias, eps), empty, empty
    if running_mean is not None or running_var is not None:
        raise Unsupported("native_batch_norm changes running_mean and running_var in place: use a BatchNorm layer")
    mean, var = channel_statistics(input)
    statistics = mean, lax.rsqrt(var + eps)
    return normalize_channels(input, mean, var, weight, bias, eps), *(s.astype(input.dtype) for s in statistics)
