"""Normalisation over a batch, a layer, groups of channels or one sample."""

import jax.numpy as jnp
from jax import lax

from transpile.rule import Unsupported, rule


def normalise(input, axes, eps):
    """Zero mean and unit biased variance over the axes."""
    mean = input.mean(axes, keepdims=True)
    var = input.var(axes, keepdims=True)
    return (input - mean) * lax.rsqrt(var + eps)


def per_channel(values, rank):
    """A vector of channel values, shaped to broadcast along dim 1."""
    return values.reshape(-1, *[1] * (rank - 2))


def scale_and_shift(input, weight, bias):
    """Channel-wise affine map along dim 1; weight and bias may be None."""
    if weight is not None:
        input = input * per_channel(weight, input.ndim)
    return input if bias is None else input + per_channel(bias, input.ndim)


@rule("torch.nn.functional.layer_norm", "torch.layer_norm")
def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5):
    rank = 1 if isinstance(normalized_shape, int) else len(normalized_shape)
    output = normalise(input, tuple(range(-rank, 0)), eps)
    if weight is not None:
        output = output * weight
    return output if bias is None else output + bias


@rule("torch.nn.functional.rms_norm", "torch.rms_norm")
def rms_norm(input, normalized_shape, weight=None, eps=None):
    rank = 1 if isinstance(normalized_shape, int) else len(normalized_shape)
    eps = jnp.finfo(input.dtype).eps if eps is None else eps
    output = input * lax.rsqrt(jnp.square(input).mean(tuple(range(-rank, 0)), keepdims=True) + eps)
    return output if weight is None else output * weight


@rule("torch.nn.functional.group_norm", "torch.group_norm")
def group_norm(input, num_groups, weight=None, bias=None, eps=1e-5):
    grouped = input.reshape(input.shape[0], num_groups, -1)
    return scale_and_shift(normalise(grouped, 2, eps).reshape(input.shape), weight, bias)


@rule("torch.nn.functional.batch_norm", "torch.batch_norm")
def batch_norm(input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5):
    if training is True and running_mean is None:
        return batch_norm_now(input, weight, bias, eps)
    if training is False:
        return batch_norm_running(input, running_mean, running_var, weight, bias, eps)
    raise Unsupported("batch_norm in training writes its running statistics: use nn.BatchNorm2d, which returns them")


def batch_norm_now(input, weight, bias, eps):
    """Normalise by the statistics of the batch itself."""
    axes = (0, *range(2, input.ndim))
    return scale_and_shift(normalise(input, axes, eps), weight, bias)


def batch_norm_running(input, mean, var, weight, bias, eps):
    """Normalise by given statistics, one for each channel."""
    scale = lax.rsqrt(var + eps) if weight is None else weight * lax.rsqrt(var + eps)
    shift = -mean * scale if bias is None else bias - mean * scale
    return input * per_channel(scale, input.ndim) + per_channel(shift, input.ndim)


@rule("torch.nn.functional.instance_norm", "torch.instance_norm")
def instance_norm(
    input, running_mean=None, running_var=None, weight=None, bias=None, use_input_stats=True, momentum=0.1, eps=1e-5
):
    if running_mean is not None:
        raise Unsupported("instance_norm with running statistics: use nn.InstanceNorm2d, which returns them")
    return scale_and_shift(normalise(input, tuple(range(2, input.ndim)), eps), weight, bias)
