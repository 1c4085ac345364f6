"""Normalisation layers."""

import jax.numpy as jnp

from transpile.rule import layer

from .module import Module
from .normalization import batch_norm_now, batch_norm_running, group_norm, instance_norm, layer_norm, rms_norm


@layer("torch.nn.modules.batchnorm._BatchNorm", "torch.nn.modules.batchnorm._NormBase", "torch.nn._BatchNorm")
class BatchNorm(Module):
    """Normalises each channel over the batch; keeps running statistics as state."""

    def __init__(self, num_features, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True):
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats

    def init(self, key):
        return {"weight": jnp.ones(self.num_features), "bias": jnp.zeros(self.num_features)} if self.affine else {}

    def init_state(self, key):
        if not self.track_running_stats:
            return {}
        n = self.num_features
        return {"running_mean": jnp.zeros(n), "running_var": jnp.ones(n), "num_batches_tracked": jnp.zeros((), int)}

    def __call__(self, params, state, input, *, training=False):
        weight, bias = params.get("weight"), params.get("bias")
        if not self.track_running_stats:
            return batch_norm_now(input, weight, bias, self.eps), state
        if not training or input.size == 0:
            mean, var = state["running_mean"], state["running_var"]
            return batch_norm_running(input, mean, var, weight, bias, self.eps), state
        axes = (0, *range(2, input.ndim))
        mean, var = input.mean(axes), input.var(axes)
        n = input.size // input.shape[1]
        count = state["num_batches_tracked"] + 1
        share = 1 / count if self.momentum is None else self.momentum
        state = {
            "running_mean": (1 - share) * state["running_mean"] + share * mean,
            "running_var": (1 - share) * state["running_var"] + share * var * n / (n - 1),
            "num_batches_tracked": count,
        }
        return batch_norm_running(input, mean, var, weight, bias, self.eps), state


@layer("torch.nn.BatchNorm1d")
class BatchNorm1d(BatchNorm):
    """Batch normalisation of (N, C) or (N, C, L)."""


@layer("torch.nn.BatchNorm2d")
class BatchNorm2d(BatchNorm):
    """Batch normalisation of (N, C, H, W)."""


@layer("torch.nn.BatchNorm3d")
class BatchNorm3d(BatchNorm):
    """Batch normalisation of (N, C, D, H, W)."""


@layer("torch.nn.SyncBatchNorm")
class SyncBatchNorm(BatchNorm):
    """Batch normalisation over the whole batch, which under jit is sharded anyway."""


@layer("torch.nn.LayerNorm")
class LayerNorm(Module):
    """Normalises over the last dims."""

    def __init__(self, normalized_shape, eps=1e-5, elementwise_affine=True, bias=True):
        self.normalized_shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.eps, self.elementwise_affine, self.bias = eps, elementwise_affine, bias

    def init(self, key):
        if not self.elementwise_affine:
            return {}
        params = {"weight": jnp.ones(self.normalized_shape)}
        if self.bias:
            params["bias"] = jnp.zeros(self.normalized_shape)
        return params

    def __call__(self, params, input):
        return layer_norm(input, self.normalized_shape, params.get("weight"), params.get("bias"), self.eps)


@layer("torch.nn.RMSNorm")
class RMSNorm(Module):
    """Divides by the root of the mean square over the last dims."""

    def __init__(self, normalized_shape, eps=None, elementwise_affine=True):
        self.normalized_shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine

    def init(self, key):
        return {"weight": jnp.ones(self.normalized_shape)} if self.elementwise_affine else {}

    def __call__(self, params, input):
        return rms_norm(input, self.normalized_shape, params.get("weight"), self.eps)


@layer("torch.nn.GroupNorm")
class GroupNorm(Module):
    """Normalises groups of consecutive channels."""

    def __init__(self, num_groups, num_channels, eps=1e-5, affine=True, bias=True):
        self.num_groups, self.num_channels, self.eps = num_groups, num_channels, eps
        self.affine, self.bias = affine, bias

    def init(self, key):
        params = {"weight": jnp.ones(self.num_channels)} if self.affine else {}
        if self.affine and self.bias:
            params["bias"] = jnp.zeros(self.num_channels)
        return params

    def __call__(self, params, input):
        return group_norm(input, self.num_groups, params.get("weight"), params.get("bias"), self.eps)


@layer("torch.nn.modules.instancenorm._InstanceNorm")
class InstanceNorm(BatchNorm):
    """Normalises each channel of each sample; running statistics only if asked for."""

    def __init__(self, num_features, eps=1e-5, momentum=0.1, affine=False, track_running_stats=False):
        super().__init__(num_features, eps, momentum, affine, track_running_stats)

    def __call__(self, params, state, input, *, training=False):
        weight, bias = params.get("weight"), params.get("bias")
        spatial = self.spatial_rank
        batched = input if input.ndim == spatial + 2 else input[None]
        if self.track_running_stats and not training:
            mean, var = state["running_mean"], state["running_var"]
            output = batch_norm_running(batched, mean, var, weight, bias, self.eps)
        else:
            output = instance_norm(batched, weight=weight, bias=bias, eps=self.eps)
        if self.track_running_stats and training:
            axes = tuple(range(2, batched.ndim))
            share = self.momentum
            mean, var = batched.mean(axes).mean(0), batched.var(axes, ddof=1).mean(0)
            state = {
                **state,
                "running_mean": (1 - share) * state["running_mean"] + share * mean,
                "running_var": (1 - share) * state["running_var"] + share * var,
            }
        return output.reshape(input.shape), state


@layer("torch.nn.InstanceNorm1d")
class InstanceNorm1d(InstanceNorm):
    """Instance normalisation of (N, C, L) or (C, L)."""

    spatial_rank = 1


@layer("torch.nn.InstanceNorm2d")
class InstanceNorm2d(InstanceNorm):
    """Instance normalisation of (N, C, H, W) or (C, H, W)."""

    spatial_rank = 2


@layer("torch.nn.InstanceNorm3d")
class InstanceNorm3d(InstanceNorm):
    """Instance normalisation of (N, C, D, H, W) or (C, D, H, W)."""

    spatial_rank = 3
