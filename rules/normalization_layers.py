"""Normalization layers."""

import jax.numpy as jnp
from jax import lax

from transpile.rule import Unsupported, layer

from .module import Module
from .normalization import (
    batch_norm_moving,
    flat_channels,
    group_norm,
    layer_norm,
    local_response_norm,
    normalize_batch,
    normalize_channels,
    normalize_instances,
    rms_norm,
    widened,
)


@layer("torch.nn.modules.batchnorm._NormBase")
class ChannelNorm(Module):
    """A normalization with a weight and a bias for each channel."""

    def __init__(self, num_features, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True, *, bias=True):
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats, self.bias = affine, track_running_stats, bias and affine

    def init(self, key):
        params = {"weight": jnp.ones(self.num_features)} if self.affine else {}
        return params | {"bias": jnp.zeros(self.num_features)} if self.bias else params


@layer("torch.nn.modules.batchnorm._BatchNorm")
class BatchNorm(ChannelNorm):
    """Normalizes each channel of (N, C, ...) over the batch: in training by its own mean and variance, which move the
    running ones, otherwise by the running ones."""

    def init_state(self, key):
        if not self.track_running_stats:
            return {}
        return {
            "running_mean": jnp.zeros(self.num_features),
            "running_var": jnp.ones(self.num_features),
            "num_batches_tracked": jnp.zeros((), int),
        }

    def __call__(self, params, state, input, *, training=False):
        weight, bias = params.get("weight"), params.get("bias")
        if not self.track_running_stats:
            return normalize_batch(input, weight, bias, self.eps), state
        mean, var, batches = state["running_mean"], state["running_var"], state["num_batches_tracked"]
        if not training:
            return normalize_channels(input, mean, var, weight, bias, self.eps), state
        batches = batches + 1
        momentum = 1 / batches if self.momentum is None else self.momentum  # None is the mean of all batches
        output, mean, var = batch_norm_moving(input, mean, var, weight, bias, momentum, self.eps)
        return output, {**state, "running_mean": mean, "running_var": var, "num_batches_tracked": batches}


@layer("torch.nn.BatchNorm1d", "torch.nn.modules.batchnorm.BatchNorm1d")
class BatchNorm1d(BatchNorm):
    """Normalizes each channel of (N, C) or (N, C, L) over the batch."""


@layer("torch.nn.BatchNorm2d", "torch.nn.modules.batchnorm.BatchNorm2d")
class BatchNorm2d(BatchNorm):
    """Normalizes each channel of (N, C, H, W) over the batch."""


@layer("torch.nn.BatchNorm3d", "torch.nn.modules.batchnorm.BatchNorm3d")
class BatchNorm3d(BatchNorm):
    """Normalizes each channel of (N, C, D, H, W) over the batch."""


@layer("torch.nn.SyncBatchNorm", "torch.nn.modules.batchnorm.SyncBatchNorm")
class SyncBatchNorm(BatchNorm):
    """Normalizes each channel over the batch on all devices, as any ``BatchNorm`` does on a sharded array."""

    def __init__(
        self,
        num_features,
        eps=1e-5,
        momentum=0.1,
        affine=True,
        track_running_stats=True,
        process_group=None,
        *,
        bias=True,
    ):
        super().__init__(num_features, eps, momentum, affine, track_running_stats, bias=bias)


@layer("torch.nn.modules.instancenorm._InstanceNorm")
class InstanceNorm(ChannelNorm):
    """Normalizes each channel of each sample of (N, C, *spatial) or (C, *spatial)."""

    rank = 2

    def __init__(self, num_features, eps=1e-5, momentum=0.1, affine=False, track_running_stats=False, *, bias=True):
        super().__init__(num_features, eps, momentum, affine, track_running_stats, bias=bias)
        if track_running_stats:
            raise Unsupported(
                "InstanceNorm with track_running_stats=True; without it each sample is normalized in eval too"
            )

    def __call__(self, params, input):
        return normalize_instances(input, params.get("weight"), params.get("bias"), self.eps, self.rank)


@layer("torch.nn.InstanceNorm1d", "torch.nn.modules.instancenorm.InstanceNorm1d")
class InstanceNorm1d(InstanceNorm):
    """Normalizes each channel of each sample of (N, C, L) or (C, L)."""

    rank = 1


@layer("torch.nn.InstanceNorm2d", "torch.nn.modules.instancenorm.InstanceNorm2d")
class InstanceNorm2d(InstanceNorm):
    """Normalizes each channel of each sample of (N, C, H, W) or (C, H, W)."""

    rank = 2


@layer("torch.nn.InstanceNorm3d", "torch.nn.modules.instancenorm.InstanceNorm3d")
class InstanceNorm3d(InstanceNorm):
    """Normalizes each channel of each sample of (N, C, D, H, W) or (C, D, H, W)."""

    rank = 3


class TrackedInstanceNorm(InstanceNorm):
    """Instance norm with running statistics: the mean of those of the samples, and used instead of them in eval."""

    def __init__(self, num_features, eps=1e-5, momentum=0.1, affine=False, track_running_stats=True, *, bias=True):
        ChannelNorm.__init__(self, num_features, eps, momentum, affine, track_running_stats, bias=bias)

    def init_state(self, key):
        zeros, ones = jnp.zeros(self.num_features), jnp.ones(self.num_features)
        return {"running_mean": zeros, "running_var": ones, "num_batches_tracked": jnp.zeros((), int)}

    def __call__(self, params, state, input, *, training=False):
        weight, bias = params.get("weight"), params.get("bias")
        batch = input if input.ndim == self.rank + 2 else input[None]
        if not training:
            output = normalize_channels(batch, state["running_mean"], state["running_var"], weight, bias, self.eps)
            return output.reshape(input.shape), state
        flat, momentum = widened(flat_channels(lax.stop_gradient(batch), self.rank)), self.momentum or 0.0
        new = {"running_mean": flat.mean(axis=(0, 2)), "running_var": flat.var(axis=2, ddof=1).mean(axis=0)}
        moved = {
            name: ((1 - momentum) * state[name] + momentum * v).astype(state[name].dtype) for name, v in new.items()
        }
        return normalize_instances(batch, weight, bias, self.eps, self.rank).reshape(input.shape), state | moved


@layer("torch.nn.InstanceNorm1d[track_running_stats]")
class TrackedInstanceNorm1d(TrackedInstanceNorm):
    """Of (N, C, L) or (C, L)."""

    rank = 1


@layer("torch.nn.InstanceNorm2d[track_running_stats]")
class TrackedInstanceNorm2d(TrackedInstanceNorm):
    """Of (N, C, H, W) or (C, H, W)."""

    rank = 2


@layer("torch.nn.InstanceNorm3d[track_running_stats]")
class TrackedInstanceNorm3d(TrackedInstanceNorm):
    """Of (N, C, D, H, W) or (C, D, H, W)."""

    rank = 3


@layer("torch.nn.LayerNorm", "torch.nn.modules.normalization.LayerNorm")
class LayerNorm(Module):
    """Normalizes over the last dims, those of ``normalized_shape``."""

    def __init__(self, normalized_shape, eps=1e-5, elementwise_affine=True, bias=True):
        self.normalized_shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.eps, self.elementwise_affine, self.bias = eps, elementwise_affine, bias and elementwise_affine

    def init(self, key):
        params = {"weight": jnp.ones(self.normalized_shape)} if self.elementwise_affine else {}
        return params | {"bias": jnp.zeros(self.normalized_shape)} if self.bias else params

    def __call__(self, params, input):
        return layer_norm(input, self.normalized_shape, params.get("weight"), params.get("bias"), self.eps)


@layer("torch.nn.RMSNorm", "torch.nn.modules.normalization.RMSNorm")
class RMSNorm(Module):
    """Divides by the root mean square over the last dims, those of ``normalized_shape``."""

    def __init__(self, normalized_shape, eps=None, elementwise_affine=True):
        self.normalized_shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine

    def init(self, key):
        return {"weight": jnp.ones(self.normalized_shape)} if self.elementwise_affine else {}

    def __call__(self, params, x):
        return rms_norm(x, self.normalized_shape, params.get("weight"), self.eps)


@layer("torch.nn.GroupNorm", "torch.nn.modules.normalization.GroupNorm")
class GroupNorm(Module):
    """Normalizes each of ``num_groups`` groups of the channels of (N, C, ...)."""

    def __init__(self, num_groups, num_channels, eps=1e-5, affine=True, *, bias=True):
        self.num_groups, self.num_channels, self.eps = num_groups, num_channels, eps
        self.affine, self.bias = affine, bias and affine

    def init(self, key):
        params = {"weight": jnp.ones(self.num_channels)} if self.affine else {}
        return params | {"bias": jnp.zeros(self.num_channels)} if self.bias else params

    def __call__(self, params, input):
        return group_norm(input, self.num_groups, params.get("weight"), params.get("bias"), self.eps)


@layer("torch.nn.LocalResponseNorm")
class LocalResponseNorm(Module):
    """Divides (N, C, ...) by a power of the mean square over ``size`` neighbouring channels."""

    def __init__(self, size, alpha=1e-4, beta=0.75, k=1.0):
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k

    def __call__(self, input):
        return local_response_norm(input, self.size, self.alpha, self.beta, self.k)
